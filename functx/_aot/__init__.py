"""Programs ahead of time: graphs, their derivatives in two parts, compilers, files, in-place code."""

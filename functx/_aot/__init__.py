"""Programs ahead of time: graphs, derivatives in two parts, compilers, files, in-place code."""

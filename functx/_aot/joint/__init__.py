"""A function and its derivative as one graph, and that graph in two."""

"""Ahead-of-time work on whole functions: what they do becomes a pure function, a graph, a program."""

"""Ahead-of-time work on whole functions, which become pure functions, graphs and programs."""

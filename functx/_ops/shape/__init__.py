"""Operators that move, join and split, and compute nothing."""

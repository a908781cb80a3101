"""Operators that draw random numbers, with a key or from the ambient generator."""

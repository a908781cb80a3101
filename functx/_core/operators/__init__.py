"""Operators: their declaration, their parameters, a call's way to its compiled program."""

"""Operators that make new arrays from sizes and numbers."""

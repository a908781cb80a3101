"""Operators that sort, search in sorted sequences, and find distinct values."""

"""Calls of an operator like its entry's samples, of other shapes, values and layouts."""

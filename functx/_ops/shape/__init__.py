"""Shapes: views, rearranging, joining, splitting, diagonals."""

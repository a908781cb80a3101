"""Shapes: dimensions and sizes, symbolic ones too, and what is too large."""

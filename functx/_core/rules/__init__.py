"""Derivative rules of functions, the primitives that carry them, singular points."""

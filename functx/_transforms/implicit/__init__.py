"""Implicit differentiation: by an equation, not through the steps that solve it."""

"""Implicit differentiation: of what is defined by an equation, not by the steps that solve it."""

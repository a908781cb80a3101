"""Derivatives of functions of yours, against finite differences."""

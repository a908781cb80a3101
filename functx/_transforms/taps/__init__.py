"""Taps: points of a program where the backward pass can be seen, changed and measured."""

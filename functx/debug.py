"""Exact errors about values, under `jit` and on accelerators too."""

from ._transforms.checked import checked as checked

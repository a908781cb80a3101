"""Exact errors about values, under `jit` and on accelerators too."""

from ._names import equip as _equip
from ._transforms.checked import checked as checked, checking as checking


_equip(__name__)

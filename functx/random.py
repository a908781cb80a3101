"""Randomness: the ambient generator and what sets it."""

from ._core.randomness.ambient_generator import manual_seed as manual_seed, scope as scope
from ._core.randomness.generators import Generator as Generator
from ._names import equip as _equip


_equip(__name__)

"""Randomness: the ambient generator and what sets it."""

from ._core.randomness.ambient_generator import fork_rng as fork_rng, scope as scope
from ._core.randomness.generators import Generator as Generator
from ._core.randomness.seeds import (
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from ._names import equip as _equip


_equip(__name__)

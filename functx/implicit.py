"""Derivatives of solutions, from the equation that they satisfy."""

from ._names import equip as _equip
from ._transforms.implicit.linear import custom_linear_solve as custom_linear_solve
from ._transforms.implicit.roots import (
    custom_fixed_point as custom_fixed_point,
    custom_root as custom_root,
)


_equip(__name__)

"""Residuals, which a backward pass keeps: what they are, packing them, moving them to the host."""

from ._names import equip as _equip
from ._transforms.residuals.hooks import (
    disable_residual_hooks as disable_residual_hooks,
    residual_hooks as residual_hooks,
)
from ._transforms.residuals.offload import offload_residuals as offload_residuals
from ._transforms.residuals.saved import saved_residuals as saved_residuals


_equip(__name__)

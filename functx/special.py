"""torch.special's names."""

from . import _ops as _ops
from ._core.catalog import aliases_in



globals().update(aliases_in("special."))

"""torch.special's names."""

from . import _ops as _ops
from ._core.catalog import aliases_in as _aliases_in


globals().update(_aliases_in("special."))

"""Functions that cross between PyTorch and JAX."""

from __future__ import annotations

from ._interop.to_torch.conversion import to_torch as to_torch
from ._names import equip as _equip


_equip(__name__)

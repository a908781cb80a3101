"""Programs and functions that cross between PyTorch and JAX."""

from __future__ import annotations

from ._interop.from_torch.importing import from_torch as from_torch
from ._interop.from_torch.model import ImportedModel as ImportedModel
from ._interop.from_torch.registered import register as register
from ._interop.to_torch.conversion import to_torch as to_torch
from ._names import equip as _equip


_equip(__name__)

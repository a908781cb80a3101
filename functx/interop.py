"""Programs of PyTorch as functions of functx."""

from __future__ import annotations

from ._interop.from_torch.importing import from_torch as from_torch
from ._interop.from_torch.model import ImportedModel as ImportedModel
from ._interop.from_torch.registered import register as register
from ._names import equip as _equip


_equip(__name__)

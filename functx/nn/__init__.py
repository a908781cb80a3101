"""torch.nn's functional half."""

from functx._names import equip as _equip

from . import functional as functional


_equip(__name__)

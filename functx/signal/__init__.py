"""torch.signal."""

from functx._names import equip as _equip

from . import windows as windows


_equip(__name__)

"""Mixed precision, as in `torch.amp`: autocast regions, and the scaling of losses."""

from __future__ import annotations

from ._amp.autocast import autocast as autocast
from ._amp.functions import custom_bwd as custom_bwd, custom_fwd as custom_fwd
from ._amp.regions import (
    get_autocast_dtype as get_autocast_dtype,
    is_autocast_enabled as is_autocast_enabled,
)
from ._amp.scaling import GradScaler as GradScaler
from ._names import equip as _equip


_equip(__name__)

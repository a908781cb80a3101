"""torch.nn.functional's names."""

from functx import _ops as _ops
from functx._core.catalog import aliases_in as _aliases_in
from functx._ops.nn import *


globals().update(_aliases_in("nn.functional."))

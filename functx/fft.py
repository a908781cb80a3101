"""torch.fft's names."""

from . import _ops as _ops
from ._core.catalog import aliases_in as _aliases_in
from ._ops.fft import *


globals().update(_aliases_in("fft."))

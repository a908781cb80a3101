"""torch.fft's names."""

from . import _ops as _ops
from ._core.catalog import aliases_in
from ._ops.fft import *


globals().update(aliases_in("fft."))

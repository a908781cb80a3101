"""torch.fft's names."""

from ._names import equip as _equip


# Operators, written by `python -m functx.cli.facades`.
# isort: split
from ._ops.fft.transforms import fft as fft, ifft as ifft, irfft as irfft, rfft as rfft


# End of operators.

_equip(__name__)

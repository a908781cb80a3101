"""torch.fft's names."""

from ._names import equip as _equip


# Operators, written by `python -m tests.write_facades`.
# isort: split
from ._ops.fft.frequencies import fftfreq as fftfreq, rfftfreq as rfftfreq
from ._ops.fft.several_dimensions import (
    fft2 as fft2,
    fftn as fftn,
    hfft2 as hfft2,
    hfftn as hfftn,
    ifft2 as ifft2,
    ifftn as ifftn,
    ihfft2 as ihfft2,
    ihfftn as ihfftn,
    irfft2 as irfft2,
    irfftn as irfftn,
    rfft2 as rfft2,
    rfftn as rfftn,
)
from ._ops.fft.shifts import fftshift as fftshift, ifftshift as ifftshift
from ._ops.fft.transforms import (
    fft as fft,
    hfft as hfft,
    ifft as ifft,
    ihfft as ihfft,
    irfft as irfft,
    rfft as rfft,
)


# End of operators.

_equip(__name__)

"""torch.fft: discrete Fourier transforms."""

from .transforms import *

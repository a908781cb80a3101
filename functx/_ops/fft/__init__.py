"""torch.fft: discrete Fourier transforms."""

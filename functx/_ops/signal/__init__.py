"""torch.signal.windows: what a signal is multiplied with before its spectrum is taken."""

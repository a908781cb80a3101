"""torch.special: functions that are not elementary, and the classical polynomials."""

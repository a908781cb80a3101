"""Operators of torch.special: functions that are not elementary, and classical polynomials."""

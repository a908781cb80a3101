"""Pooling: one number, such as the greatest element, the mean or the norm, for each window."""

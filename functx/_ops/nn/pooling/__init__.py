"""The greatest or the mean of each window."""

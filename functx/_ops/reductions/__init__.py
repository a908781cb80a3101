"""Sums, extrema, moments, norms and scans over dimensions."""

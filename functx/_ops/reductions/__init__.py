"""Operators that reduce dimensions: sums, extrema, moments, norms; and scans along dimensions."""

"""Programs and functions that cross between PyTorch and JAX."""

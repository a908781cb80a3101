"""Functions that cross between PyTorch and JAX."""

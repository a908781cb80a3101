"""One function under PyTorch's and under JAX's conventions, from one recording of it."""

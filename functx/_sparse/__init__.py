"""Sparse arrays of `jax.experimental.sparse`, and gradients of tables by their rows."""

"""What is in force around a call and is part of every `jax.jit` key; grad modes."""

"""Programs that are written to files, and run by processes that have JAX alone."""

"""Mean 0 and variance 1 over a batch, over a group of channels, or over trailing dimensions."""

"""What needs PyTorch: it is imported here alone, and only when `from_torch` is called."""

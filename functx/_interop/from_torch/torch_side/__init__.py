"""The part of the import that needs PyTorch: it is loaded when `from_torch` is called."""

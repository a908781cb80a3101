"""Public PyTorch models with random weights, imported and held against PyTorch in double."""

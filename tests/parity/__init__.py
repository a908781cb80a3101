"""functx against PyTorch itself, on the inputs of PyTorch's own operator database."""

"""PyTorch's modules and exported programs as functions of functx."""

"""Functions of arrays, called with PyTorch's tensors and differentiated by PyTorch."""

"""Models of PyTorch's, imported: values and derivatives against PyTorch itself."""

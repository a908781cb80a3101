"""What PyTorch calls in an exported program, in terms of functx's operators."""

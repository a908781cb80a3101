"""A ported function beside its PyTorch original. PyTorch is imported where it is asked for."""

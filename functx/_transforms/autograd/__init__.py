"""What PyTorch has under `torch.autograd`: `grad` of chosen inputs, `functional`, `forward_ad`."""

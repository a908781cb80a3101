"""torch.nn.functional: layers, losses and activations as functions."""

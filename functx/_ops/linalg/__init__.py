"""torch.linalg: factorizations, solving, determinants, norms."""

"""torch.linalg: factorisations, solving, determinants and norms."""

"""Where arrays live, and the mesh axes over which they vary."""

"""Keys of random operators, generators of keys, and the ambient generator."""

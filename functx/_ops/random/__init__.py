"""Random numbers, drawn with a key or from the ambient generator."""

"""What a backward pass keeps: shown, packed on its way in, moved to the host, freed after use."""

"""Floor 2: the transforms. They name no operator."""

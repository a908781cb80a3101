"""Equal layers of a recorded program, found and run as one loop."""

"""Recurrent networks: one step of a cell, and whole sequences in layers and directions."""

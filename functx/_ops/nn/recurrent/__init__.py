"""Recurrent networks: one step of a cell, and layers over whole sequences."""

"""Memory for time: what a backward pass keeps, and what it computes again."""

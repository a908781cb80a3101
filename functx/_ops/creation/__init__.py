"""New arrays from sizes and numbers."""

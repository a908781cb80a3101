"""Order: sorting, searching, unique values."""

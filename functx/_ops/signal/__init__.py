"""Window functions, with which a signal is multiplied before its spectrum is taken."""

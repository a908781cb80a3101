"""Products of matrices and vectors, and contractions of arrays of any rank."""

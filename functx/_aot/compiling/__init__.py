"""Functions whose forward and backward passes a user's compilers run."""

"""What a function computes, as a graph for those who want to look at its derivative."""

"""Memory: what a function needs before it runs, what is alive, and what a device has left."""

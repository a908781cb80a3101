"""`functx.Function`: functions with derivative rules of their own."""

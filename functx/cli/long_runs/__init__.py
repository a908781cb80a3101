"""Runs of hours: in parts, in several processes, with results kept in a file as they come."""

"""Where the time of a region goes: by operator, by transform, by source line."""

"""Functions that write in place, as pure functions: storages, views of them, and writes."""

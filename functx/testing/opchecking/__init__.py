"""All checks on a user's own function at arguments of the user's choice."""

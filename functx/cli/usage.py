"""`UsageError`: the command line asks for something that cannot be done."""

from __future__ import annotations


class UsageError(Exception):
    """The command line names nothing that exists, or asks what cannot be done, in one line."""

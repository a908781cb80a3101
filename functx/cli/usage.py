"""`UsageError`: what was typed cannot be done."""

from __future__ import annotations


class UsageError(Exception):
    """What was typed names nothing, or cannot be done. The message is one line."""

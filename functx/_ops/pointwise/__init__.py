"""Operators that work element by element, broadcasting."""

from .arithmetic import *  # noqa: F403

"""Planted mistakes: what the checks of an entry are worth."""

from .hunting import (
    hunt as hunt,
    hunt_entry as hunt_entry,
    mutants_of as mutants_of,
    Verdict as Verdict,
)
from .kinds import GROUPS as GROUPS, KINDS as KINDS
from .mutant import Mutant as Mutant

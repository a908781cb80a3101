"""What an exception says in a report: what happened, and the remedy. No traceback."""

from __future__ import annotations

import re
from typing import NamedTuple

from functx._transforms.concretization import CONCRETIZATION, reword
from functx.testing.gradients.comparison import GradcheckError


_MOST = 400  # characters of another's message
# How JAX refuses to push tangents through a `custom_vjp`, one deep in a nest and one elsewhere.
_NO_TANGENTS = re.compile(r"custom_vjp function|'custom_lin'")


class Said(NamedTuple):
    """What happened, and what the message itself says to do about it."""

    what: str
    remedy: str


def is_disagreement(error: Exception) -> bool:
    """Whether a check raised it, of two things that should agree, not what it called."""
    return isinstance(error, (AssertionError, GradcheckError))


def in_words(who: str, error: Exception) -> Said:
    """An exception in the words of a report by `who`."""
    if isinstance(error, CONCRETIZATION):
        reword(who, error)
    message = re.split(r"\n  JAX says: |\n-{5,}", str(error))[0].strip()
    what, _, hint = message.partition("\n  hint: ")
    hint = " ".join(hint.split())
    if is_disagreement(error):
        return Said(what, hint)
    what = " ".join(what.partition("\n\n")[0].split())
    if len(what) > _MOST:
        what = f"{what[:_MOST]} ..."
    return Said(f"raises {type(error).__name__}: {what}".rstrip(": "), hint)


def said_of(who: str, error: Exception) -> str:
    """What happened, in a line."""
    return in_words(who, error).what.partition("\n")[0]


def alike(a: Exception, b: Exception) -> bool:
    """Whether two exceptions are of the same fault, as far as can be told."""
    return _fault(a) == _fault(b)


def _fault(error: Exception) -> tuple[type[Exception], str]:
    if is_disagreement(error):
        return AssertionError, ""
    if isinstance(error, CONCRETIZATION):
        return type(error), ""
    first = str(error).partition("\n")[0]
    if _NO_TANGENTS.search(first):
        return TypeError, "no tangents"
    # without shapes, numbers and who says it, which differ from case to case
    return type(error), re.sub(r"\[[\d, ]*\]|\d+|^\w+: ", "", first)

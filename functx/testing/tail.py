"""`Tail`: an operator as a function of one number, which mpmath computes to any digits."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True, eq=False)
class Tail:
    """A smooth function of one number, and the same to any number of digits.

    Far out, or near an end of its domain, its value and derivatives are held to be right relative
    to themselves, however small they are.
    """

    #: the same of mpmath, or a context of it, and of one of its numbers
    exact: Callable[[Any, Any], Any]
    #: of the operator and of a 0-d array; None: the operator itself
    of: Callable[[Callable[..., Any], Any], Any] | None = None
    what: str = ""  #: a name, where an entry has several
    low: float = -math.inf  #: the lower end of where it is smooth, itself left out
    high: float = math.inf  #: the upper end, itself left out
    order: int = 2  #: the highest derivative that is held
    #: how far a result may be off, in units of its last place, besides what the last place of the
    #: argument makes of it
    ulps: float = 16

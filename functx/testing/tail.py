"""`Tail`: an operator as a function of one number, which mpmath computes to any digits."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True, eq=False)
class Tail:
    """A smooth function of one number, and the same to any number of digits.

    - `exact`: the function, of mpmath or a context of it, and of one of its numbers.
    - `of`: the function, of the operator and of a 0-d array; None is the operator itself.
    - `what`: a name, where an entry has several tails.
    - `low`, `high`: the ends of the interval in which it is smooth, left out themselves.
    - `order`: the highest derivative that is held.
    - `ulps`: how far a result may be off, in units of its last place, besides what the last place
      of the argument makes of it.

    Far out, or near an end of its domain, its value and derivatives are held to be right relative
    to themselves, however small they are.
    """

    exact: Callable[[Any, Any], Any]
    of: Callable[[Callable[..., Any], Any], Any] | None = None
    what: str = ""
    low: float = -math.inf
    high: float = math.inf
    order: int = 2
    ulps: float = 16

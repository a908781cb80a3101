"""`Tolerance`: how close results are held to be, and why no closer; those that entries share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


# By default, how far an element may be off: pointwise functions of XLA and of NumPy err that much.
# Halves are computed in single precision and rounded.
ULPS = 8.0
ULPS_OF_HALVES = 2.0


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """How close results must be, and why they need not be closer, or can be.

    - `reason`: why they are as close as that: a fact.
    - `ulps`: how far an element may be off, in units of its last place. None leaves it at 8, and at
      2 in halves. Of several that hold, the largest counts.
    - `floor`: how much more results that cancel may be off: so many units of the last place of the
      largest magnitude in the result and the floating arguments, or, where `elementwise`, of the
      magnitudes at the element. None is no floor. One tolerance of an entry may have one.
    - `elementwise`: whether a reference allows `floor` of the magnitudes at the element.
    - `of`: a function of the call's arguments, in NumPy, that gives these magnitudes.
    - `scale`: what counts in place of the arguments' largest magnitude.
    - `signed_zeros`: whether the reference has the zeros' signs, which a `floor` for all hides.
    - `dtypes`: the dtypes in which `ulps` holds; empty: all of them.
    - `devices`: the platforms on which `ulps` holds, where it is more than on others; empty: all of
      them.
    """

    reason: str
    ulps: float | None = None
    floor: float | None = None
    elementwise: bool = False
    of: Callable[..., Any] | None = None
    scale: float | None = None
    signed_zeros: bool = True
    dtypes: frozenset[str] = frozenset()
    devices: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        everywhere = self.floor is None and self.signed_zeros
        if (self.dtypes or self.devices) and not everywhere:
            raise ValueError("a Tolerance of some dtypes or devices states `ulps` alone")


EXACT = Tolerance("what is picked or moved is not computed", ulps=0)
FEW_TERMS = Tolerance("few terms of one sign do not cancel", ulps=4)
EQUAL_ZEROS = Tolerance(
    "of zeros of both signs, which are equal, either is taken", signed_zeros=False
)
ZERO_TIMES_A_LOGARITHM = Tolerance(
    "of 0 times a logarithm, the sign is that of either factor", signed_zeros=False
)

SUMS = Tolerance("terms of a sum are rounded one by one, and may cancel", floor=8)
SHARES = Tolerance("shares of 1 are summed, and cancel at the ends of a window", floor=8, scale=1)
FACTORED = Tolerance(
    "elimination and rotations mix all elements of a matrix, each rounded", floor=16
)
WEIGHTED = Tolerance("weights that depend on sizes are rounded before they are summed", floor=8)
AT_ROOTS = Tolerance(
    "near a root the function is a difference of larger numbers", floor=8, elementwise=True
)

"""How long a batch is padded to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from functx._core import available, describe, fail


# The sizes that batches are padded to: `None` for that of the longest sequence.
Buckets: TypeAlias = Literal["powers"] | Sequence[int] | None


def index_dtype() -> Any:
    """The dtype of lengths and of places: int64, or int32 with 64 bit off."""
    return available(int)


def require_buckets(who: str, buckets: Any) -> None:
    """Refuses what says no sizes."""
    if buckets is None or (isinstance(buckets, str) and buckets == "powers"):
        return
    fine = isinstance(buckets, (list, tuple)) and bool(buckets)
    if not fine or not all(type(n) is int and n > 0 for n in buckets):
        fail(
            who,
            f'`buckets` must be None, "powers" or a list of positive ints, got {describe(buckets)}',
            error=ValueError if isinstance(buckets, (str, list, tuple)) else TypeError,
        )


def padded_length(who: str, longest: int, buckets: Buckets) -> int:
    """The size to pad a batch to, whose longest sequence has `longest` elements: at least 1."""
    longest = max(longest, 1)
    if buckets is None:
        return longest
    if isinstance(buckets, str):
        return 1 << (longest - 1).bit_length()
    fitting = [n for n in buckets if n >= longest]
    if not fitting:
        fail(
            who,
            f"the longest sequence has {longest} elements, and the largest of `buckets` "
            f"{max(buckets)}",
            hint="add a larger one, or cut the sequence",
            error=ValueError,
        )
    return min(fitting)

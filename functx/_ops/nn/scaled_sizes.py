"""Sizes that are a multiple of other sizes."""

from __future__ import annotations

from fractions import Fraction

from functx._core import known, refuse, Size


_EXACT = 2**21  # products of sizes of 32 bits with less are not rounded


def scaled_size(size: Size, ratio: float, name: str) -> Size:
    """`size` times `ratio`, which is finite, rounded towards zero.

    The product is one of floating numbers, which may be rounded to an integer. An expression in a
    symbolic size says as much only of ratios with few bits, such as 1.5 and 0.625.
    """
    if known(size):
        return int(size * ratio)
    exact = Fraction(ratio)
    if max(abs(exact.numerator), exact.denominator) >= _EXACT:
        refuse(
            f"`{name}` must be a fraction of small powers of two for the symbolic size {size}, "
            f"got {ratio}",
            hint="a product that is rounded is no expression in a size; give the sizes themselves",
            error=ValueError,
        )
    whole = size * abs(exact.numerator) // exact.denominator
    return whole if ratio >= 0 else -whole

"""Samples that most pointwise operators share."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Refusal, Sample
from functx.testing.samples import call, edge


SHAPES = [(2, 3), (), (2, 0, 3), (2, 1, 2, 2)]
# Of two operands: equal shapes, three ways of broadcasting, 0-d, empty.
PAIRS = [
    ((2, 3), (2, 3)),
    ((2, 1, 2, 1), (2, 3)),
    ((), (2,)),
    ((3,), (2, 3)),
    ((), ()),
    ((0, 3), (3,)),
]


def unary(**limits: float) -> Callable[[Make], Iterator[Sample]]:
    """One array, its values between `low` and `high`."""

    def samples(make: Make) -> Iterator[Sample]:
        for shape in SHAPES:
            yield call(make(*shape, **limits))
        yield edge(make.edges())

    return samples


def unary_nonzero(make: Make) -> Iterator[Sample]:
    for shape in SHAPES:
        yield call(make.nonzero(*shape))
    yield edge(make.edges())


def binary(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first), make(*second))
    yield edge(*make.edge_pairs())


def binary_and_number(make: Make) -> Iterator[Sample]:
    yield from binary(make)
    yield call(make(2, 3), 2)
    yield call(make(3), 0.5)


# On both sides of cuts along the real axis, and along the imaginary one.
ALONG = [complex(2, 0.0), complex(2, -0.0), complex(-2, 0.0), complex(-2, -0.0)]
UPRIGHT = [complex(0.0, 2), complex(-0.0, 2), complex(0.0, -2), complex(-0.0, -2)]
ONE_SIDE = "PyTorch has the slope of one side on both"


def sided(cut: list[complex]) -> Callable[[Make], Iterator[Departure]]:
    """Departures of slopes on a cut, where PyTorch's has the other sign."""

    def departures(make: Make) -> Iterator[Departure]:
        at = call(make.put(cut, "complex128"))
        turned = r"of array 0: \(-?(\d+\.\d\d)[^ ]* at \[.*\], PyTorch \(-?\1"
        yield Departure("gradient", ONE_SIDE, at, turned)

    return departures


def both_sides(
    make: Make, function: Callable[..., Any], cut: list[complex], slope: Any, departure: str = ""
) -> Iterator[Convention]:
    """Values, with the parts' signs, and slopes where the sign of a zero decides."""
    at, real = make.put(cut, "complex128"), lambda z: z.real
    yield Convention("both sides of the cut", call(at), value=function(np.array(cut)))
    yield Convention(
        "slopes on both sides", call(at), through=real, gradient=np.conj(slope), departure=departure
    )


def sparse(make: Make, *shape: int) -> jax.Array:
    """Zeros and ones, as many of the one as of the other."""
    return make.put(make.mask(*shape))


def unbroadcastable(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), make(3)), r"shapes do not fit: f32\[\d\], f32\[\d\]")


def without_numbers(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    yield Refusal(call(make(2), 2.0), r"must be an array, got 2\.0", TypeError)
    yield Refusal(call(2, make(2)), "must be an array, got 2", TypeError)


def real_only(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, dtype="complex64")), "expected real arrays, got c64", TypeError)


def real_without_numbers(make: Make) -> Iterator[Refusal]:
    yield from without_numbers(make)
    numbers = make(2, dtype="complex64")
    yield Refusal(call(numbers, numbers), "expected real arrays, got c64", TypeError)


def floating_without_numbers(make: Make) -> Iterator[Refusal]:
    """Of two operands that must promote to a floating dtype."""
    yield from real_without_numbers(make)
    integers = make(2, dtype="int64")
    yield Refusal(call(integers, integers), "expected a floating common dtype", TypeError)


def reals_or_a_number(make: Make) -> Iterator[Refusal]:
    """Of two operands, one of which may be a number."""
    yield from unbroadcastable(make)
    yield Refusal(call(2, 3), "`input` or `other` must be an array", TypeError)
    yield Refusal(call(make(2, dtype="complex64"), 2), "expected real arrays", TypeError)
    yield Refusal(call(make(2), 2j), "expected real numbers", TypeError)


def quiet(reference: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function that does not warn of infinities and NaN."""

    @ft.wraps(reference)
    def silent(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return reference(*args, **kwargs)

    return silent

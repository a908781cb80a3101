from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT

from .operands import binary, quiet, unary, without_numbers


HALVES = "complex64 holds pairs of any halves"


def complex_refusals(make: Make) -> Iterator[Refusal]:
    yield from without_numbers(make)
    message = "must be floating and of the same dtype"
    yield Refusal(call(make(2), make(2, dtype="float64")), message, TypeError)
    yield Refusal(call(make(2), make(2, dtype="int32")), message, TypeError)


def polar_refusals(make: Make) -> Iterator[Refusal]:
    yield from without_numbers(make)
    message = "`abs` and `angle` must be floating and of the same dtype"
    yield Refusal(call(make(2), make(2, dtype="float64")), message, TypeError)
    yield Refusal(call(make(2), make(2, dtype="int32")), message, TypeError)
    numbers = make(2, dtype="complex64")
    yield Refusal(call(numbers, numbers), "expected real arrays, got c64", TypeError)


def paired(x):
    """Complex numbers of pairs: a product with `1j` would mix infinite parts."""
    return np.ascontiguousarray(x).view("complex128")[..., 0]


@quiet
def np_polar(abs, angle):
    return paired(np.stack([abs * np.cos(angle), abs * np.sin(angle)], -1))


def polar_samples(make: Make) -> Iterator[Sample]:
    yield from binary(make)
    if make.dtype != np.float16:
        yield call(make(300), make(300, low=-50, high=50))


def polar_conventions(make: Make) -> Iterator[Convention]:
    size, angle = make.put([2.0, 0, -2]), make.put([0.5, 0.5, 0.5])
    cos, sin = np.cos(0.5), np.sin(0.5)
    value = np.array([2, 0, -2]) * (cos + 1j * sin)
    gradient = [cos] * 3, [-2 * sin, 0, 2 * sin]
    yield Convention(
        "abs of any sign",
        call(size, angle),
        value=value,
        gradient=gradient,
        through=lambda z: z.real,
        departure="PyTorch's slope in `abs` is 0 at 0, and has the wrong sign below",
    )
    at = call(make.put(-0.5), make.put(0.0))
    hessian = [[0, 0], [0, 0.5]]
    yield Convention("curvature", at, hessian=hessian, through=lambda z: z.real)


def polar_departures(make: Make) -> Iterator[Departure]:
    halves = make(2, dtype="bfloat16")
    yield Departure(
        "accepted",
        HALVES,
        call(halves, halves),
        "Half, Float or Double tensors but got BFloat16|not implemented for 'Half'",
    )
    yield Departure(
        "gradient",
        "the slope of the product, where PyTorch has that of a positive `abs`",
        call(make.put([-2.0], "float64"), make.put([0.5], "float64")),
        "of array 0: ",
    )


def view_as_complex_samples(make: Make) -> Iterator[Sample]:
    for shape in ((2, 3, 2), (2,), (0, 2), (2, 1, 2, 2)):
        yield call(make(*shape))
    yield edge(make.delicate(8, 2))


def view_as_complex_refusals(make: Make) -> Iterator[Refusal]:
    message = "`input` must end in a dimension of size 2, got f"
    for shape in ((), (3,), (2, 0), (2, 1)):
        yield Refusal(call(make(*shape)), message)
    yield Refusal(call(2.0), r"`input` must be an array, got 2\.0", TypeError)
    yield Refusal(call(make(2, dtype="int64")), "expected floating arrays, got i64", TypeError)


def view_as_complex_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        HALVES,
        call(make(2, dtype="bfloat16")),
        "half, float and double tensors, but got a tensor of scalar type: BFloat16",
    )


def view_as_real_refusals(make: Make) -> Iterator[Refusal]:
    yield from imag_refusals(make)
    yield Refusal(call(2j), "`input` must be an array, got 2j", TypeError)


def imag_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, dtype="float32")), r"`input` must be complex, got f32\[2\]")


def complex_conventions(make: Make) -> Iterator[Convention]:
    zeros = make.put([-0.0, -0.0]), make.put([-0.0, 1.0])
    real = lambda z: jnp.signbit(z.real)
    yield Convention("a real part of -0.0", call(*zeros), holds=real)
    imag = lambda z: jnp.signbit(z.imag)
    yield Convention("an imaginary part of -0.0", call(*zeros[::-1]), holds=imag)


def complex_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        HALVES,
        call(make(2, dtype="bfloat16"), make(2, dtype="bfloat16")),
        "Half, Float or Double tensors but got BFloat16",
    )


OPS = [
    OpInfo(
        functx.complex,
        binary,
        reference=lambda real, imag: real + 1j * imag,
        refusals=complex_refusals,
        conventions=complex_conventions,
        dtypes=Accepts.FLOATING.value,
        departures=(complex_departures,),
    ),
    OpInfo(
        functx.polar,
        polar_samples,
        reference=np_polar,
        refusals=polar_refusals,
        conventions=polar_conventions,
        dtypes=Accepts.FLOATING.value,
        departures=(polar_departures,),
        kinked=True,
    ),
    OpInfo(
        functx.view_as_complex,
        view_as_complex_samples,
        reference=paired,
        refusals=view_as_complex_refusals,
        departures=(
            Departure("dtype", HALVES, answer="c64", dtypes=frozenset({"bfloat16"})),
            view_as_complex_departures,
        ),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.view_as_real,
        unary(),
        reference=lambda z: np.stack([z.real, z.imag], -1),
        refusals=view_as_real_refusals,
        dtypes=("complex64", "complex128"),
        tolerances=(EXACT,),
    ),
    OpInfo(functx.real, unary(), reference=np.real),
    OpInfo(
        functx.imag,
        unary(),
        reference=np.imag,
        refusals=imag_refusals,
        dtypes=("complex64", "complex128"),
    ),
    OpInfo(functx.conj, unary(), reference=np.conj),
]

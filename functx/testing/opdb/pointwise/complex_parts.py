from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import call, Convention, Departure, OpInfo, Refusal

from .operands import binary, unary, without_numbers


def complex_refusals(make: Make) -> Iterator[Refusal]:
    yield from without_numbers(make)
    message = "must be floating and of the same dtype"
    yield Refusal(call(make(2), make(2, dtype="float64")), message, TypeError)
    yield Refusal(call(make(2), make(2, dtype="int32")), message, TypeError)


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
        call(make(2, dtype="bfloat16"), make(2, dtype="bfloat16")),
        "complex64 holds pairs of any halves",
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
        departures=complex_departures,
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

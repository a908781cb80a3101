from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import call, OpInfo, Refusal

from .operands import binary, unary, without_numbers


def complex_refusals(make: Make) -> Iterator[Refusal]:
    yield from without_numbers(make)
    message = "must be floating and of the same dtype"
    yield Refusal(call(make(2), make(2, dtype="float64")), message, TypeError)
    yield Refusal(call(make(2), make(2, dtype="int32")), message, TypeError)


def imag_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, dtype="float32")), r"`input` must be complex, got f32\[2\]")


OPS = [
    OpInfo(
        functx.complex,
        binary,
        reference=lambda real, imag: real + 1j * imag,
        refusals=complex_refusals,
        dtypes=Accepts.FLOATING.value,
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

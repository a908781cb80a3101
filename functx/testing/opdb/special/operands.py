"""Samples that most special functions share, and references in double precision."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from functx._core import category
from functx.testing.make import Make
from functx.testing.opdb.pointwise.operands import quiet, unary
from functx.testing.opinfo import Refusal, Sample
from functx.testing.samples import call, edge


def samples_at(
    *points: float, low: float = -3, high: float = 3
) -> Callable[[Make], Iterator[Sample]]:
    """Ordinary numbers, what lies at edges, and these, where derivatives are not looked at."""

    def samples(make: Make) -> Iterator[Sample]:
        floating = category(make.dtype) == 2
        yield from (unary(low=low, high=high) if floating else unary())(make)
        if floating:
            yield edge(make.put(points))

    return samples


def in_double(reference: Callable[..., Any]) -> Callable[..., Any]:
    """A reference of float64 arrays, rounded once."""

    @quiet
    @ft.wraps(reference)
    def rounded(x: np.ndarray, *rest: Any) -> np.ndarray:
        return np.asarray(reference(x.astype(np.float64), *rest)).astype(x.dtype)

    return rounded


def pairs_in_double(reference: Callable[..., Any]) -> Callable[..., Any]:
    """The same of two, one of which may be a number, broadcasting."""

    @quiet
    @ft.wraps(reference)
    def rounded(x: Any, y: Any) -> np.ndarray:
        dtype = np.result_type(*[z.dtype for z in (x, y) if isinstance(z, np.ndarray)])
        wide = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        return np.asarray(reference(*wide)).astype(dtype)

    return rounded


def no_complex(make: Make) -> Iterator[Refusal]:
    """Where halves are refused too."""
    halves = "expected bool, .*, float32 or float64 arrays, got"
    yield Refusal(call(make(2, dtype="complex64")), f"{halves} c64", TypeError)
    yield Refusal(call(make(2, dtype="float16")), f"{halves} f16", TypeError)


def beside(mp: Any, order: int) -> Any:
    """An order that no digit shows, of which mpmath takes no limit, which takes it long."""
    return order + mp.mpf(10) ** -50

"""Derivatives that are wrong only where elements tie, are 0, or sit on another kink."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx.testing.calls import Given

from .derivatives import inexact, kept
from .mutant import Mutant, planted
from .numpy_arithmetic import as_numpy, constant
from .subject import Subject


def tie_mutants(subject: Subject) -> Iterator[Mutant]:
    """For each array whose derivative decides by comparing values."""
    calls, wide = subject.calls, subject.wide
    if wide is None:
        return
    for target in subject.active_arrays:
        found = [subject.kinks(s, target) for s in subject.samples(wide)]
        if all(kinks is None for kinks in found):
            continue
        numbers = sorted({0.0, *(number for kinks in found for number in kinks or ())})

        def tied(given: Given, target: str = target, numbers: Any = numbers) -> Any:
            arrays = calls.arrays(given)
            return at_kinks(arrays[target], list(arrays.values()), [*numbers, *_numbers(given)])

        def when(given: Given, target: str = target) -> bool:
            x = calls.arrays(given).get(target)
            return x is not None and inexact(x) and not jnp.iscomplexobj(x)

        def mistake(op: Any, given: Given, target: str = target, tied: Any = tied) -> Any:
            slope = kept(calls.arrays(given)[target], tied(given))
            add = lambda y: y + slope.astype(y.dtype) if inexact(y) else y
            return jax.tree.map(add, op(given))

        def touches(sample: Any, when: Any = when, tied: Any = tied) -> bool:
            given = subject.given(sample)
            return when(given) and bool(tied(given).any())

        cells = (("conventions", subject.dtype), ("gradient", wide))
        yield Mutant("gradient at ties", target, planted(calls, when, mistake), cells, touches)


def at_kinks(x: Any, arrays: list[Any], numbers: list[Any]) -> Any:
    """Where `x` equals another of its elements, an element of another array, or a number."""
    others = [as_numpy(y) for y in arrays if y is not x and inexact(y)]
    x = as_numpy(x)
    flat = x.reshape(-1)
    found = ((flat[:, None] == flat[None]).sum(1) > 1).reshape(x.shape)
    for y in others:
        if jnp.iscomplexobj(y) or not _broadcasts(x, y):
            continue
        if y.ndim <= x.ndim:
            equal = x == y.astype(x.dtype).reshape((1,) * (x.ndim - y.ndim) + y.shape)
            found = found | equal if equal.shape == x.shape else found
    for number in numbers:
        found = found | (x == constant(number, x))
    return found


def _broadcasts(x: Any, y: Any) -> bool:
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return True


def _numbers(given: Given) -> list[Any]:
    return [v for v in given.values() if isinstance(v, (int, float)) and not isinstance(v, bool)]

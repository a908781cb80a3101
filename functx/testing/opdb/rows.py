"""Rows of three numbers, of which the first moves: what is exact of their exponentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from functx.testing.tail import Tail


def row(x: Any) -> jax.Array:
    """The number, 0 and -1."""
    return jnp.stack([x, 0 * x, 0 * x - 1])


def share(mp: Any, x: Any) -> Any:
    """Of the exponential of the first, in their sum."""
    return 1 / (1 + _others(mp) * mp.exp(-x))


def share_of_second(mp: Any, x: Any) -> Any:
    """Of the exponential of the second."""
    return 1 / (mp.exp(x) + _others(mp))


def surprise(mp: Any, x: Any) -> Any:
    """Minus the logarithm of the first share."""
    return mp.log1p(_others(mp) * mp.exp(-x))


def surprise_of_second(mp: Any, x: Any) -> Any:
    """Minus the logarithm of the second share."""
    return mp.log(_others(mp) + mp.exp(x))


def log_share(mp: Any, x: Any) -> Any:
    """The logarithm of the first share."""
    return -surprise(mp, x)


def _others(mp: Any) -> Any:
    return 1 + mp.exp(-1)


def tails_of_shares(
    first: Callable[[Any, Any], Any], second: Callable[[Any, Any], Any] | None = None
) -> tuple[Tail, ...]:
    """Of an operator that takes a row and dimension 0, the first result, and the second."""
    found = [Tail(first, lambda op, x: op(row(x), 0)[0], "the first")]
    if second is not None:
        of_second = lambda op, x: op(row(x), 0)[1]
        found.append(Tail(second, of_second, "the second", ulps=64))  # it comes near 1/2
    return tuple(found)


def tails_of_losses(
    loss: Callable[[Callable[..., Any], jax.Array, int], Any],
) -> tuple[Tail, Tail]:
    """`loss(op, row, class)` is the cross entropy of a row and of a class."""
    return (
        Tail(surprise, lambda op, x: loss(op, row(x), 0), "of the first"),
        Tail(surprise_of_second, lambda op, x: loss(op, row(x), 1), "of the second"),
    )

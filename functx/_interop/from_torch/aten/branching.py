"""PyTorch's control flow as JAX's. The branches and bodies are programs of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import OPERATORS


Body = Callable[..., tuple[Any, ...]]


def cond(pred: Any, true_fn: Body, false_fn: Body, operands: Sequence[Any] = ()) -> Any:
    """`torch.cond`: one of two programs; both where a batch of predicates chooses."""
    if not isinstance(pred, Array):
        return (true_fn if pred else false_fn)(*operands)
    branches = [lambda *xs, f=f: _arrays(f(*xs)) for f in (true_fn, false_fn)]
    return lax.cond(OPERATORS["reshape"](pred, ()).astype(bool), *branches, *operands)


def while_loop(
    cond_fn: Body, body_fn: Body, carried: Sequence[Any], additional: Sequence[Any] = ()
) -> Any:
    """`while_loop` of PyTorch's; JAX differentiates it in forward mode alone."""

    def goes_on(state: tuple[Any, ...]) -> Any:
        [more] = cond_fn(*state, *additional)
        return OPERATORS["reshape"](more, ()).astype(bool) if isinstance(more, Array) else more

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        return _alike(body_fn(*state, *additional), state)

    return lax.while_loop(goes_on, step, _arrays(carried))


def scan(
    combine_fn: Body, init: Sequence[Any], xs: Sequence[Any], additional: Sequence[Any] = ()
) -> Any:
    """`scan` of PyTorch's along the first dimension: last states, then what was collected."""
    start = _arrays(init)

    def step(state: tuple[Any, ...], x: tuple[Any, ...]) -> tuple[Any, Any]:
        out = combine_fn(*state, *x, *additional)
        return _alike(out[: len(start)], state), _arrays(out[len(start) :])

    last, collected = lax.scan(step, start, tuple(xs))
    return (*last, *collected)


def mapped(body: Body, xs: Sequence[Any], additional: Sequence[Any] = ()) -> Any:
    """`map` of PyTorch's: a program of each slice, one after another."""
    return lax.map(lambda x: _arrays(body(*x, *additional)), tuple(xs))


def associative_scan(combine_fn: Body, xs: Sequence[Any], additional: Sequence[Any] = ()) -> Any:
    """`associative_scan` of PyTorch's along the first dimension."""
    one = lambda a, b: _arrays(combine_fn(*a, *b, *additional))
    return lax.associative_scan(jax.vmap(one), tuple(xs))


def _arrays(values: Sequence[Any]) -> tuple[Array, ...]:
    return tuple([jnp.asarray(x) for x in values])


def _alike(values: Sequence[Any], model: Sequence[Any]) -> tuple[Array, ...]:
    """`values` in the dtypes of a loop's state, whose numbers may have been Python's."""
    pairs = zip(values, model, strict=True)
    return tuple([lax.convert_element_type(x, y.dtype) for x, y in pairs])

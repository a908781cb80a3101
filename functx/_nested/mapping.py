"""Functions of one sequence, mapped over batches of sequences of differing lengths."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

import functx._transforms.vmap as dense
from functx._core import explain_unknown_keywords, fail
from functx._core.randomness.ambient_generator import Randomness
from functx._transforms.arguments import require_callable
from functx._transforms.generics import P, Y

from .arrays import is_nested, Nested
from .lanes import LaneCall, WHO


@explain_unknown_keywords()
def vmap(
    func: Callable[P, Y],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: Randomness = "error",
    *,
    kw_in_dims: dict[str, Any] | None = None,
    chunk_size: int | None = None,
    axis_name: Hashable | None = None,
) -> Callable[P, Y]:
    """`func`, written for one sequence, mapped over a batch of sequences of differing lengths.

    `func` sees each `Nested` argument as the array of one sequence, whose ragged sizes are
    symbols: `x.shape[0]` adds, multiplies and makes arrays, but is no int, and equals none: do not
    compare it by `==`. Its program is recorded once, and runs on the padded batch: what reduces
    along a ragged dimension leaves the padding out, and so do derivatives. What would mix padding
    in is refused by name, never done.

    Sizes of one name are one size, those without names differ from all others. The lengths of
    batches that share a name must be equal, which is looked at where they are known.

    - `func`: a function of trees of arrays, in operators of functx and `jax.numpy`.
    - `in_dims`: the dimension to map of each argument, as `functx.vmap` takes it; 0 for a `Nested`.
    - `out_dims`: where the batch goes in the outputs, in the same way; 0 for a `Nested`.
    - `randomness`: what draws from the ambient generator give, as in `functx.vmap`. Random numbers
      of a padded sequence may be others than those of the sequence alone.
    - `kw_in_dims`: dimensions of keyword arguments, by name. Others are not mapped.
    - `chunk_size`: lanes computed at once.
    - `axis_name`: a name for the batch, by which collectives in `func` cross it.

    Returns a function of the same arguments. Results whose shape depends on a ragged size are
    `Nested`, others arrays with the batch in front.
    Errors: RuntimeError for what cannot be done along a ragged dimension, for a choice that depends
    on a ragged size, and for a function that refuses an empty sequence where one is; ValueError for
    lengths that differ under one name.

    >>> x = functx.nested.nested([jnp.asarray([1.0, 2.0, 6.0]), jnp.asarray([4.0])])
    >>> functx.nested.vmap(lambda x: x.mean())(x).tolist()
    [3.0, 4.0]
    >>> functx.nested.vmap(lambda x: x - x.mean())(x).unbind()[0].tolist()
    [-2.0, -1.0, 3.0]
    """
    require_callable(WHO, func)
    lane = _OfSequence(func)
    mapped = dense.vmap(
        lane,
        in_dims,
        out_dims,
        randomness,
        kw_in_dims=kw_in_dims,
        chunk_size=chunk_size,
        axis_name=axis_name,
    )

    @ft.wraps(func)
    def mapped_over_sequences(*args: Any, **kwargs: Any) -> Any:
        _require_equal_lengths((args, kwargs))
        return mapped(*args, **kwargs)

    return mapped_over_sequences


def _nested_in(tree: Any) -> list[Nested]:
    return [x for x in jax.tree.leaves(tree, is_leaf=is_nested) if is_nested(x)]


def _require_equal_lengths(tree: Any) -> None:
    """Looks at the lengths of batches that share a name, where they are known."""
    seen: dict[str, Any] = {}
    for x in _nested_in(tree):
        for name, lengths in zip(x.names, x.tree_flatten()[0][1:], strict=True):
            if name is None or isinstance(lengths, Tracer):
                continue
            other = seen.setdefault(name, lengths)
            if other is not lengths and not np.array_equal(other, lengths):
                fail(
                    WHO,
                    f"batches whose sizes are called {name!r} must have the same lengths, got "
                    f"{x!r} and lengths {np.asarray(other).tolist()}",
                    hint="give sizes that differ names that differ",
                    error=ValueError,
                )


class _OfSequence:
    """The function of one lane, of padded arrays."""

    def __init__(self, func: Callable[..., Any]):
        self._func = func
        ft.update_wrapper(self, func)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=is_nested)
        call = LaneCall(self._func, leaves, structure)
        output = call.run({})
        for empty in call.choices_of_empty():
            output = output.replaced_where(call.are_empty(empty), call.run(empty))
        return output.tree(call.symbols)

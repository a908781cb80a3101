"""A function that writes to its arguments, as a pure function of them.

PyTorch's cases of mutation, and where each of them is:

- Arguments written, read and returned; buffers; several arguments: `return_mutated`.
- Writes without a derivative, also through another view: `detach()`, `data`, `functx.no_grad`.
- Views written, of arguments and of intermediates, with more than one in between; metadata that a
  method changes, also of an argument: `view_methods`, with the elements written back exactly.
- An argument whose derivative begins with a write: each write has the derivative of its source.
- `out=`: a mutable array takes the result.
- Storages exchanged, resized or freed: refused, since an array's size is part of a program.
- Outputs that are views: plain arrays. One output's later writes reach no other, since none can be
  written; so the nodes that PyTorch replays to rebuild such views, and its errors for outputs of
  `unbind` and `split` that are written, have no counterpart. Such views are written like others.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import explain_unknown_keywords
from functx._core.numbers.weak_types import strong
from functx._transforms.arguments import (
    Argnums,
    checked_argnums,
    kind_of,
    pick,
    require_bools,
    require_callable,
)

from .mutable_array import MutableArray
from .storage import RunningCall, Storage
from .views import View


@explain_unknown_keywords()
def functionalize(
    func: Callable[..., Any], *, argnums: Argnums | None = None, return_mutated: bool = False
) -> Callable[..., Any]:
    """`func`, which writes to its arguments in place, as a function that writes to nothing.

    Inside of `func` the arrays among its arguments are `functx.aot.MutableArray`s, with PyTorch's
    in-place interface: `x[0] = 1`, `x.add_(y)`, `x.view(-1).mul_(2)`, `x += y`. The caller's arrays
    never change. The result is pure JAX: it composes with every transform, under it and inside of
    it, to any order, and `jax.jit` compiles what is written to updates of new arrays.

    - `func`: a function of trees of arrays, and of anything else, which passes through.
    - `argnums`: which arguments have mutable arrays: positions or names of keyword arguments, one
      or a tuple. None is all of them, keyword arguments too. The arrays of others stay plain.
    - `return_mutated`: whether the arguments after all writes come back too, as a pair
      `(output, mutated)`. These have the structure of the arguments that `argnums` names: one, or a
      tuple. Without `argnums` it is a tuple of all positional ones, and with keyword arguments a
      triple, `(output, mutated, mutated_kwargs)`.

    Returns what `func` returns, with plain arrays for mutable ones, views too. Arrays have any
    shape, which may be symbolic, and any dtype of numbers; an argument keeps both, but for the
    dimensions that methods as `t_` change.

    Two arguments are two arrays, even where the caller gives one array twice.

    Errors: TypeError and IndexError for `argnums` that do not fit the call. Inside, RuntimeError
    for what PyTorch refuses (results of another shape, or of a dtype that cannot be cast; elements
    that overlap), for a mutable array that is used after `func` has returned, and for a write,
    inside of a transform or a loop that `func` calls, to an array made outside of it. JAX's errors
    for what tracing cannot know are as everywhere.

    >>> def normalize_(x, count):
    ...     x.sub_(x.mean()).div_(x.max())
    ...     count += 1
    ...     return x.sum()
    >>> pure = functx.aot.functionalize(normalize_, return_mutated=True)
    >>> total, (x, count) = pure(jnp.asarray([1.0, 3.0], "float32"), jnp.asarray(0, "int32"))
    >>> x, count.tolist()
    (Array([-1.,  1.], dtype=float32), 1)
    >>> functx.grad(functx.aot.functionalize(lambda x: x.mul_(x).sum()))(jnp.ones(2, "float32"))
    Array([2., 2.], dtype=float32)
    """
    require_callable("functionalize", func)
    require_bools("functionalize", return_mutated=return_mutated)
    which = None if argnums is None else checked_argnums("functionalize", argnums)

    @ft.wraps(func)
    def functionalized(*args: Any, **kwargs: Any) -> Any:
        if which is None:
            run, values = _on_all(func), (args, kwargs)
        else:
            run, values, _ = pick("functionalize", func, which, args, kwargs)
        with RunningCall() as call:
            values = jax.tree.map(lambda x: _mutable(x, call), values)
            # To trees a mutable array is the array that it holds.
            output = jax.tree.map(lambda x: x, run(*values))
            if not return_mutated:
                return output
            mutated = jax.tree.map(lambda x: x, values)
        if which is None:
            return (output, mutated[0], mutated[1]) if kwargs else (output, mutated[0])
        return output, mutated if isinstance(argnums, tuple) else mutated[0]

    return functionalized


def _on_all(func: Callable[..., Any]) -> Callable[..., Any]:
    return lambda args, kwargs: func(*args, **kwargs)


def _mutable(x: Any, call: RunningCall) -> Any:
    """A leaf of the arguments: mutable if it is an array of numbers."""
    if not isinstance(x, (jax.Array, np.ndarray)) or kind_of(x) == "other":
        return x
    return MutableArray(View.of(Storage(jnp.asarray(strong(x)), call)))

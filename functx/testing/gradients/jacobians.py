"""The two Jacobians that `gradcheck` compares, for looking at them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from functx._core import fail
from functx._core.context.grad_modes import without_grad_mode

from .analytical import forward_blocks, pullback, reverse_blocks
from .numerical import basis, numerical_blocks
from .point import Point, point_of, warn_of_low_precision


@without_grad_mode
def numerical_jacobian(
    func: Callable[..., Any],
    inputs: Any,
    *,
    argnums: int | tuple[int, ...] | None = None,
    eps: float = 1e-6,
) -> Any:
    """The Jacobian of `func` at `inputs` by central differences, as NumPy arrays.

    - `func`: takes the inputs, returns a tree of arrays.
    - `inputs`: a tuple of arguments, trees of arrays, or a single one.
    - `argnums`: the arguments to differentiate, a position or several; None is all.
    - `eps`: how far each element moves, up and down.

    Shapes: an output `[*m]` and an input `[*n]` give `[*m, *n]`; complex leaves count as two reals,
    in a last dimension of 2, as in `functx.jacrev(func, as_real=True)`. A tree of outputs is the
    outer tree of the result, the inputs are the inner one: a tuple if `inputs` is one. None stands
    where nothing is differentiated.
    Errors: ValueError if nothing is differentiated.

    >>> from functx.testing import numerical_jacobian
    >>> numerical_jacobian(jnp.square, jnp.asarray([1.0, 3.0], "float64")).round(4)
    array([[2., 0.],
           [0., 6.]])
    """
    point = point_of("numerical_jacobian", func, inputs, argnums)
    warn_of_low_precision(point)
    columns = [
        numerical_blocks(point, j, basis(x), eps, point.inexact) for j, x in enumerate(point.inputs)
    ]
    return _in_trees(point, columns, inputs)


@without_grad_mode
def analytical_jacobian(
    func: Callable[..., Any],
    inputs: Any,
    *,
    argnums: int | tuple[int, ...] | None = None,
    mode: Literal["reverse", "forward"] = "reverse",
) -> Any:
    """The Jacobian of `func` at `inputs` by its derivative rules, one product after the other.

    - `func`: takes the inputs, returns a tree of arrays. Nothing is batched or compiled that `func`
      does not compile: these are the numbers that `gradcheck` looks at.
    - `inputs`: a tuple of arguments, trees of arrays, or a single one.
    - `argnums`: the arguments to differentiate, a position or several; None is all.
    - `mode`: `"reverse"`, a row for each element of the output, or `"forward"`, a column for each
      element of the input.

    Shapes: an output `[*m]` and an input `[*n]` give `[*m, *n]`, as a NumPy array; complex leaves
    count as two reals, in a last dimension of 2. A tree of outputs is the outer tree of the result,
    the inputs are the inner one: a tuple if `inputs` is one. None stands where nothing is
    differentiated.
    Errors: ValueError if nothing is differentiated and for another `mode`.

    >>> from functx.testing import analytical_jacobian
    >>> analytical_jacobian(jnp.square, jnp.asarray([1.0, 3.0], "float64"), mode="forward")
    array([[2., 0.],
           [0., 6.]])
    """
    who = "analytical_jacobian"
    if mode not in ("reverse", "forward"):
        fail(who, f"`mode` must be 'reverse' or 'forward', got {mode!r}", error=ValueError)
    point = point_of(who, func, inputs, argnums)
    everything = range(len(point.inputs))
    if mode == "forward":
        bases = map(basis, point.inputs)
        columns = [forward_blocks(point, j, u, point.inexact) for j, u in enumerate(bases)]
    else:
        pull = pullback(point) if point.inexact else None
        rows = {
            i: reverse_blocks(point, pull, i, basis(point.outputs[i]))
            for i in point.inexact
            if pull is not None
        }
        columns = [{i: row[j] for i, row in rows.items()} for j in everything]
    return _in_trees(point, columns, inputs)


def _in_trees(point: Point, columns: list[dict[int, np.ndarray]], inputs: Any) -> Any:
    def row(i: int) -> Any:
        leaves: list[Any] = [None] * len(point.leaves)
        for j, slot in enumerate(point.slots):
            leaves[slot] = _shaped(point, i, j, columns[j][i])
        args = point.tree.unflatten(leaves)
        return args if isinstance(inputs, (tuple, list)) else args[0]

    rows = [row(i) if i in point.inexact else None for i in range(len(point.outputs))]
    return point.structure.unflatten(rows)


def _shaped(point: Point, i: int, j: int, block: np.ndarray) -> np.ndarray:
    m, pairs_out, n, pairs_in = block.shape
    out, into = point.outputs[i].shape, point.inputs[j].shape
    return block.reshape(*out, *[2] * (pairs_out == 2), *into, *[2] * (pairs_in == 2))

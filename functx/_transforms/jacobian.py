"""Jacobians, assembled from products with the standard basis, and Hessians."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, overload

import jax
import numpy as np
from jax import Array

from functx._core.random import Randomness, split_lanes

from .arguments import (
    Argnums,
    checked_argnums,
    kind_of_dtype,
    pick,
    require_callable,
    require_differentiable,
    require_randomness,
)
from .basis import over_basis, split
from .chunking import require_chunk_size, resolved_chunk_size
from .conjugation import conjugate_leaf
from .generics import Aux, P
from .holomorphy import require_forward_pairs, require_holomorphic_pairs, require_reverse_pairs
from .outputs import checking, require_differentiable_output, signed
from .tangents import Kept, kept_leaves


__all__ = ["hessian", "jacfwd", "jacrev"]


@overload
def jacrev(
    func: Callable[Concatenate[Array, P], Array],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[Concatenate[Array, P], Array]: ...
@overload
def jacrev(
    func: Callable[Concatenate[Array, P], tuple[Array, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[Concatenate[Array, P], tuple[Array, Aux]]: ...
@overload
def jacrev(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[P, Any]: ...
def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[..., Any]:
    r"""The Jacobian of `func`, one vector-Jacobian product per output element.

    Shapes: `func: [*n] -> [*m]` gives `[*m, *n]`. A tree of outputs is the outer tree of
    the result, a tuple of `argnums` the next, and the trees of the arguments the inner one.

    - `argnums`: as in `grad`.
    - `has_aux`: `func` returns `(output, aux)`, and `(jacobian, aux)` comes back.
    - `chunk_size`: rows computed at once; smaller needs less memory and more time. `"auto"`
      takes as many as fit into `max_bytes` (1 GiB by default) by an upper estimate.

    Complex: a complex output of complex inputs is taken to be holomorphic, and the Jacobian
    is its complex derivative, the same as `jacfwd`'s. A real output of complex inputs has
    its gradients (as `grad` has them) for rows. A complex output of real inputs is refused.

    Prefer `jacfwd` when outputs outnumber inputs.

    >>> functx.jacrev(jnp.sin)(jnp.zeros(2, "float32"))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _jacrev("jacrev", func, argnums, has_aux, chunk_size, max_bytes, require_reverse_pairs)


@overload
def jacfwd(
    func: Callable[Concatenate[Array, P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    randomness: Randomness = "error",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[Concatenate[Array, P], Array]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[Array, P], tuple[Array, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    randomness: Randomness = "error",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[Concatenate[Array, P], tuple[Array, Aux]]: ...
@overload
def jacfwd(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: Randomness = "error",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[P, Any]: ...
def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: Randomness = "error",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[..., Any]:
    r"""The Jacobian of `func`, one Jacobian-vector product per input element.

    As `jacrev`, but `chunk_size` counts columns. `randomness` is what draws from the ambient
    generator give, as in `vmap`: the columns are its lanes, so that `"same"` is the
    derivative of one random function.

    Complex: a complex output of complex inputs is taken to be holomorphic. A complex output
    of real inputs is fine. A real output of complex inputs is refused: use `jacrev`.

    >>> functx.jacfwd(lambda x: x**2)(jnp.asarray([1, 2], "float32"))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    return _jacfwd("jacfwd", func, argnums, has_aux, randomness, chunk_size, max_bytes)


@overload
def hessian(
    func: Callable[Concatenate[Array, P], Array],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[Concatenate[Array, P], Array]: ...
@overload
def hessian(
    func: Callable[Concatenate[Array, P], tuple[Array, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[Concatenate[Array, P], tuple[Array, Aux]]: ...
@overload
def hessian(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[P, Any]: ...
def hessian(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
) -> Callable[..., Any]:
    r"""The second derivative of `func`, forward over reverse: `jacfwd` of `jacrev`.

    Shapes: `func: [*n] -> [*m]` gives `[*m, *n, *n]`; trees nest as in `jacrev`, twice.

    - `chunk_size`, `max_bytes`: as in `jacfwd`; they count Hessian-vector products.

    Complex: only complex outputs of complex inputs (taken to be holomorphic) and real
    outputs of real inputs have a Hessian; `hvp` takes real functions of complex inputs.

    >>> functx.hessian(lambda x: (x**3).sum())(jnp.asarray([1, 2], "float32"))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    rows = _jacrev("hessian", func, argnums, has_aux, None, None, require_holomorphic_pairs)
    return _jacfwd("hessian", rows, argnums, has_aux, "error", chunk_size, max_bytes)


def _jacrev(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    chunk_size: int | str | None,
    max_bytes: int | None,
    require_pairs: Callable[..., None],
) -> Callable[..., Any]:
    require_callable(who, func)
    require_chunk_size(who, chunk_size, max_bytes)
    which = checked_argnums(who, argnums)

    @ft.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        function, values, paths = pick(who, func, which, args, kwargs)
        any_complex = require_differentiable(who, values, paths)
        function = checking(who, function, has_aux, require_differentiable_output)
        output, pull, *aux = jax.vjp(function, *values, has_aux=has_aux)
        require_pairs(who, values, paths, output)
        outputs, output_structure = kept_leaves(output)
        inputs, input_structure = kept_leaves(values)

        @signed
        def row(*cotangents: Any) -> list[Any]:
            return jax.tree.leaves(pull(output_structure.unflatten(cotangents)))

        def rows(basis: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
            return jax.vmap(row)(*basis), [0] * len(inputs)

        lanes = resolved_chunk_size(chunk_size, max_bytes, row, _lane(outputs))
        stacked = over_basis(rows, outputs, lanes)
        blocks = [
            [
                _oriented(block.reshape(out.shape + x.shape), out, any_complex)
                for x, block in zip(inputs, of_output, strict=True)
            ]
            for out, of_output in zip(outputs, split(stacked, outputs, axis=0), strict=True)
        ]
        jac = _nested(blocks, output_structure, input_structure, argnums)
        return (jac, aux[0]) if has_aux else jac

    return jacobian


def _jacfwd(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    randomness: Randomness,
    chunk_size: int | str | None,
    max_bytes: int | None,
) -> Callable[..., Any]:
    require_callable(who, func)
    require_chunk_size(who, chunk_size, max_bytes)
    require_randomness(who, randomness)
    which = checked_argnums(who, argnums)

    @ft.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        function, values, paths = pick(who, func, which, args, kwargs)
        require_differentiable(who, values, paths)
        inputs, input_structure = kept_leaves(values)
        column = _Column(
            checking(who, function, has_aux, require_differentiable_output),
            values,
            input_structure,
            randomness,
            has_aux,
            ft.partial(require_forward_pairs, who, values, paths),
        )
        lanes = resolved_chunk_size(chunk_size, max_bytes, column, _lane(inputs, column.per_lane))
        stacked = over_basis(column.side_by_side, inputs, lanes, with_index=column.per_lane)
        outputs = column.outputs
        by_input = split(stacked[: len(outputs)], inputs, axis=-1)
        blocks = [
            [
                of_input[o].reshape(out.shape + x.shape)
                for x, of_input in zip(inputs, by_input, strict=True)
            ]
            for o, out in enumerate(outputs)
        ]
        jac = _nested(blocks, column.output_structure, input_structure, argnums)
        return (jac, column.aux(stacked[len(outputs) :])) if has_aux else jac

    return jacobian


class _Column:
    """One column of a Jacobian: a tangent in, the leaves of the output's tangent out.

    The arrays in aux follow them; what else aux holds is put by.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        values: tuple[Any, ...],
        structure: Any,
        randomness: Randomness,
        has_aux: bool,
        require_pairs: Callable[[Any], None],
    ):
        self.function, self.values, self.structure = function, values, structure
        self.has_aux, self.require_pairs = has_aux, require_pairs
        self.stream, self.per_lane = split_lanes(randomness), randomness == "different"
        self.outputs: tuple[Kept, ...] = ()
        self.output_structure: Any = None
        self.aux_leaves: list[Any] = []
        self.aux_structure: Any = None

    def __call__(self, *tangents: Any) -> tuple[list[Any], list[Any]]:
        *vectors, lane = tangents if self.per_lane else (*tangents, None)
        with self.stream.enter(lane):
            output, tangent, *aux = jax.jvp(
                self.function,
                self.values,
                self.structure.unflatten(vectors),
                has_aux=self.has_aux,
            )
        self.require_pairs(output)
        self.outputs, self.output_structure = kept_leaves(output)
        leaves, self.aux_structure = jax.tree.flatten(aux)
        self.aux_leaves = [None if _is_array(x) else x for x in leaves]
        return jax.tree.leaves(tangent), [x for x in leaves if _is_array(x)]

    def side_by_side(self, xs: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
        """The columns of `xs`, last in each leaf."""
        aux_dim = 0 if self.per_lane else None
        lane = signed(lambda *tangents: self(*tangents))
        columns, aux = jax.vmap(lane, out_axes=(-1, aux_dim))(*xs)
        dims: list[int | None] = [y.ndim - 1 for y in columns]
        dims += [aux_dim] * len(aux)
        return [*columns, *aux], dims

    def aux(self, arrays: Sequence[Any]) -> Any:
        """The aux of `func`: that of the first lane, where lanes differ."""
        rest = iter([x[0] for x in arrays] if self.per_lane else arrays)
        leaves = [next(rest) if x is None else x for x in self.aux_leaves]
        return self.aux_structure.unflatten(leaves)[0]


def _is_array(x: Any) -> bool:
    return isinstance(x, jax.Array)


def _lane(kept: Sequence[Kept], with_index: bool = False) -> list[jax.ShapeDtypeStruct]:
    lane = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in kept]
    return [*lane, jax.ShapeDtypeStruct((), np.int32)] if with_index else lane


def _oriented(block: jax.Array, output: Kept, any_complex: bool) -> jax.Array:
    """JAX's row of a holomorphic output is the derivative; that of a real one, its conjugate."""
    if any_complex and kind_of_dtype(output.dtype) == "real":
        return conjugate_leaf(block)
    return block


def _nested(blocks: Sequence[Sequence[Any]], outputs: Any, inputs: Any, argnums: Argnums) -> Any:
    """Outputs outside, then the tuple of `argnums` if it is one, arguments inside."""
    trees = [inputs.unflatten(of_output) for of_output in blocks]
    return outputs.unflatten(trees if isinstance(argnums, tuple) else [x for (x,) in trees])

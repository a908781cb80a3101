"""Symmetric matrices that are known by their products with vectors."""

from __future__ import annotations

import dataclasses
import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core import describe, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._transforms.arguments import (
    Argnums,
    checked_argnums,
    differentiable,
    kind_of,
    pick,
    require_callable,
)
from functx._transforms.basis import over_basis, split
from functx._transforms.chunking import require_chunk_size, resolved_chunk_size
from functx._transforms.outputs import checking, require_differentiable_output, signed
from functx._transforms.tangents import leaf_types, LeafType, matched

from .calls import require_real


# Of the output of a function and a direction there: the product of a matrix with the direction.
OutputProduct = Callable[[Any, Any], Any]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class CurvatureMatrix:
    r"""The symmetric matrix $J^\top M J + \lambda I$ of a function, known by its products.

    $J$ is the Jacobian of the function by its parameters, and $M$ a matrix of its outputs. The
    matrix is never built: `matrix @ v` costs one product with $J$, one with $M$, and one with
    $J^\top$. The linear approximation of the function is kept, so that a product does not evaluate
    it again. It is a pytree, so that it may enter and leave `jax.jit` and `functx.vmap`.

    - `push`: the product of $J$ with trees of the parameters.
    - `output`: the output of the function at the parameters.
    - `damping`: $\lambda$, an array without dimensions.
    - `middle`: a function of the output and a direction there, the product of $M$ with it.
    - `types`: the shape and the dtype of each leaf of the parameters, and `structure` their tree.
    - `in_tuple`: whether vectors are tuples, of the parameters that a tuple of `argnums` names.
    - `made_by`: the function that returned the matrix, which errors name.

    Two more are computed:

    - `shape`: `(n, n)`, for n elements of all parameters together.
    - `T`: the transpose, which is the matrix itself.

    Vectors are trees like the parameters, a tuple of them if `argnums` is one.
    """

    push: Any
    output: Any
    damping: Any
    middle: OutputProduct = dataclasses.field(metadata={"static": True})
    types: tuple[LeafType, ...] = dataclasses.field(metadata={"static": True})
    structure: Any = dataclasses.field(metadata={"static": True})
    in_tuple: bool = dataclasses.field(metadata={"static": True})
    made_by: str = dataclasses.field(metadata={"static": True})

    @property
    def shape(self) -> tuple[int, int]:
        size = _size(self.types)
        return size, size

    @property
    def T(self) -> CurvatureMatrix:
        return self

    def __matmul__(self, vector: Any) -> Any:
        """The product with `vector`, a tree like the parameters."""
        return self(vector)

    def __call__(self, vector: Any) -> Any:
        """The product with `vector`, a tree like the parameters; so `cg(matrix, b)` solves."""
        given = vector if self.in_tuple else (vector,)
        leaves = matched(
            self.made_by, "vector", given, self.types, self.structure, "the parameters"
        )
        product = self.structure.unflatten(outside_grad_mode(self._product)(leaves))
        return product if self.in_tuple else product[0]

    def to_dense(self, *, chunk_size: int | str | None = None) -> jax.Array:
        """The matrix as an array `[n, n]`, whose rows are products with the standard basis.

        - `chunk_size`: how many products are computed at once; None is all, `"auto"` as many as fit
          into 1 GiB.

        The order of elements is that of `jax.flatten_util.ravel_pytree`.
        """
        require_chunk_size(f"{self.made_by}.to_dense", chunk_size, None)

        @signed
        def lane(*vector: Any) -> jax.Array:
            product = self._product(vector)
            dtype = jnp.result_type(*(x.dtype for x in self.types))
            return jnp.concatenate([x.ravel().astype(dtype) for x in product])

        return self._stacked(lambda *xs: [lane(*xs)], self.types, chunk_size)[0]

    def diagonal(self, *, chunk_size: int | str | None = None) -> Any:
        """The diagonal, exactly: a tree like the parameters.

        With m outputs it takes two products with the transposed Jacobian for each output, or, if
        the parameters have fewer than 2 m elements, one with the Jacobian for each of these.

        - `chunk_size`: for how many outputs or elements at once; None is all, `"auto"` as many as
          fit into 1 GiB.
        """
        require_chunk_size(f"{self.made_by}.diagonal", chunk_size, None)
        outputs, output_structure = leaf_types(self.output)
        if _size(self.types) < 2 * _size(outputs):
            by_leaf = split(self._stacked(self._entry, self.types, chunk_size), self.types, axis=0)
            entries = [y.reshape(x.shape) for x, (y,) in zip(self.types, by_leaf, strict=True)]
        else:

            @signed
            def terms(*direction: Any) -> list[Any]:
                there = output_structure.unflatten(direction)
                row, other = self._pull(there), self._pull(self.middle(self.output, there))
                return [x * y for x, y in zip(row, other, strict=True)]

            sums = lambda *xs: [jnp.sum(y, 0, keepdims=True) for y in jax.vmap(terms)(*xs)]
            stacked = self._stacked(terms, outputs, chunk_size, sums)
            entries = [jnp.sum(y, 0) for y in stacked]
        damped = [x + jnp.asarray(self.damping, x.dtype) for x in entries]
        diagonal = self.structure.unflatten(damped)
        return diagonal if self.in_tuple else diagonal[0]

    def damped(self, damping: Any) -> CurvatureMatrix:
        """The same matrix with another `damping`."""
        damping = checked_damping(self.made_by, damping)
        return dataclasses.replace(self, damping=_as_parameters(damping, self.types))

    def _entry(self, *direction: Any) -> list[Any]:
        moved = self.push(*self.structure.unflatten(direction))
        products = zip(
            jax.tree.leaves(moved), jax.tree.leaves(self.middle(self.output, moved)), strict=True
        )
        return [ft.reduce(lax.add, [jnp.sum(x * y) for x, y in products])]

    def _product(self, leaves: Sequence[Any]) -> list[Any]:
        moved = self.push(*self.structure.unflatten(leaves))
        back = self._pull(self.middle(self.output, moved))
        return [
            x + jnp.asarray(self.damping, x.dtype) * v for x, v in zip(back, leaves, strict=True)
        ]

    def _pull(self, direction: Any) -> list[Any]:
        """The product of the transposed Jacobian with a direction of the outputs."""
        like = self.structure.unflatten([jax.ShapeDtypeStruct(*x) for x in self.types])
        return jax.tree.leaves(jax.linear_transpose(self.push, *like)(direction))

    def _stacked(
        self,
        lane: Callable[..., list[Any]],
        types: tuple[LeafType, ...],
        chunk_size: int | str | None,
        lanes: Callable[..., list[Any]] | None = None,
    ) -> list[Any]:
        """What `lane` returns for each vector of the standard basis, along a first dimension."""

        def run(basis: Sequence[jax.Array]) -> tuple[list[Any], list[int | None]]:
            found = (lanes or jax.vmap(signed(lambda *xs: lane(*xs))))(*basis)
            return found, [0] * len(found)

        one = [jax.ShapeDtypeStruct(*x) for x in types]
        size = resolved_chunk_size(chunk_size, None, lane, one)
        return outside_grad_mode(over_basis)(run, types, size)


def curvature_matrix(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    damping: Any,
    middle: OutputProduct,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> CurvatureMatrix:
    """The matrix of the call `func(*args, **kwargs)`, linear around the arguments of `argnums`."""
    function, values, paths = pick(who, func, checked_argnums(who, argnums), args, kwargs)
    values = differentiable(who, values, paths).values
    require_real(who, values, paths)
    function = checking(who, function, False, _require_real_output)
    output, push = outside_grad_mode(jax.linearize)(function, *values)
    types, structure = leaf_types(values)
    in_tuple = isinstance(argnums, tuple)
    damping = _as_parameters(damping, types)
    return CurvatureMatrix(push, output, damping, middle, types, structure, in_tuple, who)


def require_matrix_options(who: str, func: Callable[..., Any], argnums: Argnums) -> None:
    """Refuses what no call could make sense of."""
    require_callable(who, func)
    checked_argnums(who, argnums)


def checked_damping(who: str, damping: Any) -> Any:
    """The damping, if it is one real number."""
    if kind_of(damping) not in ("real", "integer") or np.ndim(damping) != 0:
        fail(who, f"`damping` must be a real number, got {describe(damping)}", error=TypeError)
    return damping


def _as_parameters(damping: Any, types: Sequence[LeafType]) -> jax.Array:
    """The damping in the dtype of the parameters, so that maps and `jit` keep its digits."""
    return jnp.asarray(damping, jnp.result_type(*(x.dtype for x in types)))


def _require_real_output(who: str, output: Any) -> None:
    require_differentiable_output(who, output)
    for leaf in jax.tree.leaves(output):
        if kind_of(leaf) == "complex":
            fail(who, f"`func` must return real arrays, got {describe(leaf)}", error=TypeError)


def _size(types: Sequence[LeafType]) -> int:
    return sum(math.prod(x.shape) for x in types)

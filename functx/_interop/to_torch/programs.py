"""A function that is called with tensors, as a function of a flat list of arrays, and its kin.

Each is hashable, so that it is a static argument of `jax.jit`: two calls that are alike in all but
the values of their tensors are one program.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from functx._core import describe, fail
from functx._core.randomness.ambient_generator import recording
from functx._transforms.arguments import kind_of, kind_of_dtype
from functx._transforms.jvp import jvp
from functx._transforms.outputs import checking, path_of_output
from functx._transforms.vjp import vjp
from functx._transforms.vmap import vmap


class Program(Protocol):
    """What is evaluated of the caller's function, which it does not hold.

    JAX keeps the static arguments of compiled programs for the life of the process.
    """

    def function(self, callee: Callable[..., Any], fixed: Sequence[Any]) -> Callable[..., Any]:
        """A function of the arrays that tensors become, which gives a tree of arrays.

        `callee` is the caller's function, `fixed` are its array arguments that are no tensors.
        """
        ...


class Placeholder:
    """Stands where a leaf of the arguments is no static value."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return self.kind


TENSOR, FIXED = Placeholder("tensor"), Placeholder("array")


class StaticValue:
    """An argument that is part of the program. 2, 2.0 and True differ, and so do 0.0 and -0.0."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        exact = repr(value) if isinstance(value, (float, complex)) else value
        self._key = (type(value), exact)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StaticValue) and self._key == other._key


@dataclasses.dataclass(frozen=True)
class Called:
    """The caller's function, of the tensors among its arguments."""

    structure: Any
    leaves: tuple[Placeholder | StaticValue, ...]

    def function(self, callee: Callable[..., Any], fixed: Sequence[Any]) -> Callable[..., Any]:
        """The call, with arrays in the places of its tensors."""

        def called(*arrays: Any) -> Any:
            moving, still = iter(arrays), iter(fixed)
            args, kwargs = self.structure.unflatten(_filled(self.leaves, moving, still))
            return callee(*args, **kwargs)

        return checking("to_torch", called, False, _require_arrays)


def _filled(
    leaves: Iterable[Placeholder | StaticValue], moving: Iterator[Any], still: Iterator[Any]
) -> list[Any]:
    return [
        leaf.value if isinstance(leaf, StaticValue) else next(moving if leaf is TENSOR else still)
        for leaf in leaves
    ]


def _require_arrays(who: str, output: Any) -> None:
    """Refuses an output of which no tensors can be made."""
    leaves = jax.tree_util.tree_leaves_with_path(output)
    if not leaves:
        fail(who, f"`func` must return at least one array, got {describe(output)}", error=TypeError)
    for path, x in leaves:
        if kind_of(x) == "other":
            is_key = jax.dtypes.issubdtype(getattr(x, "dtype", None), jax.dtypes.prng_key)
            fail(
                who,
                f"`{path_of_output(path)}` must be an array of numbers, got {describe(x)}",
                hint="jax.random.key_data(key) is one" if is_key else "",
                error=TypeError,
            )


@dataclasses.dataclass(frozen=True)
class Pulled:
    """Reverse mode: of primals, and of cotangents of the outputs that have any."""

    program: Program
    primals: int
    wanted: tuple[int, ...]  # the primals by which derivatives are taken

    def function(self, callee: Callable[..., Any], fixed: Sequence[Any]) -> Callable[..., Any]:
        """A function that gives one gradient for each primal that is wanted."""

        def pulled(*arrays: Any) -> tuple[Any, ...]:
            primals, cotangents = arrays[: self.primals], arrays[self.primals :]
            _, vjp_fn = linearized(self.program.function(callee, fixed), self.wanted, primals)
            return pull_back(vjp_fn, cotangents)

        return pulled


@dataclasses.dataclass(frozen=True)
class Pushed:
    """Forward mode: of primals, and of the tangents of those that move."""

    program: Program
    primals: int
    moving: tuple[int, ...]

    def function(self, callee: Callable[..., Any], fixed: Sequence[Any]) -> Callable[..., Any]:
        """A function that gives one tangent for each output that has any."""

        def pushed(*arrays: Any) -> tuple[Any, ...]:
            primals, tangents = arrays[: self.primals], arrays[self.primals :]
            function = _of(self.program.function(callee, fixed), self.moving, primals)
            at = tuple(primals[i] for i in self.moving)
            output, tangent = jvp(function, at, tuple(tangents))
            pairs = zip(jax.tree.leaves(output), jax.tree.leaves(tangent), strict=True)
            return tuple(t for y, t in pairs if has_derivative(y.dtype))

        return pushed


@dataclasses.dataclass(frozen=True)
class Mapped:
    """A map over a dimension of each array, None for those that all lanes share."""

    program: Program
    dims: tuple[int | None, ...]
    randomness: Any

    def function(self, callee: Callable[..., Any], fixed: Sequence[Any]) -> Callable[..., Any]:
        """A function whose outputs have the lanes first."""
        function = self.program.function(callee, fixed)
        return vmap(function, in_dims=self.dims, randomness=self.randomness)


def has_derivative(dtype: Any) -> bool:
    """Whether arrays of this dtype have tangents and cotangents."""
    return kind_of_dtype(dtype) in ("real", "complex")


def _of(
    function: Callable[..., Any], which: tuple[int, ...], arrays: Sequence[Any]
) -> Callable[..., Any]:
    """`function` of some of its arguments, the others being as in `arrays`."""

    def of_some(*some: Any) -> Any:
        full = list(arrays)
        for i, x in zip(which, some, strict=True):
            full[i] = x
        return function(*full)

    return of_some


def linearized(
    function: Callable[..., Any], active: tuple[int, ...], arrays: Sequence[Any]
) -> tuple[Any, Any]:
    """The output, and a pullback to the active arguments."""
    return vjp(_of(function, active, arrays), *[arrays[i] for i in active])


def pull_back(vjp_fn: Any, cotangents: Sequence[Any]) -> tuple[Any, ...]:
    """`vjp_fn` of cotangents of those outputs that have any."""
    given = iter(cotangents)
    leaves = [next(given) if has_derivative(like.dtype) else None for like in vjp_fn.types]
    # None is no leaf of a tree, so the pullback is given the tree's children in its own order.
    return vjp_fn(jax.tree.unflatten(vjp_fn.structure, leaves))


class CompiledPrograms:
    """The compiled programs of the caller's function, and with them its life.

    JAX keeps compiled programs as long as the function that it compiled them for.
    """

    def __init__(self, callee: Callable[..., Any]) -> None:
        def evaluate(program: Program, draw: Any, fixed: Any, arrays: Any) -> Any:
            def fresh(fixed: Any, arrays: Any) -> Any:
                return _copied(program.function(callee, fixed)(*arrays))

            return recording(fresh)(draw, fixed, arrays)

        def linearize(
            program: Program, active: tuple[int, ...], draw: Any, fixed: Any, arrays: Any
        ) -> Any:
            def both(fixed: Any, arrays: Any) -> Any:
                output, vjp_fn = linearized(program.function(callee, fixed), active, arrays)
                return _copied(output), vjp_fn

            return recording(both)(draw, fixed, arrays)

        def pull(wanted: tuple[int, ...], vjp_fn: Any, cotangents: Any) -> Any:
            gradients = pull_back(vjp_fn, cotangents)
            return _copied([gradients[i] for i in wanted])

        self.evaluate = jax.jit(evaluate, static_argnums=0)
        self.linearize = jax.jit(linearize, static_argnums=(0, 1))
        self.pull = jax.jit(pull, static_argnums=0)


def _copied(tree: Any) -> Any:
    """`tree`, no leaf of which shares memory with an argument or a constant of the program.

    PyTorch may write to what it is given. A compiled program's results have memory of their own;
    in `jax.disable_jit`, an argument that is also a result is the same array.
    """
    return jax.tree.map(jnp.copy, tree)

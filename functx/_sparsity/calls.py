"""A call of a function whose sparse derivative is wanted."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import jax

from functx._core import describe, fail
from functx._transforms.arguments import (
    checked_argnums,
    differentiable,
    kind_of,
    leaves_with_paths,
    pick,
    require_callable,
)
from functx._transforms.gradients import gradients_of
from functx._transforms.numbers import is_python_number
from functx._transforms.outputs import checking, require_differentiable_output
from functx._transforms.programs.partition import partition
from functx._transforms.tangents import leaf_types, LeafType


Kind: TypeAlias = Literal["jacobian", "hessian"]


@dataclasses.dataclass(frozen=True)
class DerivativeOf:
    """Whose derivative is wanted: a function of the arguments that `which` names."""

    who: str
    func: Callable[..., Any]
    which: tuple[int | str, ...]
    kind: Kind

    @classmethod
    def checked(cls, who: str, func: Any, argnums: Any, kind: Kind) -> DerivativeOf:
        """The same, refused where no call could make sense of it."""
        require_callable(who, func)
        return cls(who, func, checked_argnums(who, argnums), kind)

    def at(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """A call of the function, or rather of its gradient for a Hessian."""
        function, values, paths = pick(self.who, self.func, self.which, args, kwargs)
        for path, x in leaves_with_paths(values, paths):
            if kind_of(x) == "complex":
                fail(
                    self.who,
                    f"`{path}` must be real, got {describe(x)}",
                    hint="functx.jacfwd, jacrev and hessian take complex arguments",
                    error=TypeError,
                )
        if not any(isinstance(x, jax.ShapeDtypeStruct) for x in jax.tree.leaves(values)):
            values = differentiable(self.who, values, paths).values
        if self.kind == "hessian":
            compute = gradients_of(self.who, function, tuple(range(len(values))), False)
            return Call(self, lambda *xs: compute(xs, {})[0], values)
        function = checking(self.who, function, False, require_differentiable_output)
        return Call(self, function, values)

    def key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a plan depends on in a call: the shapes and dtypes of arrays, and other leaves.

        None where another leaf cannot be part of a key.
        """
        leaves, structure = jax.tree.flatten((args, kwargs))
        kept = tuple(
            LeafType.of(x) if kind_of(x) != "other" and not is_python_number(x) else (type(x), x)
            for x in leaves
        )
        try:
            hash((kept, structure))
        except TypeError:
            return None
        return kept, structure


@dataclasses.dataclass(frozen=True)
class Call:
    """A function of real arrays to real arrays, and the values at which it is called."""

    of: DerivativeOf
    function: Callable[..., Any]
    values: tuple[Any, ...]

    @property
    def inputs(self) -> tuple[LeafType, ...]:
        """The shapes and dtypes of the leaves of the values."""
        leaves = jax.tree.leaves(self.values)
        return tuple(LeafType(tuple(x.shape), x.dtype) for x in leaves)

    @property
    def structure(self) -> Any:
        """The tree of the values."""
        return jax.tree.structure(self.values)


def require_real(who: str, outputs: Any) -> None:
    """Refuses complex outputs."""
    for x in jax.tree.leaves(outputs):
        if kind_of(x) == "complex":
            fail(
                who,
                f"`func` must return real arrays, got {describe(x)}",
                hint="functx.jacfwd and jacrev take complex outputs",
                error=TypeError,
            )


def size_of(who: str, types: Sequence[LeafType]) -> int:
    """How many elements the leaves have together; a symbolic size is refused."""
    for x in types:
        if not all(isinstance(n, int) for n in x.shape):
            fail(who, f"a pattern needs sizes that are numbers, got {x!r}", error=ValueError)
    return sum(math.prod(x.shape) for x in types)


def pushed(
    of: DerivativeOf, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], list[LeafType]]:
    """The derivative along tangents as a function of `(tangents, primals, other arrays)`.

    Returned with the types of its arguments; the last result are the types of the outputs, once it
    was traced.
    """
    call, others = of.at(args, kwargs), partition((args, kwargs))
    likes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in call.inputs]
    found: list[LeafType] = []

    def tangents(dots: Sequence[Any], primals: Sequence[Any], arrays: Sequence[Any]) -> Any:
        primals = call.structure.unflatten(primals)
        at = of.at(*others.whole(arrays))
        output, moved = jax.jvp(at.function, primals, call.structure.unflatten(dots))
        require_real(of.who, output)
        found[:] = leaf_types(output)[0]
        return jax.tree.leaves(moved)

    specs = likes, likes, [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in others.arrays]
    return tangents, specs, found



"""A call of a function whose sparse derivative is wanted."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import jax

from functx._core import describe, fail
from functx._transforms.arguments import (
    Argnums,
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


DerivativeKind: TypeAlias = Literal["jacobian", "hessian"]


@dataclasses.dataclass(frozen=True)
class DerivativeOf:
    """Whose derivative is wanted: a function of the arguments that `argnums` names."""

    who: str
    func: Callable[..., Any]
    argnums: Argnums
    kind: DerivativeKind

    @classmethod
    def checked(cls, who: str, func: Any, argnums: Any, kind: DerivativeKind) -> DerivativeOf:
        """The same, refused where no call could make sense of it."""
        who = f"sparsity.{who}"
        require_callable(who, func)
        checked_argnums(who, argnums)
        return cls(who, func, argnums, kind)

    @property
    def several(self) -> bool:
        """Whether the arguments are a tuple, and so the derivatives."""
        return isinstance(self.argnums, tuple)

    def at(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DerivativeCall:
        """A call of the function, or rather of its gradient for a Hessian."""
        which = checked_argnums(self.who, self.argnums)
        function, values, paths = pick(self.who, self.func, which, args, kwargs)
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
            which = tuple(range(len(values))) if self.several else 0
            compute = gradients_of(self.who, function, which, False)
            return DerivativeCall(self.who, lambda *xs: compute(xs, {})[0], values)
        function = checking(self.who, function, False, _require_real)
        return DerivativeCall(self.who, function, values)

    def key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a plan depends on in a call: the shapes and dtypes of arrays, and other leaves.

        None where another leaf cannot be part of a key.
        """
        leaves, structure = jax.tree.flatten((args, kwargs))
        kept = tuple(
            (type(x), x) if kind_of(x) == "other" or is_python_number(x) else LeafType.of(x)
            for x in leaves
        )
        try:
            hash((kept, structure))
        except TypeError:
            return None
        return kept, structure


@dataclasses.dataclass(frozen=True)
class DerivativeCall:
    """A function of real arrays that returns real arrays, and the values at which it is called."""

    who: str
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


def _require_real(who: str, output: Any) -> None:
    require_differentiable_output(who, output)
    for x in jax.tree.leaves(output):
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


def likes(types: Sequence[Any]) -> list[jax.ShapeDtypeStruct]:
    """The same types as JAX takes them for arguments."""
    return [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in types]


@dataclasses.dataclass(frozen=True)
class LinearProgram:
    """A derivative as a function to record: of vectors, of primals and of all other arrays.

    It is linear in the vectors, of whose elements the patterns are made.
    """

    function: Callable[..., Any]
    vectors: tuple[LeafType, ...]
    specs: tuple[Any, ...]


def pushing(of: DerivativeOf, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LinearProgram:
    """The derivative along tangents of the inputs."""
    call, others = of.at(args, kwargs), partition((args, kwargs))

    def function(dots: Sequence[Any], primals: Sequence[Any], arrays: Sequence[Any]) -> Any:
        at = of.at(*others.whole(arrays)).function
        whole = call.structure.unflatten
        return jax.tree.leaves(jax.jvp(at, whole(primals), whole(dots))[1])

    specs = likes(call.inputs), likes(call.inputs), likes(others.arrays)
    return LinearProgram(function, call.inputs, specs)


def pulling(of: DerivativeOf, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LinearProgram:
    """The derivative along cotangents of the outputs."""
    call, others = of.at(args, kwargs), partition((args, kwargs))
    values = call.structure.unflatten(likes(call.inputs))
    outputs, structure = leaf_types(jax.eval_shape(call.function, *values))

    def function(cotangents: Sequence[Any], primals: Sequence[Any], arrays: Sequence[Any]) -> Any:
        at = of.at(*others.whole(arrays)).function
        pull = jax.vjp(at, *call.structure.unflatten(primals))[1]
        return jax.tree.leaves(pull(structure.unflatten(cotangents)))

    specs = likes(outputs), likes(call.inputs), likes(others.arrays)
    return LinearProgram(function, outputs, specs)

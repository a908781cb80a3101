"""A call of a function that is differentiated, checked, and recorded as a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from functx._core import describe, fail
from functx._transforms.arguments import (
    Argnums,
    checked_argnums,
    differentiable,
    kind_of,
    leaves_with_paths,
    pick,
    require_bools,
    require_callable,
)
from functx._transforms.chunking import require_chunk_size
from functx._transforms.outputs import checking, require_differentiable_output
from functx._transforms.programs.recording import record, RecordedProgram
from functx._transforms.tangents import leaf_types, LeafType


class DifferentiatedCall(NamedTuple):
    """A call as a program of the leaves of its differentiated arguments.

    - `program`: it returns the leaves of the output, then those of the aux that are arrays.
    - `values`: a tuple of these arguments, and `structure` its tree; `types` are its leaves'.
    - `count`: how many leaves the output has.
    """

    program: RecordedProgram
    values: tuple[Any, ...]
    types: tuple[LeafType, ...]
    structure: Any
    count: int
    has_aux: bool

    def output(self, arrays: Sequence[Any]) -> Any:
        """The output of `func` made of arrays, without its aux."""
        output = self.program.output(arrays)
        return output[0] if self.has_aux else output

    @property
    def output_structure(self) -> Any:
        structure = self.program.outputs.structure
        return structure.children()[0] if self.has_aux else structure

    def by_output(self, blocks: Sequence[Sequence[Any]], argnums: Argnums) -> Any:
        """A block for each leaf of the output and of the arguments, nested as by `jacfwd`."""
        trees = [self.structure.unflatten(of_output) for of_output in blocks]
        trees = trees if isinstance(argnums, tuple) else [x for (x,) in trees]
        return self.output_structure.unflatten(trees)


def recorded_call(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> DifferentiatedCall:
    """The call `func(*args, **kwargs)`, whose arguments `argnums` must be real."""
    which = checked_argnums(who, argnums)
    function, values, paths = pick(who, func, which, args, kwargs)
    values = differentiable(who, values, paths).values
    require_real(who, values, paths)
    function = checking(who, function, has_aux, require_differentiable_output)
    program = record(function, *values)
    types, structure = leaf_types(values)
    outputs = program.outputs.structure
    count = (outputs.children()[0] if has_aux else outputs).num_leaves
    return DifferentiatedCall(program, values, types, structure, count, has_aux)


def require_real(who: str, values: tuple[Any, ...], paths: tuple[str, ...]) -> None:
    """Refuses complex arguments, along which second derivatives are not one number."""
    for at, x in leaves_with_paths(values, paths):
        if kind_of(x) == "complex":
            fail(
                who,
                f"`{at}` must be real, got {describe(x)}",
                hint="take its real and imaginary parts as two arguments",
                error=TypeError,
            )


def require_options(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    chunk_size: int | str | None,
    max_bytes: int | None,
    **bools: bool,
) -> None:
    """Refuses what no call could make sense of."""
    require_callable(who, func)
    require_bools(who, **bools)
    require_chunk_size(who, chunk_size, max_bytes)
    checked_argnums(who, argnums)

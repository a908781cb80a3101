"""What a graph takes and returns: trees, types and paths."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import jax

from functx._core import describe, fail
from functx._core.jax_compat import ClosedJaxpr
from functx._transforms.programs.partition import array_paths, is_array, Partition, partition
from functx._transforms.programs.walking import opened


@dataclasses.dataclass(frozen=True, eq=False)
class GraphSignature:
    """The trees of a graph's arguments and of its result, and what their arrays are called.

    - `given`: the pair of the arguments and keyword arguments, whose arrays are
      `jax.ShapeDtypeStruct`s; `outputs`: the result, without arrays.
    - `input_paths`, `output_paths`: such as `args[0]['w']`.
    """

    given: Partition
    outputs: Partition
    input_paths: tuple[str, ...]
    output_paths: tuple[str, ...]

    @property
    def is_symbolic(self) -> bool:
        """Whether a size of an input is symbolic."""
        return any(not isinstance(n, int) for x in self.given.arrays for n in x.shape)

    def arrays_of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arrays in the arguments of a call, which must be like those of the graph."""
        called = partition((args, dict(kwargs)), _stands_for_array)
        if called.structure != self.given.structure:
            self._refuse_structure(args, kwargs)
        for here, there in zip(called.rest, self.given.rest, strict=True):
            if here is not there and not (type(here) is type(there) and here == there):
                self._refuse_constant(called, here, there)
        for path, x, spec in zip(self.input_paths, called.arrays, self.given.arrays, strict=True):
            if not _fits(x, spec):
                message = f"`{path}` must be {describe(spec)}, as it was traced, got {describe(x)}"
                hint = "trace the function again at these arguments, or with symbolic sizes"
                fail("graph", message, hint=hint, error=TypeError)
        return called.arrays

    def _refuse_structure(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> NoReturn:
        there = self.given.structure
        here = jax.tree.structure((args, dict(kwargs)))
        fail("graph", f"the arguments must form the tree {there}, got {here}", error=TypeError)

    def _refuse_constant(self, called: Partition, here: Any, there: Any) -> NoReturn:
        paths = array_paths(called)
        if len(paths) != len(self.input_paths):
            message = f"the arguments must have arrays at {', '.join(self.input_paths) or 'none'}"
            fail("graph", f"{message}, got {', '.join(paths) or 'none'}", error=TypeError)
        message = f"a constant of the graph must be {describe(there)}, got {describe(here)}"
        hint = "what is no array was fixed when the function was traced"
        fail("graph", message, hint=hint, error=TypeError)


def flat_signature(
    program: ClosedJaxpr, input_paths: Iterable[str], output_paths: Iterable[str]
) -> GraphSignature:
    """The signature of a graph that takes arrays, and returns a tuple of arrays."""
    jaxpr, _ = opened(program)
    specs = tuple(spec_of(x.aval) for x in jaxpr.invars)
    given = partition((specs, {}), is_spec)
    marks = tuple(spec_of(x.aval) for x in jaxpr.outvars)
    outputs = partition(marks, is_spec)._replace(arrays=[])
    return GraphSignature(given, outputs, tuple(input_paths), tuple(output_paths))


def is_spec(x: Any) -> bool:
    """Whether `x` stands for an array, by its shape and dtype."""
    return isinstance(x, jax.ShapeDtypeStruct)


def spec_of(x: Any) -> jax.ShapeDtypeStruct:
    """The shape and dtype of an array, or of what stands for one."""
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def _stands_for_array(x: Any) -> bool:
    return is_array(x) or is_spec(x)


def _fits(x: Any, spec: Any) -> bool:
    same = [not isinstance(n, int) or m == n for m, n in zip(x.shape, spec.shape, strict=False)]
    return x.dtype == spec.dtype and len(x.shape) == len(spec.shape) and all(same)

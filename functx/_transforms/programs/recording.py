"""A function as a program of arrays, and objects that hold one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn, Self

import jax
from jax import Array

from functx._core import fail
from functx._core.jax_compat import ClosedJaxpr, Jaxpr, jaxpr_as_fun
from functx._transforms.arguments import kind_of
from functx._transforms.numbers import array_of_program, as_array
from functx._transforms.outputs import is_key

from .partition import Partition, partition


@dataclasses.dataclass(frozen=True, eq=False)
class RecordedProgram:
    """A function of arrays of given types, as `record` returns it.

    - `closed`: the program, with its constants; they are `jaxpr` and `consts` too.
    - `inputs`: the tree of the arguments.
    - `outputs`: what the function returned, without the arrays.
    """

    closed: ClosedJaxpr
    inputs: Any  # a `PyTreeDef`, of which type checkers know nothing
    outputs: Partition

    @property
    def jaxpr(self) -> Jaxpr:
        return self.closed.jaxpr

    @property
    def consts(self) -> Sequence[Any]:
        return self.closed.consts

    def __call__(self, *args: Any) -> Any:
        """What the function returns for `args`, trees like those that it was recorded with."""
        return self.output(jaxpr_as_fun(self.closed)(*self.inputs.flatten_up_to(args)))

    def output(self, arrays: Sequence[Any]) -> Any:
        """The output that consists of `arrays`, the program's results."""
        return output_of(self.outputs, arrays)


def record(
    func: Callable[..., Any], *specs: Any, names: Sequence[tuple[Any, int]] = ()
) -> RecordedProgram:
    """The program of `func(*specs)`, and the output, whatever leaves it has.

    Numbers that `func` returns become arrays of the default dtype, and no result is weakly typed.

    - `specs`: trees of arrays or of `jax.ShapeDtypeStruct`s.
    - `names`: the axes that collectives in `func` may cross, with their sizes.
    """
    found: list[Partition] = []

    def function(*args: Any) -> list[Array]:
        returned = partition(func(*args), _has_values)
        found[:] = [returned._replace(arrays=[])]
        return [*map(as_array, returned.arrays)]

    closed = jax.make_jaxpr(function, axis_env=names)(*specs)
    return RecordedProgram(closed, jax.tree.structure(specs), found[0])


def output_of(outputs: Partition, arrays: Sequence[Any]) -> Any:
    """The output of a recorded function that consists of `arrays`, the program's results."""
    return outputs.whole([x if x is None else array_of_program(x) for x in arrays])


def _has_values(x: Any) -> bool:
    return kind_of(x) != "other" or is_key(x)


class HoldsProgram:
    """An object that never changes, is its own copy, and is not pickled, as JAX's programs are not.

    - `made_by`: the transform that returns it; `remedy`: what can be done instead.
    """

    made_by: ClassVar[str]
    remedy: ClassVar[str]

    def __reduce__(self) -> NoReturn:
        fail(
            self.made_by,
            f"what it returns, a {type(self).__name__}, holds a recorded program, and cannot be "
            "pickled",
            hint=self.remedy,
            error=TypeError,
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

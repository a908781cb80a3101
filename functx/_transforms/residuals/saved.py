"""What the backward pass of a function keeps, read off its recorded program."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax

from functx._core import describe
from functx._core.context.grad_modes import without_grad_mode
from functx._transforms.arguments import kind_of, leaves_with_paths, require_callable
from functx._transforms.numbers import as_array
from functx._transforms.outputs import checking, require_arrays
from functx._transforms.programs.grouping import common_name, grouped, numbers_apart, sums, times
from functx._transforms.programs.labels import Line

from .origins import InnerProgram, Origin


__all__ = ["saved_residuals"]


@dataclasses.dataclass(frozen=True)
class SavedResidual:
    """One array that a backward pass keeps.

    - `like`: its shape and dtype; `bytes`: how many it takes.
    - `origin`: `"argument"`, `"constant"` or `"operator"`, what made it.
    - `name`: the argument by its path, `args[0]['w']`; or the operator, as the catalog calls it.
    - `line`: the line of your code at which the operator was called, if there is one.
    """

    like: jax.ShapeDtypeStruct
    origin: Literal["argument", "constant", "operator"]
    name: str
    line: Line | None

    @property
    def bytes(self) -> int:
        return math.prod(self.like.shape) * getattr(self.like.dtype, "itemsize", 0)

    def __str__(self) -> str:
        return _row([self])


def _kind(one: SavedResidual) -> tuple[Any, ...]:
    """What residuals of one line have in common; paths in one argument may differ in numbers."""
    argument, _, path = one.name.partition("]")
    name = (argument, numbers_apart(path)) if one.origin == "argument" else one.name
    return describe(one.like), one.origin, name, one.line


def _row(alike: Sequence[SavedResidual], width: int = 16) -> str:
    """The line of the table for residuals that differ in numbers in their names alone."""
    one, line = alike[0], alike[0].line
    name = f"{one.origin} {common_name([r.name for r in alike])}".rstrip()
    name += f", {line}" if line else ""
    kind = times(len(alike), describe(one.like))
    return f"{sum(r.bytes for r in alike):>14,}  {kind:<{width}}  {name}"


class SavedResiduals(tuple[SavedResidual, ...]):
    """What a backward pass keeps; printed, a table, the largest first, what is alike together."""

    __slots__ = ()

    @property
    def bytes(self) -> int:
        """How many bytes it keeps in all."""
        return sum(residual.bytes for residual in self)

    def __repr__(self) -> str:
        rows = grouped(self, _kind)
        rows.sort(key=lambda alike: -sum(r.bytes for r in alike))
        kinds = [times(len(alike), describe(alike[0].like)) for alike in rows]
        width = max(map(len, kinds), default=0)
        each = [(alike[0].name, sum(r.bytes for r in alike)) for alike in rows]
        made = [alike[0].origin == "operator" for alike in rows]
        totals = sums(row for row, is_made in zip(each, made, strict=True) if is_made)
        return "\n".join(
            [
                "         bytes  kept",
                *(_row(alike, max(16, width)) for alike in rows),
                *(f"{n:>14,}  in all by {name}" for name, n in totals.items()),
                f"{self.bytes:>14,}  in all",
            ]
        )


@without_grad_mode
def saved_residuals(func: Callable[..., Any], *args: Any, **kwargs: Any) -> SavedResiduals:
    """What the backward pass of `func(*args, **kwargs)` keeps: arrays, their origins and bytes.

    - `func`: a function of any trees, differentiated by all real and complex arguments; close over
      arguments that are not to be differentiated.
    - `args`, `kwargs`: its arguments, of any shapes and dtypes. `jax.ShapeDtypeStruct`s may stand
      for arrays, since nothing is computed; Python integers and what is no array are taken as they
      are.

    `func` is recorded, as by `jax.jit`. An argument that is kept counts once, though the caller
    holds it anyway. What operators keep inside `jit`, `checkpoint`, `scan` and `cond` is told by
    operator and line too. Hooks in force are not looked at.

    Errors: those that `func` raises while it is recorded; TypeError for outputs that are no arrays.

    >>> x = jnp.ones(3, "float32")
    >>> residuals = functx.residuals.saved_residuals(lambda x: functx.sin(x) * x, x)
    >>> [(r.origin, r.name, r.bytes) for r in residuals]
    [('argument', 'args[0]', 12), ('operator', 'sin', 12)]
    >>> functx.residuals.saved_residuals(lambda x: x + 1, x).bytes
    0
    """
    require_callable("saved_residuals", func)
    leaves, structure = jax.tree.flatten((args, kwargs))
    names = [
        ("args" if path.startswith("[0]") else "kwargs") + path[len("[0]") :]
        for path, _ in leaves_with_paths(((args, kwargs),), ("",))
    ]
    kinds = ["static" if isinstance(x, int) else kind_of(x) for x in leaves]
    active = [i for i, kind in enumerate(kinds) if kind in ("real", "complex")]
    fixed = [i for i, kind in enumerate(kinds) if kind == "integer"]

    def program(primals: list[Any], others: list[Any]) -> Any:
        def function(*primals: Any) -> Any:
            filled = list(leaves)
            for i, x in zip(active + fixed, [*primals, *others], strict=True):
                filled[i] = x
            args, kwargs = structure.unflatten(filled)
            return func(*args, **kwargs)

        checked = checking("saved_residuals", function, False, require_arrays)
        return jax.vjp(checked, *primals)[1]

    given = [as_array(leaves[i]) for i in active], [leaves[i] for i in fixed]
    jaxpr = jax.make_jaxpr(program)(*given).jaxpr
    arguments = [Origin("argument", names[i], None) for i in active + fixed]
    scope = InnerProgram(jaxpr, [lambda origin=origin: origin for origin in arguments])
    kept: list[SavedResidual] = []
    for x in jaxpr.outvars:
        origin = scope.origin(x)
        like = jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype)
        kept.append(SavedResidual(like, origin.kind, origin.name, origin.line))
    return SavedResiduals(kept)

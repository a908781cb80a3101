"""Gradients of arguments on which nothing depends: zeros, `None`, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax

from functx._core import describe, fail
from functx._core.jax_compat import ClosedJaxpr, jaxpr_as_fun

from .programs.dependence import depending_outputs


Unused = Literal["zeros", "none", "error"]


def require_unused(who: str, unused: Any) -> None:
    """Refuses an `unused` that is not "zeros", "none" or "error"."""
    if unused not in ("zeros", "none", "error"):
        fail(
            who,
            f"`unused` must be 'zeros', 'none' or 'error', got {describe(unused)}",
            error=ValueError,
        )


class Recorded(NamedTuple):
    """A linear map as a program of the leaves of its argument."""

    program: ClosedJaxpr
    structure: Any

    @classmethod
    def of(cls, linear: Callable[[Any], Any], tree: Any) -> tuple[Recorded, list[Any]]:
        """The program of `linear`, and the leaves of `tree`, which it takes."""
        leaves, structure = jax.tree.flatten(tree)
        active = [i for i, x in enumerate(leaves) if x.dtype != jax.dtypes.float0]

        def flat(*moved: Any) -> Any:
            full = list(leaves)
            for i, x in zip(active, moved, strict=True):
                full[i] = x
            return linear(structure.unflatten(full))

        moved = [leaves[i] for i in active]
        program, shapes = jax.make_jaxpr(flat, return_shape=True)(*moved)
        return cls(program, jax.tree.structure(shapes)), moved

    def __call__(self, *leaves: Any) -> list[Any]:
        """The leaves of the map's result."""
        return jaxpr_as_fun(self.program)(*leaves)

    def depends(self, on: int | None = None) -> list[bool]:
        """For each leaf of the result, whether it depends on leaf `on` of the argument, or any."""
        jaxpr = self.program.jaxpr
        marks = None if on is None else [i == on for i in range(len(jaxpr.invars))]
        return depending_outputs(jaxpr, marks)


def pulled(
    who: str,
    pull: Callable[[Any], tuple[Any, ...]],
    cotangents: Any,
    unused: Unused,
    paths: tuple[str, ...],
) -> tuple[Any, ...]:
    """`pull(cotangents)`, where a gradient that no cotangent can change is as `unused` says.

    That is read off the program of `pull`, which for this is recorded first, not off values.
    """
    if unused == "zeros":
        return pull(cotangents)
    program, leaves = Recorded.of(pull, cotangents)
    gradients, depends = program(*leaves), program.depends()
    if unused == "error" and not all(depends):
        name = unused_path(program.structure, depends, paths)
        fail(
            who,
            f"`{name}` is unused: no output of `func` depends on it",
            hint="unused='none' gives None for its gradient, unused='zeros' zeros",
        )
    return program.structure.unflatten(
        [x if used else None for x, used in zip(gradients, depends, strict=True)]
    )


def unused_path(structure: Any, depends: list[bool], paths: tuple[str, ...]) -> str:
    """The path of the first leaf that is not used, `paths` being those of a tuple's entries."""
    marked = jax.tree_util.tree_leaves_with_path(structure.unflatten(depends))
    (first, *rest), _ = next(leaf for leaf in marked if not leaf[1])
    return paths[first.idx] + jax.tree_util.keystr(tuple(rest))

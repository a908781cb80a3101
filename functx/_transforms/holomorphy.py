"""Which pairs of real and complex have a Jacobian that one pass per element can give."""

from __future__ import annotations

from typing import Any

import jax

from functx._core import describe, fail

from .arguments import kind_of, leaves_with_paths
from .outputs import path_of_output


def require_reverse_pairs(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], output: Any
) -> None:
    """No complex output of a real input: one pullback gives the real part of its row only."""
    _require(
        who,
        values,
        paths,
        output,
        lambda out, x: out == "complex" and x == "real",
        "use jacfwd, or return the real and the imaginary part",
    )


def require_forward_pairs(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], output: Any
) -> None:
    """No real output of a complex input: its derivative along 1 says nothing about along i."""
    _require(
        who,
        values,
        paths,
        output,
        lambda out, x: out == "real" and x == "complex",
        "use jacrev or grad, or take the real and the imaginary part as inputs",
    )


def require_holomorphic_pairs(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], output: Any
) -> None:
    """All real or all complex: a real function of complex inputs has no complex Hessian."""
    _require(
        who,
        values,
        paths,
        output,
        lambda out, x: out != x,
        "use hvp, or real and imaginary parts as inputs",
    )


def _require(
    who: str, values: tuple[Any, ...], paths: tuple[str, ...], output: Any, bad: Any, hint: str
) -> None:
    kinds = {kind_of(x) for x in jax.tree.leaves(values)}
    if len(kinds) == 1 and kinds == {kind_of(y) for y in jax.tree.leaves(output)}:
        return
    for path, y in jax.tree_util.tree_leaves_with_path(output):
        for at, x in leaves_with_paths(values, paths):
            if bad(kind_of(y), kind_of(x)):
                fail(
                    who,
                    f"`{path_of_output(path)}` is {kind_of(y)}, {describe(y)}, while `{at}` is "
                    f"{kind_of(x)}, {describe(x)}",
                    hint=hint,
                    error=TypeError,
                )

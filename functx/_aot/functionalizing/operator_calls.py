"""Operators called with mutable arrays among their arguments, and what they write on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from functx._core import OPERATORS, OpSpec, refuse

from .in_place import write_result
from .views import View


def call_operator(
    spec: OpSpec,
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    view_of: Callable[[Any], View | None],
) -> Any:
    """RunningCalls an operator with the arrays that mutable ones hold; it gives plain arrays.

    With `inplace=True`, or `out=` a mutable array, the result is written to it, and comes back as
    it. So are running statistics in training, as PyTorch does.
    """
    out = kwargs.get("out")
    if view_of(out) is not None:
        result = call_operator(
            spec, call, args, {k: v for k, v in kwargs.items() if k != "out"}, view_of
        )
        return _written(spec, out, result, view_of)
    given = _named(spec, args, kwargs)
    if given.get("inplace") is True:
        target = given[spec.parameters.positional[0]]
        plain_args, plain_kwargs = _plain((), given | {"inplace": False})
        return _written(spec, target, call(*plain_args, **plain_kwargs), view_of)
    _refuse_hidden_write(spec, given, view_of)
    with_stats = OPERATORS.get(f"{spec.name}_with_stats")
    if with_stats is None:
        plain_args, plain_kwargs = _plain(args, kwargs)
        return call(*plain_args, **plain_kwargs)
    _, plain = _plain((), given)
    output, *stats = with_stats(**plain)
    for name, value in zip(("running_mean", "running_var"), stats, strict=True):
        if (view := view_of(given.get(name))) is not None:
            write_result(view, value)
    return output


def _named(spec: OpSpec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name where the operator may write one of them, nothing otherwise."""
    if spec.roles.keys().isdisjoint(("inplace", "running_mean", "max_norm")):
        return {}
    renamed = spec.parameters.renamed(kwargs)
    if spec.other_signatures is not None:
        args, renamed = spec.other_signatures(args, renamed)
    return spec.parameters.bound(args, renamed)


def _plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return jax.tree.map(lambda x: x, (args, kwargs))  # to trees a mutable array is what it holds


def _written(spec: OpSpec, target: Any, result: Any, view_of: Callable[[Any], View | None]) -> Any:
    view = view_of(target)
    if view is None:
        return result
    write_result(view, result, spec.name)
    return target


def _refuse_hidden_write(
    spec: OpSpec, given: dict[str, Any], view_of: Callable[[Any], View | None]
) -> None:
    """Refuses what PyTorch writes besides, where the operator does not give it as a result."""
    if given.get("max_norm") is not None and view_of(given.get("weight")) is not None:
        refuse(
            "`max_norm` renormalizes rows of `weight` in place in PyTorch, and only for the result "
            "here",
            hint="write them first: weight[rows] = functx.renorm(weight[rows], p, 0, max_norm), "
            "and leave max_norm out",
        )
    stats = view_of(given.get("running_mean")) is not None and given.get("training")
    if stats and f"{spec.name.removesuffix('_with_stats')}_with_stats" not in OPERATORS:
        refuse(
            "running statistics are not written by this operator",
            hint="functx.nn.functional.batch_norm writes them",
        )

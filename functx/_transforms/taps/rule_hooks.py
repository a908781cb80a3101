"""Hooks around the backward passes of operators."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Collection, Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import describe, fail, nearest, REGISTRY
from functx._core.devices.manual_axes import axes_of_type, varying_over
from functx._core.jax_compat import Jaxpr, JaxprEqn
from functx._core.randomness.ambient_generator import drawing, recording
from functx._core.rules.tangent_types import inexact
from functx._transforms.arguments import require_callable
from functx._transforms.concretization import tracing
from functx._transforms.conjugation import conjugate
from functx._transforms.numbers import array_of_program
from functx._transforms.programs.interpreting import bind
from functx._transforms.programs.labels import label_of, operator_of, outside_operators
from functx._transforms.programs.recording import record
from functx._transforms.programs.walking import dropped, equations, type_of

from .primitive import CotangentHook, Cotangents, Tap, tap_point
from .replay import can_enter, replay, Supplies
from .tap import replaced, require_hook, require_order


__all__ = ["with_rule_hooks"]

Pre = Callable[[str, Cotangents], Cotangents | None]
Post = Callable[[str, Cotangents, Cotangents], Cotangents | None]
RuleChoice = str | Collection[str] | Callable[[str], bool]


def with_rule_hooks(
    func: Callable[..., Any],
    *,
    pre: Pre | None = None,
    post: Post | None = None,
    where: RuleChoice | None = None,
    order: int | None = None,
) -> Callable[..., Any]:
    """`func`, with functions called before and after the backward pass of its operators.

    - `pre(name, cotangents)`: is called before, with a tuple of the cotangents of the operator's
      outputs. A tuple like it that it returns takes its place.
    - `post(name, gradients, cotangents)`: is called after, with a tuple of what the operator adds
      to the gradients of its array arguments, and that of the cotangents after `pre`. A tuple
      like `gradients` that it returns takes its place.
    - `where`: a name, several, or a predicate of names. Operators have their full ones
      (`"sin"`, `"nn.functional.gelu"`), functions with own derivative rules theirs, all else that
      of JAX's primitive (`"dot_general"`). By default all operators. A name that is no operator's
      must be of something that `func` calls.
    - `order`: the derivative to which the hooks belong: `1` is the innermost `grad`, `2` that
      around it. None is all.

    `None` stands in the tuples where no gradient arrives or is asked for. In one backward pass
    come first the hooks of taps on the operator's outputs, then `pre`, the operator's own
    derivative, `post`, and then the taps on its arguments. Complex cotangents follow PyTorch.

    `func` is recorded as by `jax.jit`; what it calls by `jit`, `vmap`, `scan`, `cond` and
    `checkpoint` is entered; a `while_loop`, a `shard_map` and a function with a derivative rule
    are not.

    Errors: ValueError for a name that is neither an operator's nor of anything that is called.

    >>> def halved(name, cotangents):
    ...     return tuple(g / 2 for g in cotangents)
    >>> f = functx.taps.with_rule_hooks(lambda x: functx.sin(x) + x, pre=halved, where="sin")
    >>> functx.grad(f)(jnp.float32(0))
    Array(1.5, dtype=float32)
    """
    require_callable("with_rule_hooks", func)
    require_hook("with_rule_hooks", "pre", pre)
    require_hook("with_rule_hooks", "post", post)
    require_order("with_rule_hooks", order)
    where = _named(where)
    asked = _asked(where)

    def visit(eqn: JaxprEqn, operands: list[Any], _: Supplies) -> tuple[list[Any], Supplies]:
        return _hooked(eqn, [*map(array_of_program, operands)], pre, post, order), {}

    @ft.wraps(func)
    def function(*args: Any, **kwargs: Any) -> Any:
        def compute(draw: Any) -> tuple[Any, Any]:
            call = recording(lambda: tracing("with_rule_hooks", func, *args, **kwargs))
            recorded = record(call, draw)
            if isinstance(where, frozenset):
                _require_known(where, recorded.jaxpr)
            leaves = jax.tree.leaves(draw)
            results, _ = replay(recorded, leaves, asked, visit, {}, _may_enter)
            return recorded.output(results)

        return drawing(compute)

    return function


def _named(where: RuleChoice | None) -> frozenset[str] | Callable[[str], bool] | None:
    if where is None or callable(where):
        return where
    names = (where,) if isinstance(where, str) else where
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        fail(
            "with_rule_hooks",
            f"`where` must be a name, names or a function of names, got {describe(where)}",
            error=TypeError,
        )
    return frozenset(names)


def _require_known(names: frozenset[str], program: Jaxpr) -> None:
    strange = names - REGISTRY.keys()
    if not strange:
        return
    called = {label_of(eqn) for eqn in equations(program, outside_operators)}
    for name in sorted(strange - called):
        fail(
            "with_rule_hooks",
            f"`where` names {name!r}, which is no operator, and nothing that `func` calls",
            hint=nearest(name, sorted(REGISTRY.keys() | called)),
            error=ValueError,
        )


def _asked(where: frozenset[str] | Callable[[str], bool] | None) -> Callable[[JaxprEqn], bool]:
    if where is None:
        return lambda eqn: operator_of(eqn) is not None
    chosen = where.__contains__ if isinstance(where, frozenset) else where
    return lambda eqn: not _may_enter(eqn) and bool(chosen(label_of(eqn)))


def _may_enter(eqn: JaxprEqn) -> bool:
    return can_enter(eqn) and operator_of(eqn) is None  # operators stay whole


def _hooked(
    eqn: JaxprEqn, operands: list[Array], pre: Pre | None, post: Post | None, order: int | None
) -> list[Any]:
    """The results of `eqn` for `operands`, computed between two taps.

    The tap behind it hands the cotangents to the one before along carriers, zeros in between.
    """
    name, count = label_of(eqn), len(operands)
    slots = [i for i, y in enumerate(eqn.outvars) if inexact(type_of(y)) and not dropped(y)]
    if not slots:
        return bind(eqn, operands)
    carriers: list[Array] = []
    if post is not None:
        avals = [type_of(eqn.outvars[i]) for i in slots]
        carriers = [
            varying_over(jnp.zeros(aval.shape, aval.dtype), axes_of_type(aval)) for aval in avals
        ]
        tap = Tap(_before(name, post, count, slots), order, carriers=len(slots))
        entered = tap_point.bind(*operands, *carriers, tap=tap, depth=0)
        operands, carriers = entered[:count], entered[count:]
    results = bind(eqn, operands)
    tap = Tap(_behind(name, pre, slots), order)
    outputs = tap_point.bind(*[results[i] for i in slots], *carriers, tap=tap, depth=0)
    for i, y in zip(slots, outputs, strict=False):
        results[i] = y
    return results


def _behind(name: str, pre: Pre | None, slots: list[int]) -> CotangentHook:
    def hook(cotangents: Cotangents) -> Cotangents:
        given = conjugate(_in_slots(cotangents, slots))
        if pre is not None:
            call = "pre(name, cotangents)"
            given = replaced("with_rule_hooks", call, given, pre(name, given))
        back = conjugate(tuple(given[i] for i in slots))
        return (*back, *back)[: len(cotangents)]  # a second time for the carriers, if there are

    return hook


def _before(name: str, post: Post, count: int, slots: list[int]) -> CotangentHook:
    def hook(cotangents: Cotangents) -> Cotangents:
        gradients = conjugate(cotangents[:count])
        given = conjugate(_in_slots(cotangents[count:], slots))
        call, got = "post(name, gradients, cotangents)", post(name, gradients, given)
        return (
            *conjugate(replaced("with_rule_hooks", call, gradients, got)),
            *cotangents[count:],
        )

    return hook


def _in_slots(cotangents: Cotangents, slots: list[int]) -> Cotangents:
    """The first of `cotangents`, one for each of `slots`, each at its output's place."""
    at = dict(zip(slots, cotangents, strict=False))
    return tuple(at.get(i) for i in range(max(slots) + 1))

"""Points at which cotangents can be seen and changed on their way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import describe, fail, foreign_hint
from functx._core.context.grad_modes import apply_grad_mode
from functx._transforms.arguments import kind_of, leaves_with_paths
from functx._transforms.conjugation import conjugate
from functx._transforms.numbers import as_array
from functx._transforms.outputs import is_key
from functx._transforms.tangents import matched

from .primitive import CotangentHook, Cotangents, Tap, tap_point


__all__ = ["tap", "tap_group"]

T = TypeVar("T")


def tap(
    x: T,
    name: str | None = None,
    *,
    on_grad: Callable[[Any], Any] | None = None,
    order: int | None = None,
) -> T:
    """`x` itself, as a point of the program whose cotangent can be seen, changed and asked for.

    - `x`: an array or a tree of arrays.
    - `name`: what `tap_grads` and `tap_values` call the point.
    - `on_grad(cotangent)`: is called in each backward pass that comes by, with a tree like `x`.
      What it returns goes on in its place: the same tree, shapes and dtypes, or `None` for
      unchanged. Leaves that no gradient reaches are `None`; where none reaches any, nothing is
      called.
    - `order`: `on_grad` belongs to this derivative alone: `1` is the innermost `grad`, `2` that
      around it. By default to all, as with PyTorch's `create_graph=True`.

    Forward mode passes through unchanged, and so does every value. In a backward pass that is not
    compiled `on_grad` sees arrays, in a compiled one it is traced: print with `jax.debug.print`.
    Cotangents follow PyTorch's complex convention.

    Errors: TypeError and ValueError for what `on_grad` returns with another tree, dtype or shape.
    What `on_grad` raises comes out as it is.

    >>> clipped = lambda x: functx.taps.tap(x, on_grad=lambda g: jnp.clip(g, -1, 1)) ** 2
    >>> functx.grad(clipped)(jnp.float32(3))
    Array(1., dtype=float32)
    >>> functx.grad(lambda x: functx.taps.tap(x**2, on_grad=lambda g: 10 * g))(jnp.float32(3))
    Array(60., dtype=float32)
    """
    if name is not None and not isinstance(name, str):
        fail("tap", f"`name` must be a string, got {describe(name)}", error=TypeError)
    require_hook("tap", "on_grad", on_grad)
    require_order("tap", order)
    leaves, tree = _arrays("tap", x)
    hook = None if on_grad is None else _checked(tree, on_grad)
    outputs = tap_point.bind(*leaves, tap=Tap(hook, order, name, tree), depth=0)
    return jax.tree.unflatten(tree, apply_grad_mode(outputs))


def tap_group(
    xs: Sequence[Array],
    fn: Callable[[Any], Any],
    mode: Literal["all", "any"] = "all",
    *,
    order: int | None = None,
) -> tuple[Array, ...]:
    """The arrays `xs` themselves, as one point whose cotangents are seen together.

    - `fn(cotangents)`, with `mode="all"`: is called once in each backward pass that reaches any
      of them, with a list as long as `xs`, `None` where no gradient arrives. It returns a list
      like it, which goes on in its place, or `None`.
    - `fn(cotangent)`, with `mode="any"`: is called once too, with the first of the list that is
      not `None`, and returns one like it, or `None`.
    - `order`: `fn` belongs to this derivative alone: `1` is the innermost `grad`, `2` that around
      it. None is all.

    What counts is the use of what this function returns; of `xs` used otherwise it knows nothing.

    Errors: ValueError for any other mode.

    >>> def same_length(cotangents):
    ...     norm = jnp.sqrt(sum((g**2).sum() for g in cotangents))
    ...     return [g / norm for g in cotangents]
    >>> def loss(x, y):
    ...     x, y = functx.taps.tap_group((x, y), same_length)
    ...     return 3 * x + 4 * y
    >>> functx.grad(loss, argnums=(0, 1))(jnp.float32(0), jnp.float32(0))
    (Array(0.6, dtype=float32), Array(0.8, dtype=float32))
    """
    if mode not in ("all", "any"):
        fail(
            "tap_group",
            f"expected `mode` to be one of ('all', 'any') but got {mode}",
            error=ValueError,
        )
    require_hook("tap_group", "fn", fn)
    require_order("tap_group", order)
    if not isinstance(xs, (tuple, list)):
        fail("tap_group", f"`xs` must be a tuple of arrays, got {describe(xs)}", error=TypeError)
    leaves, tree = _arrays("tap_group", tuple(xs))
    if len(leaves) != len(xs):
        fail(
            "tap_group",
            "`xs` must be a tuple of arrays, got trees among them",
            hint="functx.taps.tap takes a whole tree",
            error=TypeError,
        )
    hook = _together(fn) if mode == "all" else _first(fn)
    outputs = tap_point.bind(*leaves, tap=Tap(hook, order, None, tree), depth=0)
    return tuple(apply_grad_mode(outputs))


def require_hook(who: str, what: str, hook: Any) -> None:
    """Refuses what is neither callable nor `None`."""
    if hook is not None and not callable(hook):
        fail(who, f"`{what}` must be callable, got {describe(hook)}", error=TypeError)


def require_order(who: str, order: Any) -> None:
    """Refuses what is not the number of a derivative, counted from one, nor `None`."""
    if order is not None and (type(order) is not int or order < 1):
        fail(
            who,
            f"`order` must be None or an int from 1 on, got {describe(order)}",
            hint="1 is the innermost derivative",
            error=ValueError,
        )


def replaced(who: str, call: str, given: Any, got: Any) -> Any:
    """What a hook returned for the cotangents `given`: a tree like them, or them for `None`."""
    if got is None:
        return given
    if type(given) in (tuple, list) and isinstance(got, (tuple, list)):
        got = type(given)(got)
    leaves, structure = jax.tree.flatten(given)
    return structure.unflatten(matched(who, call, got, leaves, structure, "the cotangent"))


def _checked(tree: Any, on_grad: Callable[[Any], Any]) -> CotangentHook:
    def hook(cotangents: Cotangents) -> Cotangents:
        given = conjugate(jax.tree.unflatten(tree, cotangents))
        got = conjugate(replaced("tap", "on_grad(cotangent)", given, on_grad(given)))
        return tuple(tree.flatten_up_to(got))

    return hook


def _together(fn: Callable[[Any], Any]) -> CotangentHook:
    def hook(cotangents: Cotangents) -> Cotangents:
        given = conjugate(list(cotangents))
        return tuple(conjugate(replaced("tap_group", "fn(cotangents)", given, fn(list(given)))))

    return hook


def _first(fn: Callable[[Any], Any]) -> CotangentHook:
    def hook(cotangents: Cotangents) -> Cotangents:
        at = next(i for i, ct in enumerate(cotangents) if ct is not None)
        given = conjugate(cotangents[at])
        got = conjugate(replaced("tap_group", "fn(cotangent)", given, fn(given)))
        return (*cotangents[:at], got, *cotangents[at + 1 :])

    return hook


def _arrays(who: str, x: Any) -> tuple[list[Array], Any]:
    """The leaves of `x`, all arrays, and its tree."""
    leaves, tree = jax.tree.flatten(x)
    for leaf in leaves:
        if kind_of(leaf) == "other" and not is_key(leaf):
            at, got = next(pair for pair in leaves_with_paths((x,), ("x",)) if pair[1] is leaf)
            fail(
                who,
                f"`{at}` must be an array, got {describe(got)}",
                hint=foreign_hint(got),
                error=TypeError,
            )
    leaves = map(as_array, leaves)
    return [x if isinstance(x, jax.Array) else jnp.asarray(x) for x in leaves], tree

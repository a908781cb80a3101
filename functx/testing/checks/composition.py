"""Compositions of transforms, by induction on the outermost one.

Its slow definition is a loop, a projection or finite differences; the inner steps are
proved by shorter checks, and `checks.numeric` closes the circle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.opinfo import OpInfo, Sample

from .batching import assert_no_loop, few_batchings, hold_batchings
from .cases import (
    ArrayFunction,
    ArrayList,
    differentiable_case,
    DifferentiableCase,
    inner,
    jvp_of,
    random_like,
    stacked,
    vjp_of,
)
from .compare import assert_close, DERIVATIVES, PRODUCTS
from .own_rules import own_parts
from .programs import CheckProgram, CheckSteps


def scalarised(f: ArrayFunction) -> ArrayFunction:
    """A real scalar whose gradient sees every output."""

    def loss(*xs: jax.Array) -> jax.Array:
        weigh = lambda y: jnp.cos(jnp.arange(y.size, dtype=y.real.dtype)).reshape(y.shape)
        parts = [
            jnp.sum(weigh(y) * (y.real + 2 * y.imag if jnp.iscomplexobj(y) else y)) for y in f(*xs)
        ]
        return (
            sum(p.astype(parts[0].dtype) for p in parts[1:]) + parts[0] if parts[1:] else parts[0]
        )

    return loss


def grad_of(f: ArrayFunction, n: int) -> ArrayFunction:
    """The gradient of the scalarised `f` in every argument."""
    return functx.grad(scalarised(f), tuple(range(n)))


TransformStep = Callable[[ArrayFunction, ArrayList], tuple[ArrayFunction, list[Any]]]


def _vjp_step(
    f: ArrayFunction, xs: Sequence[Any], seed: int = 11
) -> tuple[ArrayFunction, list[Any]]:
    return vjp_of(f, len(xs)), [*xs, *random_like(jax.eval_shape(f, *xs), seed)]


def _jvp_step(
    f: ArrayFunction, xs: Sequence[Any], seed: int = 13
) -> tuple[ArrayFunction, list[Any]]:
    return jvp_of(f, len(xs)), [*xs, *random_like(xs, seed)]


def _grad_step(f: ArrayFunction, xs: Sequence[Any]) -> tuple[ArrayFunction, list[Any]]:
    return grad_of(f, len(xs)), list(xs)


STEPS: dict[str, TransformStep] = {"vjp": _vjp_step, "jvp": _jvp_step, "grad": _grad_step}


def check_projection(info: OpInfo, sample: Sample, transforms: tuple[str, ...]) -> CheckSteps:
    """The outermost derivative against the other mode: `<w, J t> = <J* w, t>` for random `w, t`.

    `("vjp", "jvp")` checks `vjp(jvp(op))`.
    """
    case = differentiable_case(info, sample)
    if case is None:
        return False
    f, xs, what = case.f, case.xs, name_of(transforms, case)
    *inner_steps, outer = reversed(transforms)
    for name in inner_steps:
        f, xs = STEPS[name](f, xs)
    n, tangents = len(xs), random_like(xs, seed=3)
    if outer == "grad":
        f = scalarised(f)
    wrap = (lambda y: (y,)) if outer == "grad" else (lambda y: y)
    g = lambda *xs: wrap(f(*xs))

    def products(xs: ArrayList) -> tuple[Any, ...]:
        out, pushed = functx.jvp(g, tuple(xs), tuple(tangents))
        if outer == "grad":
            weights = [jnp.ones_like(out[0])]
            pulled = functx.grad(f, tuple(range(n)))(*xs)
        else:
            weights = random_like(out, seed=4)
            pulled = vjp_of(f, n)(*xs, *weights)
        # Either sum rounds with its own terms, which may cancel.
        sizes = [
            inner([jnp.abs(a) for a in one], [jnp.abs(b) for b in other])
            for one, other in ((weights, pushed), (tangents, pulled))
        ]
        return inner(weights, pushed), inner(tangents, pulled), jnp.maximum(*sizes)

    [found] = yield [CheckProgram(products)(xs)]
    pushed, pulled, scale = map(float, found)
    dtype = case.xs[0].dtype
    tolerance = PRODUCTS.within(dtype)[0] * float(jnp.finfo(dtype).eps)
    assert np.isfinite(scale) and abs(pushed - pulled) <= tolerance * (1 + scale), (
        f"{what}: <w, J t> = {pushed}, but <J* w, t> = {pulled}"
    )


def check_batched(info: OpInfo, sample: Sample, transforms: tuple[str, ...]) -> CheckSteps:
    """`vmap` of the composition equals a loop over lanes, which is itself, called lane by lane.

    Each array is batched alone, and all are; of two and more derivatives, the inputs or all.
    """
    return (yield from _check_batched(info, sample, transforms, alone=len(transforms) == 1))


def check_batched_once(info: OpInfo, sample: Sample, transforms: tuple[str, ...]) -> CheckSteps:
    """The same; each array alone where a rule of the operator's own may be batched wrongly."""
    return (
        yield from _check_batched(info, sample, transforms, alone=bool(own_parts(info, sample)))
    )


def _check_batched(
    info: OpInfo, sample: Sample, transforms: tuple[str, ...], alone: bool
) -> CheckSteps:
    case = differentiable_case(info, sample)
    if case is None:
        return False
    f, lanes = case.f, case.lanes
    for name in reversed(transforms):
        stepped = [STEPS[name](f, xs) for xs in lanes]
        f = stepped[0][0]
        lanes = [
            [*args[: len(xs)], *random_like(args[len(xs) :], seed=20 + i)]
            for i, ((_, args), xs) in enumerate(zip(stepped, lanes, strict=True))
        ]
    shared: dict[tuple[str, ...], CheckProgram] = {("vjp",): case.pulled, ("jvp",): case.pushed}
    n = len(lanes[0])
    whole = [tuple(0 if i < k else None for i in range(n)) for k in (len(case.xs), n)]
    batchings = few_batchings(n) if alone else list(dict.fromkeys(whole))
    what = name_of(("vmap", *transforms), case)
    one = shared.get(transforms) or CheckProgram(f)
    yield from hold_batchings(one, lanes, what, DERIVATIVES, batchings)
    return True


def check_batching_rule(info: OpInfo, sample: Sample, transforms: tuple[str, ...]) -> bool:
    """Batching the composition adds no loop over lanes."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    f, xs = case.f, case.xs
    for name in reversed(transforms):
        f, xs = STEPS[name](f, xs)
    assert_no_loop(f, xs, name_of(("vmap", *transforms), case))
    return True


def check_batched_cotangents(info: OpInfo, sample: Sample) -> CheckSteps:
    """Many cotangents through one pullback equal one after the other."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    lanes = [random_like(case.outputs, seed=30 + i) for i in range(3)]

    def at_once(xs: ArrayList, cotangents: ArrayList) -> Any:
        _, pull = functx.vjp(case.f, *xs)
        return functx.vmap(lambda *cts: pull(cts))(*cotangents)

    each = [case.pulled(*case.xs, *cts) for cts in lanes]
    got, *rows = yield [CheckProgram(at_once)(case.xs, stacked(lanes)), *each]
    want = jax.tree.map(lambda *ys: np.stack([np.asarray(y) for y in ys]), *rows)
    assert_close(got, want, what=name_of(("vmap", "pullback"), case), close=DERIVATIVES)


def check_over_vmap(info: OpInfo, sample: Sample, transforms: tuple[str, ...]) -> CheckSteps:
    """A composition over `vmap` (innermost) equals the same with loops in place of `vmap`."""
    case = differentiable_case(info, sample)
    if case is None:
        return False

    def build(mapped: Callable[[ArrayFunction], ArrayFunction]) -> tuple[ArrayFunction, list[Any]]:
        f: ArrayFunction = case.f
        xs: list[Any] = []
        for name in reversed(transforms):
            if name == "vmap":
                lanes = [xs, [x[::-1] for x in xs]] if xs else case.lanes[:2]
                f, xs = mapped(f), stacked(lanes)
            else:
                f, xs = STEPS[name](f, xs)
        return f, xs

    (fast, xs), (slow, _) = build(functx.vmap), build(looped)
    got, want = yield [CheckProgram(fast)(*xs), CheckProgram(slow)(*xs)]
    assert_close(got, want, what=name_of(transforms, case), close=DERIVATIVES)


def looped(f: ArrayFunction) -> ArrayFunction:
    """What `vmap(f)` means."""

    def loop(*xs: jax.Array) -> Any:
        rows = [f(*(x[i] for x in xs)) for i in range(xs[0].shape[0])]
        return jax.tree.map(lambda *ys: jnp.stack(ys), *rows)

    return loop


def name_of(transforms: Sequence[str], case: DifferentiableCase) -> str:
    """`vmap(vjp(sin))(f32[2,3])`."""
    return (
        "(".join((*transforms, case.what.partition("(")[0]))
        + ")" * len(transforms)
        + ("(" + case.what.partition("(")[2])
    )

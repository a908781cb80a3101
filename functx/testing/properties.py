"""Algebraic facts that hold of every call of every operator, whatever the operator computes.

Where a fact has nothing to say (no derivative, no arrays, one dtype), the operator's declaration
and the call show it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx._core import available, category, Promote

from .checks.cases import differentiable_case, random_like, sized, stacked, whole_function
from .checks.compare import assert_close, closeness, DERIVATIVES, magnitude, PRODUCTS
from .checks.forward import check_jit
from .checks.programs import CheckProgram, CheckSteps
from .checks.running import run_together, Running
from .drawing.call import Call
from .hiding import of_findings
from .options import names_among


__tracebackhide__ = of_findings


Property = Callable[[Call], Any]


def linear_jvp(call: Call) -> CheckSteps:
    """`jvp` is linear in the tangent: that of `2 t - u` is twice that of `t` less that of `u`."""
    case = differentiable_case(call.info, call.sample)
    if case is None:
        return False
    t, u = (_halves(case.xs, seed) for seed in (41, 42))
    both = [2 * a - b for a, b in zip(t, u, strict=True)]
    try:
        found = yield [case.pushed(*case.xs, *tangents) for tangents in (t, u, both)]
    except RuntimeError as error:
        return _unless_refused(error)
    for of_t, of_u, got in zip(*found, strict=True):
        parts = [np.asarray(y).astype(np.complex128) for y in (of_t, of_u, got)]
        finite = np.all([np.isfinite(y) for y in parts], axis=0)
        of_t, of_u, found_here = (np.where(finite, y, 0) for y in parts)
        with np.errstate(over="ignore"):
            want, got = (_cast(y, got.dtype) for y in (2 * of_t - of_u, found_here))
        scale = magnitude([of_t, of_u, *t, *u])  # what cancels is of the size of the tangents
        close = dataclasses.replace(DERIVATIVES, scale=scale)
        assert_close(got, want, what=f"jvp of {case.what}, of 2 t - u", close=close)
    return True


def adjoint_vjp(call: Call) -> CheckSteps:
    """`vjp` is the adjoint of `jvp`: `<w, J t> = <J* w, t>`, of complex numbers the real part."""
    case = differentiable_case(call.info, call.sample)
    if case is None:
        return False
    t, w = _halves(case.xs, 41), _halves(case.outputs, 43)
    try:
        pushed, pulled = yield [case.pushed(*case.xs, *t), case.pulled(*case.xs, *w)]
    except RuntimeError as error:
        return _unless_refused(error)
    if not all(np.isfinite(np.asarray(y).astype(np.complex128)).all() for y in (*pushed, *pulled)):
        return False
    (left, size), (right, other) = _inner(w, pushed), _inner(pulled, t)
    dtype = case.xs[0].dtype
    tolerance = PRODUCTS.within(dtype)[0] * float(jnp.finfo(dtype).eps)
    assert abs(left - right) <= tolerance * (1 + max(size, other)), (
        f"{case.what}: <w, J t> = {left}, but <J* w, t> = {right}"
    )
    return True


def maps_commute(call: Call) -> CheckSteps:
    """Of two nested `vmap`s either may be the outer one, and `chunk_size` changes nothing."""
    sample = sized(call.info, call.sample)
    f, arrays = whole_function(call.info, sample)
    if not arrays or not jax.eval_shape(f, *arrays):
        return False
    first, second, third = (lane.arrays() for lane in sample.lanes[:3])
    rows = [stacked([first, second, third]), stacked([second, third, first])]
    grid = stacked(rows)  # of 2 and 3 lanes

    def every_way(*grid: Any) -> Any:
        inner, outer = functx.vmap(f), functx.vmap(f, 0, 0)
        return (
            functx.vmap(inner)(*grid),
            functx.vmap(outer, 1, 1)(*grid),
            functx.vmap(outer, 1, 1, chunk_size=2)(*grid),
        )

    [(want, turned, chunked)] = yield [CheckProgram(every_way)(*grid)]
    what, close = f"vmap(vmap({call.info.id})){sample!r}", closeness(call.info, sample)
    assert_close(turned, want, what=f"{what}, the maps exchanged", close=close)
    assert_close(chunked, want, what=f"{what}, in chunks of 2", close=close)
    return True


def jit_is_eager(call: Call) -> CheckSteps:
    """Under `jax.jit` the values are those of the eager call."""
    return (yield from check_jit(call.info, call.sample))


def layouts_agree(call: Call) -> bool:
    """NumPy arrays in any layout give what JAX arrays of the same values give."""
    sample = call.sample
    want = call.info.op(*sample.args, **{**sample.kwargs, **call.key})
    close = closeness(call.info, sample)
    assert_close(call(), want, what=f"{call.info.id}{sample!r}, as laid out", close=close)
    return bool(sample.arrays())


# The result's dtype is that of the arrays together; of the others it is the operator's own.
_SYMMETRIC = frozenset(Promote) - {Promote.NONE, Promote.SAME}


def promotion_is_symmetric(call: Call) -> bool:
    """Of arrays in two dtypes, which has which does not matter to the dtype of the result."""
    info, sample = call.info, call.sample
    if info.spec is None or info.spec.promote not in _SYMMETRIC or info.unmeasured(sample):
        return False
    given = info.spec.arguments(sample.args, sample.kwargs)
    promoting = [given.get(name) for name in info.spec.promoting]
    arrays = sample.arrays()
    pair = [i for i, x in enumerate(arrays) if any(x is y for y in jax.tree.leaves(promoting))]
    pair = [i for i in pair if arrays[i].ndim > 0][:2]
    if len(pair) < 2:
        return False
    op = info.with_key(jax.random.key(0)) if info.random else info.op
    own = arrays[pair[0]].dtype.name
    others = [d for d in info.accepted if d != own and available(d).name == d]

    def answer(*dtypes: str) -> Any:
        shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays]
        for i, dtype in zip(pair, dtypes, strict=True):
            shapes[i] = jax.ShapeDtypeStruct(arrays[i].shape, jnp.dtype(dtype))
        try:
            found = jax.eval_shape(sample.over_arrays(op), *shapes)
        except (TypeError, RuntimeError, ValueError, IndexError):
            return "a refusal"
        return [y.dtype.name for y in jax.tree.leaves(found)]

    for other in others[sum(arrays[pair[0]].shape) % 3 :: 3]:
        one, exchanged = answer(own, other), answer(other, own)
        assert one == exchanged, (
            f"{info.id}{sample!r} gives {one} for {own} and {other}, "
            f"but {exchanged} for {other} and {own}"
        )
    return bool(others)


PROPERTIES: dict[str, Property] = {
    f.__name__: f
    for f in (
        linear_jvp,
        adjoint_vjp,
        maps_commute,
        jit_is_eager,
        layouts_agree,
        promotion_is_symmetric,
    )
}


def assert_properties(call: Call, names: str | Iterable[str] = tuple(PROPERTIES)) -> list[str]:
    """Asserts facts of a call, by default all; returns the names of the facts that say something.

    - `call`: as `functx.testing.strategies.calls` draws them.
    - `names`: one of `PROPERTIES`, or several.

    The programs of all facts are compiled together.

    Errors: AssertionError where a fact does not hold, ValueError for other names and for none.

    >>> from hypothesis import find, Phase, settings
    >>> from functx.testing import assert_properties
    >>> from functx.testing.strategies import calls
    >>> quickly = settings(phases=[Phase.generate, Phase.shrink])
    >>> assert_properties(find(calls("sin"), lambda call: True, settings=quickly))
    ['linear_jvp', 'adjoint_vjp', 'maps_commute', 'jit_is_eager', 'layouts_agree']
    """
    chosen = names_among("assert_properties", "names", names, PROPERTIES) or ()
    if not call.info.differentiable:
        chosen = [name for name in chosen if name not in ("linear_jvp", "adjoint_vjp")]
    running = [
        Running(name, call.info, call.sample, lambda *_, f=PROPERTIES[name]: f(call))
        for name in chosen
    ]
    run_together(running)
    for r in running:
        if r.error is not None:
            r.error.add_note(f"{r.check} does not hold of {call!r}")
            raise r.error
    return [r.check for r in running if r.something]


def _unless_refused(error: RuntimeError) -> bool:
    """Says nothing of a call that has values, but by its operator's own words no derivative."""
    if "must not be differentiated" not in str(error):
        raise error
    return False


def _halves(shapes: Sequence[Any], seed: int) -> list[Any]:
    """Arrays of multiples of a half, of which sums are exact."""
    halves = lambda x: np.round(2 * x.astype(np.complex128)) / 2
    return [_cast(halves(x), x.dtype) for x in random_like(shapes, seed)]


def _cast(x: Any, dtype: Any) -> np.ndarray:
    return (x if category(dtype) == 3 else np.real(x)).astype(dtype)


def _inner(a: Sequence[Any], b: Sequence[Any]) -> tuple[float, float]:
    """The real inner product, and that of the absolute values, which it rounds with."""
    wide = lambda xs: np.concatenate([np.asarray(x).astype(np.complex128).ravel() for x in xs])
    terms = np.conj(wide(a)) * wide(b)
    return float(np.sum(terms.real)), float(np.sum(np.abs(terms)))

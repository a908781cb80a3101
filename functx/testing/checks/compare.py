"""When two results count as equal: each element within so many ulps of its own size.

Elements of results that cancel, sums above all, may also be off by a floor: so many ulps of the
scale of the whole array. Values have no floor unless their entry states one, with its reason.
Derivatives always have one: each is a sum over outputs, and what it sums may cancel.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category, describe
from functx.testing.hiding import of_findings
from functx.testing.opinfo import OpInfo, Sample
from functx.testing.tolerances import ULPS


__tracebackhide__ = of_findings


@dataclasses.dataclass(frozen=True)
class Closeness:
    """`ulps` of each element, and `floor` ulps of `scale` and of the largest finite one.

    A `scale` for each element stands for itself. An ulp of a half is hundreds of times larger:
    `halves`, if given, is the most that is allowed of either.
    """

    ulps: float
    floor: float = 0
    scale: float | np.ndarray = 0
    signed_zeros: bool = False
    flushed: bool = True  # whether what is less than any normal number may be 0
    halves: float | None = None

    def within(self, dtype: Any) -> tuple[float, float]:
        """The ulps of an element, and of the scale, in a dtype."""
        if self.halves is None or jnp.dtype(dtype).itemsize != 2:
            return self.ulps, self.floor
        return min(self.ulps, self.halves), min(self.floor, self.halves)


def closeness(info: OpInfo, sample: Sample, *, computed: bool = True) -> Closeness:
    """How close an entry's values are to others: computed too, if they are no reference's."""
    ulps = ulps_of(info, sample.dtype)
    cancelling = info.cancelling
    floor = (cancelling.floor or 0) if cancelling else 0
    elementwise = cancelling is not None and cancelling.elementwise
    both = 2 if computed else 1
    arrays = [x for x in sample.arrays() if category(x.dtype) >= 2] or sample.arrays()
    scale: Any = magnitude(arrays) if floor else 0
    if cancelling is not None and cancelling.scale is not None:
        scale = cancelling.scale
    if elementwise and not computed:
        scale = _magnitudes(arrays)
    # Of zeros of both signs, which tie, any may be chosen.
    signed = info.signed_zeros and (elementwise or not floor) and not sample.exact
    return Closeness(both * ulps, both * floor, scale, signed, flushed=not sample.exact)


def _magnitudes(arrays: Iterable[Any]) -> np.ndarray:
    """At each element the largest finite absolute value of all arrays, which broadcast."""
    largest = np.zeros(())
    for x in arrays:
        sizes = np.abs(np.asarray(x).astype(np.complex128))
        largest = np.maximum(largest, np.where(np.isfinite(sizes), sizes, 0))
    return largest


def ulps_of(info: OpInfo, dtype: str) -> float:
    """How far an element may be off from the reference, on the platform that is in use."""
    return info.ulps(dtype, jax.default_backend())


VALUES = Closeness(ULPS)
DERIVATIVES = Closeness(2**9, 2**9, halves=2**3)
# Inner products of derivatives, in ulps of the sum of the sizes of their terms.
PRODUCTS = Closeness(10 * 2**9, halves=2**2)
_WIDE = {2: np.float64, 3: np.complex128}


def assert_close(got: Any, want: Any, *, what: str, close: Closeness = VALUES) -> None:
    """Trees agree: structure, shapes, dtypes, and values as closely as `close` says."""
    got_leaves, got_tree = jax.tree.flatten(got)
    want_leaves, want_tree = jax.tree.flatten(want)
    assert got_tree == want_tree, f"{what}: structure {got_tree}, expected {want_tree}"
    for i, (g, w) in enumerate(zip(got_leaves, want_leaves, strict=True)):
        at = f"{what}, output {i}" if len(got_leaves) > 1 else what
        assert (g.shape, g.dtype) == (w.shape, w.dtype), (
            f"{at}: {describe(g)}, expected {describe(w)}"
        )
        _assert_values_close(np.asarray(g), np.asarray(w), at, close)


def _assert_values_close(got: Any, want: Any, what: str, close: Closeness) -> None:
    kind = category(got.dtype)
    if kind < 2:
        if np.array_equal(got, want):
            return
        where = tuple(int(i) for i in np.argwhere(got != want)[0])
        raise AssertionError(
            f"{what}: {got[where]} at {list(where)}, expected {want[where]} "
            f"({np.count_nonzero(got != want)} of {got.size} off)"
        )
    limits = jnp.finfo(got.dtype)
    ulp, flushed = float(limits.eps), 2 * float(limits.tiny) * close.flushed
    ulps, floor = close.within(got.dtype)
    got, want = got.astype(_WIDE[kind]), want.astype(_WIDE[kind])
    with np.errstate(all="ignore"):
        size = np.abs(want)
        scale = close.scale
        if floor and np.ndim(scale) == 0:
            scale = max(magnitude([want]), float(scale))
        allowed = ulp * (ulps * size + floor * scale) + flushed
        near = (np.abs(got - want) <= allowed) & np.isfinite(want)
    near |= (got == want) | (np.isnan(got) & np.isnan(want))
    if kind == 3:  # an infinity in the plane: which part holds it, nobody promises
        near |= np.isinf(got) & np.isinf(want)
    if close.signed_zeros and kind == 2:
        near &= (got != 0) | (want != 0) | (np.signbit(got) == np.signbit(want))
    if not near.all():
        where = tuple(int(i) for i in np.argwhere(~near)[0])
        with np.errstate(all="ignore"):
            off = abs(got[where] - want[where]) / (ulp * size[where] or float(limits.tiny))
        raise AssertionError(
            f"{what}: {got[where]} at {list(where)}, expected {want[where]} "
            f"({np.count_nonzero(~near)} of {near.size} off; here by {off:.3g} ulps, "
            f"{ulps:g} allowed)"
        )


def magnitude(arrays: Iterable[Any]) -> float:
    """The largest finite absolute value in any of them, 0 if there is none."""
    largest = 0.0
    for x in arrays:
        sizes = np.abs(np.asarray(x).astype(np.complex128))
        largest = max(largest, float(np.max(sizes, initial=0, where=np.isfinite(sizes))))
    return largest


def beside(x: Any, rng: np.random.Generator) -> jax.Array:
    """A floating or complex array with each element moved by an ulp, up or down."""
    x = np.asarray(x)
    by = rng.choice([-1, 1], x.shape) * float(jnp.finfo(x.dtype).eps)
    return jnp.asarray((x * (1 + by.astype(x.real.dtype))).astype(x.dtype))


def moved(x: Any, y: Any, dtype: Any) -> float:
    """The largest finite difference of two arrays, in ulps of a dtype, of 1."""
    with np.errstate(all="ignore"):
        apart = np.asarray(x).astype(np.complex128) - np.asarray(y).astype(np.complex128)
    return magnitude([apart]) / float(jnp.finfo(dtype).eps)

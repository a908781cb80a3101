"""When two results count as equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category, describe


# Relative and absolute alike. Both sides are computed, so each may be off by some roundings.
DEFAULT_TOLERANCES: Mapping[str, float] = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float32": 5e-5,
    "float64": 1e-9,
    "complex64": 5e-5,
    "complex128": 1e-9,
}
_WIDE = {2: np.float64, 3: np.complex128}


def assert_close(
    got: Any, want: Any, *, what: str, tolerances: Mapping[str, float] | None = None
) -> None:
    """Trees agree: structure, shapes, dtypes, and values within the dtype's tolerance.

    The absolute tolerance scales with the largest finite value expected, so that sums
    which cancel are not held to more digits than they have.
    """
    got_leaves, got_tree = jax.tree.flatten(got)
    want_leaves, want_tree = jax.tree.flatten(want)
    assert got_tree == want_tree, f"{what}: structure {got_tree}, expected {want_tree}"
    for i, (g, w) in enumerate(zip(got_leaves, want_leaves, strict=True)):
        at = f"{what}, output {i}" if len(got_leaves) > 1 else what
        assert (g.shape, g.dtype) == (w.shape, w.dtype), (
            f"{at}: {describe(g)}, expected {describe(w)}"
        )
        _assert_values_close(np.asarray(g), np.asarray(w), at, dict(tolerances or {}))


def _assert_values_close(got: Any, want: Any, what: str, tolerances: Mapping[str, float]) -> None:
    kind = category(got.dtype)
    if kind < 2:
        assert np.array_equal(got, want), f"{what}: {got.tolist()}, expected {want.tolist()}"
        return
    tolerance = tolerances.get(got.dtype.name, DEFAULT_TOLERANCES[got.dtype.name])
    got, want = got.astype(_WIDE[kind]), want.astype(_WIDE[kind])
    finite = np.abs(want[np.isfinite(want)])
    scale = max(1.0, finite.max() if finite.size else 0.0)
    near = np.isclose(got, want, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    if not near.all():
        where = tuple(int(i) for i in np.argwhere(~near)[0])
        raise AssertionError(
            f"{what}: {got[where]} at {list(where)}, expected {want[where]} "
            f"({np.count_nonzero(~near)} of {near.size} off, tolerance {tolerance:g})"
        )


def same_kind_tolerance(dtype: Any, tolerances: Mapping[str, float]) -> float:
    """The tolerance in force for a dtype."""
    name = jnp.dtype(dtype).name
    return tolerances.get(name, DEFAULT_TOLERANCES.get(name, 0.0))

"""PyTorch's type promotion, as a function of dtypes, ranks, weak types and the default dtype.

Runs at trace time only: a compiled operator never pays for it twice.
"""

from __future__ import annotations

import enum
import functools as ft
from collections.abc import Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from .dtypes import (
    accumulator,
    available,
    category,
    complex_of,
    default_float,
    default_of,
    LONG,
    only_stores,
    real_of,
    refuse_storage,
)


class Promote(enum.Enum):
    """How an operator turns its promoting arguments' dtypes into a result dtype."""

    NONE = enum.auto()  # no rule: the operator decides              embedding, nonzero
    DEFAULT = enum.auto()  # the common dtype                        add, mul
    SAME = enum.auto()  # the same, not upcast; mixing is refused  matmul, conv
    NO_OPMATH = enum.auto()  # the same, halves not upcast inside    where, cat
    INT_TO_FLOAT = enum.auto()  # integers become the default float  sin, mean
    BOOL_TO_LONG = enum.auto()  # bools become int64                 pow
    INT_TO_LONG = enum.auto()  # and so do all integers              sum, prod
    COMPLEX_TO_FLOAT = enum.auto()  # complex results become real    abs
    INT_TO_FLOAT_COMPLEX_TO_FLOAT = enum.auto()  # both              angle
    ALWAYS_BOOL = enum.auto()  # compares in the common dtype        eq, lt


def result_dtype(args: Iterable[jax.Array], *, zero_dim_promotes_alike: bool = False) -> np.dtype:
    """The dtype PyTorch gives an elementwise operation over `args`.

    Arrays with dimensions outrank 0-d arrays, unless `zero_dim_promotes_alike`, and both outrank
    Python numbers, which are what is weakly typed here. A lower rank counts only when its category
    is the higher one.
    """
    ranks: tuple[list[np.dtype], ...] = ([], [], [])
    for x in args:
        weak = getattr(jax.typeof(x), "weak_type", False)
        below = x.ndim == 0 and not zero_dim_promotes_alike
        ranks[2 if weak else int(below)].append(np.dtype(x.dtype))
    out: np.dtype | None = None
    for rank, dtypes in enumerate(ranks):
        if dtypes:
            here = joined(dtypes)
            if rank == 2:
                here = default_of(category(here))
            out = here if out is None else _combine(out, here)
    assert out is not None, "an operator that promotes has at least one array argument"
    return out


def joined(dtypes: Sequence[np.dtype]) -> np.dtype:
    """The dtype that arrays of these promote to, all of one rank."""
    stored = next((dtype for dtype in dtypes if only_stores(dtype)), None)
    if stored is not None and any(dtype != stored for dtype in dtypes):
        refuse_storage(stored, " and ".join(sorted({dtype.name for dtype in dtypes})))
    with jax.numpy_dtype_promotion("standard"):  # PyTorch's lattice, for dtypes of one rank
        return np.dtype(ft.reduce(jnp.promote_types, dtypes))


def _combine(upper: np.dtype, lower: np.dtype) -> np.dtype:
    if category(lower) <= category(upper):
        return upper
    return complex_of(upper) if category(upper) == 2 else lower


def compute_and_result(
    kind: Promote, common: np.dtype, *, asked: bool = False
) -> tuple[np.dtype, np.dtype]:
    """The dtype to compute in, and the dtype to hand back; one that was asked for stays."""
    integral = category(common) < 2
    if kind in (Promote.INT_TO_FLOAT, Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT) and integral:
        common = default_float()
    if kind is Promote.BOOL_TO_LONG and category(common) == 0:
        common = available(LONG)
    if kind is Promote.INT_TO_LONG and integral and not asked:
        common = available(LONG)
    # A comparison rounds a Python number to the halves it meets: half(0.1) == 0.1.
    as_is = kind in (Promote.NO_OPMATH, Promote.SAME, Promote.ALWAYS_BOOL)
    compute = common if as_is else accumulator(common)
    if kind is Promote.ALWAYS_BOOL:
        return compute, np.dtype(bool)
    if kind in (Promote.COMPLEX_TO_FLOAT, Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT):
        return compute, real_of(common)
    return compute, common

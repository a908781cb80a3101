from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opdb.reductions.rows import at_edges
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge, held
from functx.testing.tolerances import EXACT


def sort_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(3, 4))
    yield call(make.distinct(3, 2), 0, True)
    yield call(make.distinct(2, 3, 2), dim=-2, descending=True, stable=True)
    yield call(make.distinct())
    yield call(make.distinct(), -1, True)
    yield call(make.distinct(2, 0), 1)
    yield call(make.distinct(0, 2), 1, stable=False)
    yield held(neighbours(make, 9), 0)
    if make.dtype.name in ("int64", "float64"):
        yield held(around_words(make), 0)
        yield held(around_words(make), 0, True)
    yield from at_edges(make, -1)


def neighbours(make: Make, n: int) -> jax.Array:
    """Numbers next to each other, in any order."""
    order = make.rng.permutation(n)
    step = float(jnp.finfo(make.dtype).eps) if category(make.dtype) == 2 else 1
    return make.put(order % 2 if category(make.dtype) == 0 else 1 + order * step)


def around_words(make: Make) -> jax.Array:
    """Numbers that differ in 32 bits of 64, where these are large or small."""
    counts = np.asarray([5, 2**31, 1, 2**32 - 1, 2**31 - 1, 2**32, 3])
    return make.put(1 + counts * np.finfo("float64").eps if make.dtype.kind == "f" else counts)


def tied_samples(make: Make) -> Iterator[Sample]:
    tied = make.put(make.rng.integers(0, 3, (2, 6)))
    for descending in (False, True):
        yield call(tied, descending=descending, stable=True)
        if make.dtype.kind == "f":
            special = make.put([1, np.nan, -np.inf, 0.0, np.nan, -0.0, np.inf])
            yield call(special, 0, descending)
    yield from at_edges(make, descending=True, stable=True)


def sort_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(), 1), r"`dim` must lie in \[-1, 0\], got 1", IndexError)
    yield Refusal(call(make(2, dtype="complex64")), "expected real arrays", TypeError)


def np_argsort(x, dim=-1, descending=False, stable=False):
    if x.ndim == 0:
        return np.zeros((), "int64")
    if descending:
        forward = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
        return x.shape[dim] - 1 - np.flip(forward, dim)
    return np.argsort(x, axis=dim, kind="stable")


def np_sort(x, dim=-1, descending=False, stable=False):
    order = np_argsort(x, dim, descending)
    return np.take_along_axis(x, order, dim) if x.ndim else x, order


def topk_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(3, 4), 2)
    yield call(make.distinct(4, 3), 3, 0, False)
    yield call(make.distinct(2, 3, 2), k=1, dim=-2, largest=True, sorted=True)
    yield call(make.distinct(5), 5, largest=False, sorted=False)
    yield call(make.distinct(), 1)
    yield call(make.distinct(), 1, -1, False)
    yield call(make.distinct(3), 0)
    yield call(make.distinct(0, 3), 2)
    yield from at_edges(make, 2)


def tied_topk_samples(make: Make) -> Iterator[Sample]:
    """The greatest and least integers, NaN of either sign, zeros of either sign."""
    for largest in (True, False):
        if make.dtype.kind == "f":
            bits = [1, np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 0.0]
            yield call(make.put(make.rng.permutation(bits)), 8, largest=largest)
        else:
            info = np.iinfo(make.dtype)
            tied = np.array([3, info.min, info.max, 3, info.max], make.dtype)
            yield call(make.put(make.rng.permutation(tied)), 4, largest=largest)
    yield from at_edges(make, 2)


def topk_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 4), r"`k` must lie in \[0, 3\]", ValueError)
    yield Refusal(call(make(3), -1), r"`k` must lie in \[0, 3\]", ValueError)
    yield Refusal(call(make(3), 1, 1), "`dim` must lie in", IndexError)
    yield Refusal(call(make(3, dtype="bool"), 1), "expected real number arrays", TypeError)


def np_topk(x, k, dim=-1, largest=True, sorted=True):
    values, order = np_sort(x, dim, descending=False)
    if x.ndim == 0:
        return values, order
    if largest:
        values, order = np_sort(x, dim, descending=True)
    first = lambda a: np.take(a, np.arange(k), axis=dim)
    return first(values), first(order)


def msort_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(4, 3))
    yield call(make.distinct(5))
    yield call(make.distinct(3, 2, 2))
    yield call(make.distinct())
    yield call(make.distinct(0, 2))
    yield call(make.distinct(2, 0))
    yield held(neighbours(make, 9))
    for sample in at_edges(make):
        yield edge(sample.args[0].T)


def np_msort(x):
    return np.sort(x, axis=0, kind="stable") if x.ndim else x


def msort_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, dtype="complex64")), "expected real arrays", TypeError)
    yield Refusal(call([1, 2]), "`input` must be an array", TypeError)


def msort_conventions(make: Make) -> Iterator[Convention]:
    special = call(make.put([0.0, np.nan, -0.0, -np.inf]))
    yield Convention("NaN last, zeros in their order", special, value=[-np.inf, 0.0, -0.0, np.nan])
    tied = call(make.put([7, 1, 7]))
    second = lambda out: out[1]
    yield Convention("each gets its own", tied, through=second, gradient=[1, 0, 0])


def sort_conventions(make: Make) -> Iterator[Convention]:
    for descending in (False, True):
        tied = call(make.put([7, 7]), stable=True, descending=descending)
        what = "stable, descending" if descending else "stable"
        yield Convention(what, tied, value=(None, [0, 1]))
    yield Convention(
        "each gets its own",
        call(make.put([7, 7, 1]), stable=True),
        through=lambda out: out.values[1],
        gradient=[1, 0, 0],
    )


def argsort_conventions(make: Make) -> Iterator[Convention]:
    nan, inf = np.nan, np.inf
    at = make.put([1, nan, -inf, 0.0, nan, -0.0, inf])
    yield Convention("NaN last, zeros tie", call(at, stable=True), value=[2, 3, 5, 0, 6, 1, 4])
    down = call(at, descending=True, stable=True)
    yield Convention("NaN first if descending", down, value=[1, 4, 6, 0, 3, 5, 2])


def topk_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "shape",
        "no element is none, of a 0-d array too",
        call(make.put(2, "uint8"), 0),
        r"\(0,\), PyTorch \(\)",
    )
    yield Departure(
        "value",
        "`sorted=False` promises no order",
        call(make.put([4.0, -2.5, 1.0, 0.0, 3.0], "float16"), 5, largest=False, sorted=False),
        "sorted=False",
    )


def topk_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([1, np.nan, 3]), 2)
    first = lambda out: out.values[0]
    yield Convention("NaN is the greatest", at, value=([np.nan, 3], [1, 2]))
    yield Convention("the gradient of NaN", at, through=first, gradient=[0, 1, 0])
    tied = call(make.put([2, 3, 3]), 2)
    values = lambda out: out.values
    yield Convention("equals are each taken once", tied, gradient=[0, 1, 1], through=values)
    least = call(make.put([np.inf, np.nan, 3]), 2, largest=False)
    yield Convention("and never among the least", least, value=([3, np.inf], [2, 0]))
    last = lambda out: out.values[1]
    yield Convention("the gradient of infinity", least, through=last, gradient=[1, 0, 0])


OPS = [
    OpInfo(
        functx.sort,
        sort_samples,
        reference=np_sort,
        refusals=sort_refusals,
        ties_in_any_order=True,
        conventions=sort_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.argsort,
        sort_samples,
        reference=np_argsort,
        refusals=sort_refusals,
        ties_in_any_order=True,
    ),
    OpInfo(
        functx.argsort,
        tied_samples,
        reference=np_argsort,
        variant="ties",
        conventions=argsort_conventions,
    ),
    OpInfo(
        functx.msort,
        msort_samples,
        reference=np_msort,
        refusals=msort_refusals,
        conventions=msort_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.topk,
        topk_samples,
        reference=np_topk,
        refusals=topk_refusals,
        ties_in_any_order=True,
        conventions=topk_conventions,
        departures=(topk_departures,),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.topk,
        tied_topk_samples,
        reference=np_topk,
        variant="ties",
        # No float64: finite differences have no derivative where values tie.
        dtypes=("int8", "uint8", "int64", "float16", "float32"),
        tolerances=(EXACT,),
    ),
]

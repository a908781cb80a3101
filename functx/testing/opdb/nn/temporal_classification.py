from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS


def log_probs(make: Make, *shape: int) -> Any:
    """Logarithms of probabilities, over the last dimension."""
    x = make(*shape)
    return x - np.log(np.sum(np.exp(np.asarray(x, "float64")), -1, keepdims=True)).astype(x.dtype)


def lengths(make: Make, *values: int) -> Any:
    return make.put(values, "int64")


def samples(make: Make) -> Iterator[Sample]:
    steps = lengths(make, 3, 3)
    x = lambda: log_probs(make, 3, 2, 3)
    yield call(x(), make.put([[1, 2], [2, 2]], "int64"), (3, 3), (2, 1), reduction="sum")
    some = lambda low, high: lengths(make, *make.rng.integers(low, high, 2))
    others = make.put([[0], [2]], "int64")
    yield call(x(), others, some(2, 4), some(0, 2), 1, "none", True)
    concatenated = make.put([0, 2, 0], "int64")
    yield edge(x(), concatenated, lengths(make, 3, 2), lengths(make, 2, 1), 1)
    yield edge(x(), make.put([1, 2, 1], "int32"), (3, 3), (1, 2), reduction="none")
    yield edge(log_probs(make, 3, 3), make.put([2, 1], "int64"), steps[0], steps[0] - 1)
    tight = make.put([[2, 2], [1, 2]], "int64")
    yield edge(x(), tight, lengths(make, 2, 2), lengths(make, 2, 2), zero_infinity=True)
    yield edge(x(), make.put([[], []], "int64"), steps, lengths(make, 0, 0), reduction="none")


def refusals(make: Make) -> Iterator[Refusal]:
    x, targets = make(4, 2, 3), make.put([[1, 2], [2, 1]], "int64")
    two = lengths(make, 2, 2)
    for name, at in [
        ("targets", call(x, make(2, 2), two, two)),
        ("input_lengths", call(x, targets, make(2), two)),
        ("target_lengths", call(x, targets, two, make(2))),
    ]:
        yield Refusal(at, f"`{name}` must hold integers, got f32", TypeError)
    at = call(make(4), targets[0], two[0], two[0])
    yield Refusal(at, r"`log_probs` must be \[T, N, C\] or \[T, C\]")
    for at in (call(x[:, 0], targets, two[0], two[0]), call(x[:, 0], targets[0], two, two)):
        yield Refusal(at, r"`targets` must be \[S\] and lengths numbers for `log_probs`")
    for at in (call(x, targets, two[:1], two), call(x, targets, two, two[:1])):
        yield Refusal(at, r"`input_lengths` and `target_lengths` must be \[2\]")
    yield Refusal(call(x, targets[:1], two, two), r"`targets` must be \[2, S\]")
    for blank in (3, -1):
        yield Refusal(call(x, targets, two, two, blank), r"`blank` must lie in \[0, 2\]")
    for bad in (-1, 5):
        wrong = lengths(make, 2, bad)
        yield Refusal(call(x, targets, wrong, two), r"`input_lengths` must lie in \[0, 4\]")
        yield Refusal(call(x, targets, two, wrong), r"`target_lengths` must lie in \[0, 2\]")
    yield Refusal(call(x, targets + 2, two, two), r"`targets` must lie in \[0, 2\], got 3")
    yield Refusal(call(x, targets, two, two, reduction="max"), "`reduction` must be", ValueError)


def np_said(path: Any, blank: int) -> tuple[int, ...]:
    return tuple(c for c, _ in itertools.groupby(path) if c != blank)


def np_ctc(
    x: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The sum over all paths, one by one; probabilities would leave the range of numbers."""
    unbatched = x.ndim == 2
    x = x[:, None] if unbatched else x
    steps, counts = np.reshape(input_lengths, -1), np.reshape(target_lengths, -1)
    if unbatched:
        rows = [targets[: counts[0]]]
    elif targets.ndim == 1:
        rows = np.split(targets, np.cumsum(counts)[:-1])
    else:
        rows = [row[:n] for row, n in zip(targets, counts, strict=True)]
    loss = np.zeros(len(counts))
    for i, row in enumerate(rows):
        total = -np.inf
        for path in itertools.product(range(x.shape[-1]), repeat=steps[i]):
            if np_said(path, blank) == tuple(row):
                total = np.logaddexp(total, sum(x[t, i, c] for t, c in enumerate(path)))
        loss[i] = -total
    if zero_infinity:
        loss[np.isinf(loss)] = 0
    if reduction == "mean":
        return (loss / np.maximum(counts, 1)).mean()
    return loss.sum() if reduction == "sum" else loss[0] if unbatched else loss


def normalized(direction: Any, at: Any) -> Any:
    """Probabilities stay such: those of the logits are the only derivatives."""
    return direction - jnp.sum(jnp.exp(at) * direction, -1, keepdims=True)


def conventions(make: Make) -> Iterator[Convention]:
    half = make.put(np.log(np.full((2, 1, 2), 0.5)))
    one, both = make.put([[1]], "int64"), make.put([[1, 1]], "int64")
    steps, number = lengths(make, 2), lengths(make, 1)
    gradient_of_ways = np.array([[0.5 - 1 / 3, 0.5 - 2 / 3]] * 2)[:, None]
    ways = call(half, one, steps, number)
    yield Convention("three ways", ways, value=-np.log(0.75), gradient=gradient_of_ways)
    never = call(half, both, steps, steps, reduction="none")
    yield Convention("too long a target", never, value=[np.inf])
    nothing = call(half, both, steps, steps, zero_infinity=True)
    yield Convention("taken for nothing", nothing, value=0, gradient=np.zeros((2, 1, 2)))
    wild = make.put([[[-np.log(2), -np.log(2)]], [[-np.inf, 0.0]]])
    certain = call(wild, one, steps, number)
    gradient = [[[0, 0]], [[0, 0]]]
    nan = "PyTorch's gradient in what cannot be said is NaN"
    what = "a class that is never said"
    yield Convention(what, certain, value=0, gradient=gradient, departure=nan)
    unused = make.put([[[-np.log(2), -np.log(2), np.inf]], [[-np.inf, 0.0, 0.0]]])
    what = "an infinity in a class that is not in the target"
    yield Convention(what, call(unused, one, steps, number), value=0)
    large = make.put(np.concatenate([np.asarray(half), [[[800]], [[0]]]], -1))
    shares = np.concatenate([gradient_of_ways, [[[np.inf]], [[1]]]], -1)
    what, at = "a probability that overflows", call(large, one, steps, number)
    yield Convention(what, at, -np.log(0.75), shares, modes=("reverse",))
    short = call(half, one, number, number)
    gradient = [[[0.5, -0.5]], [[0, 0]]]
    yield Convention("steps that do not count", short, value=np.log(2), gradient=gradient)
    silent = call(half, one, number - 1, number - 1, reduction="none")
    yield Convention("neither step nor target", silent, value=[0], gradient=np.zeros((2, 1, 2)))


def departures(make: Make) -> Iterator[Departure]:
    wrong = make.put([[1, 2], [2, 2]], "float32")
    yield Departure(
        "refused",
        "a class is no floating number; PyTorch casts it where lengths are numbers",
        call(log_probs(make, 5, 2, 5), wrong, (3, 3), (2, 1)),
        r"`targets` must hold integers, got b?f\d+\[",
    )


OPS = [
    OpInfo(
        F.ctc_loss,
        samples,
        np_ctc,
        refusals,
        tolerances=(SUMS,),
        directions=normalized,
        conventions=conventions,
        departures=(
            Departure(
                "dtype",
                "PyTorch's kernel has no halves",
                answer="*",
                dtypes=frozenset({"float16", "bfloat16"}),
            ),
            departures,
        ),
    ),
]

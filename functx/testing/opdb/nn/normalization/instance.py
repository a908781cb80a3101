from __future__ import annotations

from collections.abc import Iterator

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .standardization import normalized, SQUARES


def instance_samples(make: Make) -> Iterator[Sample]:
    r = lambda: (make(2), make(2, low=0.5))
    yield call(make(2, 2, 3), None, None, make(2), make(2))
    yield call(make(3, 2), *r(), make(2), use_input_stats=False)
    yield call(make(2, 2, 2, 2), *r(), momentum=0.3, eps=0.5)
    yield call(make(1, 2, 2), *r(), None, make(2), False, 0.1, 0.25)
    yield call(make(0, 2, 3), *r())
    yield call(make(2, 2, 0))


def instance_refusals(make: Make) -> Iterator[Refusal]:
    x, r = make(2, 3, 2), make(3)
    yield Refusal(call(make(3)), r"`input` must be \[N, C, ...\], got f32\[3\]")
    yield Refusal(call(x, use_input_stats=False), "`running_mean` must be given")
    yield Refusal(call(x, r), "must both be given, or neither", ValueError)
    yield Refusal(call(x, make(2), r), r"`running_mean` must be \[3\]")
    yield Refusal(call(x, r, make(2)), r"`running_var` must be \[3\]")
    yield Refusal(call(x, weight=make(2)), r"`weight` must be of shape \[3\]")
    for one in (make(2, 3), make(2, 3, 1)):
        yield Refusal(call(one), "more than one value per channel", ValueError)
    wide = make(3, dtype="float64")
    yield Refusal(call(x, wide, r), "`running_mean` must have the dtype", TypeError)


def np_instance_norm(*args, **kwargs):
    return np_with_stats(*args, **kwargs)[0]


def np_with_stats(
    x, running_mean=None, running_var=None, weight=None, bias=None, use=True, momentum=0.1, eps=1e-5
):
    shape, rest = (-1, *[1] * (x.ndim - 2)), tuple(range(2, x.ndim))
    if x.size == 0:
        return x, running_mean, running_var
    if use:
        mean, var = (s(rest, keepdims=True) for s in (x.mean, x.var))
    else:
        mean, var = running_mean.reshape(shape), running_var.reshape(shape)
    out = normalized(x, mean, var, weight, bias, shape, eps)
    if use and running_mean is not None:
        running_mean = (1 - momentum) * running_mean + momentum * x.mean(rest).mean(0)
        running_var = (1 - momentum) * running_var + momentum * x.var(rest, ddof=1).mean(0)
    return out, running_mean, running_var


def by_name(reference):
    """The reference, whose option is called as the operator's."""
    return lambda *args, use_input_stats=True, **kwargs: reference(
        *args, **({} if len(args) > 5 else {"use": use_input_stats}), **kwargs
    )


def conventions(make: Make) -> Iterator[Convention]:
    constant = call(make.put([[[1.0, 1.0]]]))
    yield Convention("a constant", constant, value=[[[0, 0]]], gradient=[[[0, 0]]])


def stats_conventions(make: Make) -> Iterator[Convention]:
    x, mean, var = make.put([[[1.0, 3.0]], [[2.0, 2.0]]]), make.put([0.0]), make.put([1.0])
    at = call(x, mean, var, momentum=0.5, eps=1)
    yield Convention("averaged over samples", at, value=(None, [1.0], [1.0]))
    x = make.put([[[1.0, 1.0]]])
    at, second = call(x, mean, var, momentum=0.5), lambda out: out[1]
    gradient = [[[0.25, 0.25]]], [0.5], [0]
    yield Convention("equal elements", at, through=second, gradient=gradient)


OPS = [
    OpInfo(
        F.instance_norm,
        instance_samples,
        reference=by_name(np_instance_norm),
        refusals=instance_refusals,
        tolerances=(SUMS,),
        gaps=(SQUARES,),
        conventions=conventions,
    ),
    OpInfo(
        F.instance_norm_with_stats,
        instance_samples,
        reference=by_name(np_with_stats),
        refusals=instance_refusals,
        tolerances=(SUMS,),
        gaps=(SQUARES,),
        conventions=stats_conventions,
        departures=(
            Departure(
                "dtype",
                "PyTorch writes the statistics in place and gives the result alone",
                answer="*",
            ),
        ),
    ),
]

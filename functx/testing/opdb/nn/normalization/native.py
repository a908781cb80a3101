from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .standardization import normalized, OF_TWO, SQUARES


def layer_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (3,), make(3), make(3), 1e-5)
    yield call(make(2, 2, 3), [2, 3], make(2, 3), None, eps=0.5)
    yield call(make(2, 3), (3,), None, make(3), 0.5)
    yield call(make(2, 3), (2, 3), None, None, 0.5)
    yield call(make(0, 3), (3,), None, None, 0.5)


def layer_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    at = call(x, [2], None, None, 0.5)
    yield Refusal(at, r"must end in normalized_shape=\[2\], got f32\[2,3\]")
    yield Refusal(call(x, [], None, None, 0.5), r"must end in normalized_shape=\[\]")
    yield Refusal(call(x, (3,), make(2), None, 0.5), r"`weight` must be of shape \[3\]")
    double = make(3, dtype="float64")
    yield Refusal(call(x, (3,), None, double, 0.5), r"`bias` must have the dtype", TypeError)


def np_layer(x, normalized_shape, weight, bias, eps):
    axes = tuple(range(-len(normalized_shape), 0))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    out = normalized(x, mean, var, weight, bias, normalized_shape, eps)
    return out, mean, 1 / np.sqrt(var + eps)


def group_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), make(4), make(4), 2, 4, 1, 2, 1e-5)
    yield call(make(1, 4, 3), None, None, 1, 4, 3, 2, eps=0.5)
    yield call(make(1, 2, 2, 3), None, make(2), N=1, C=2, HxW=6, group=1, eps=0.5)
    yield call(make(2, 2, 2), make(2), None, 2, 2, 2, 2, 0.5)
    yield call(make(0, 4), None, None, 0, 4, 1, 2, 0.5)


def group_refusals(make: Make) -> Iterator[Refusal]:
    for x, sizes in (
        (make(4), (1, 4, 1)),
        (make(2, 4), (1, 8, 1)),
        (make(2, 4), (4, 2, 1)),
        (make(2, 4, 3), (2, 4, 2)),
    ):
        at = call(x, None, None, *sizes, 1, 0.5)
        yield Refusal(at, rf"`input` must be \[{sizes[0]}, {sizes[1]}, ...\] with HxW={sizes[2]}")
    for group in (0, 3):
        at = call(make(2, 4), None, None, 2, 4, 1, group, 0.5)
        yield Refusal(at, f"`group` must divide the channels .* got {group}")
    at = call(make(2, 4), None, make(2), 2, 4, 1, 2, 0.5)
    yield Refusal(at, r"`bias` must be of shape \[4\]")


def np_group(x, weight, bias, N, C, HxW, group, eps):
    groups = x.reshape(N, group, C // group * HxW)
    mean, var = groups.mean(-1), groups.var(-1)
    whole = [s.reshape(N, group, 1) for s in (mean, var)]
    out = normalized(groups, *whole, None, None, (), eps).reshape(x.shape)
    shape = (-1, *[1] * (x.ndim - 2))
    return normalized(out, 0, 1, weight, bias, shape, 0), mean, 1 / np.sqrt(var + eps)


def batch_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2), make(2), make(2), None, None, True, 0.1, 1e-5)
    yield call(make(2, 2, 3), make(2), make(2), make(2), make(2, low=0.5), False, 0.1, 1e-5)
    statistics = {"running_mean": make(2), "running_var": make(2, low=0.5)}
    yield call(make(2, 2, 2), make(2), None, **statistics, training=True, momentum=0.3, eps=0.5)
    yield call(make(1, 2), None, make(2), make(2), make(2, low=0.5), False, 0.1, 0.5)
    yield call(make(2, 3, 0), None, None, None, None, True, 0.1, 0.5)


def batch_refusals(make: Make) -> Iterator[Refusal]:
    x, r, rest = make(2, 3), make(3), (0.1, 0.5)
    yield Refusal(call(r, None, None, r, r, False, *rest), r"`input` must be \[N, C, ...\]")
    at = call(x, None, None, None, None, False, *rest)
    yield Refusal(at, "`running_mean` must be given")
    at = call(x, None, None, r, r, False, 0.1, -1.0)
    yield Refusal(at, "`eps` must not be negative, got -1.0", ValueError)
    at = call(x, make(2), None, r, r, False, *rest)
    yield Refusal(at, r"`weight` must be of shape \[3\]")
    at = call(make(1, 3), None, None, r, r, True, *rest)
    yield Refusal(at, "more than one value per channel", ValueError)


def np_batch(x, weight, bias, running_mean, running_var, training, momentum, eps):
    shape, rest = (-1, *[1] * (x.ndim - 2)), tuple(i for i in range(x.ndim) if i != 1)
    if not training:
        mean, var = running_mean, running_var
        saved = np.zeros((2, 0), x.dtype)
    else:
        mean, var = x.mean(rest), x.var(rest)
        saved = mean, 1 / np.sqrt(var + eps)
    out = normalized(x, mean.reshape(shape), var.reshape(shape), weight, bias, shape, eps)
    return out, *saved


def through_all(out):
    y, mean, rstd = out
    return y[..., 1] + 2 * y[..., 2] + mean[..., 0] + rstd[..., 0]


NO_SLOPES = "PyTorch's statistics have no derivatives"
SLOPES = np.asarray([-2, 0, 2]) + 1 / 3


def layer_conventions(make: Make) -> Iterator[Convention]:
    constant = call(make.put([1, 1, 1]), (3,), None, None, 0.25)
    value = ([0, 0, 0], [1], [2])
    yield Convention(
        "a constant",
        constant,
        value,
        gradient=SLOPES,
        through=through_all,
        departure=NO_SLOPES,
    )


def group_conventions(make: Make) -> Iterator[Convention]:
    constant = call(make.put([[1, 1, 1]]), None, None, 1, 3, 1, 1, 0.25)
    value = ([[0, 0, 0]], [[1]], [[2]])
    yield Convention("a constant", constant, value, gradient=[SLOPES], through=through_all)


def batch_conventions(make: Make) -> Iterator[Convention]:
    rows = make.put([[[1, 1, 1]]])
    constant = call(rows, None, None, None, None, True, 0.1, 0.25)
    value = ([[[0, 0, 0]]], [1], [2])
    yield Convention(
        "a constant",
        constant,
        value,
        gradient=[[SLOPES]],
        through=through_all,
        departure=NO_SLOPES,
    )


def batch_departures(make: Make) -> Iterator[Departure]:
    x, rest = make(2, 1, 2), (True, 0.1, 1e-5)
    yield Departure(
        "refused",
        "there is one statistic for each channel; PyTorch looks at fewer than it reads",
        call(x, make(2), None, make(2), make(2), *rest),
        "`running_(?:mean|var)` must be",
    )
    yield Departure(
        "refused",
        "one value has no variance, as in `nn.functional.batch_norm`",
        call(make(1, 3), None, None, None, None, *rest),
        "needs more than one value per channel",
    )
    yield Departure(
        "accepted",
        "of nothing comes nothing",
        call(make(0, 2), make(2), make(2), None, None, *rest),
        "must have at least one element",
    )


OPS = [
    OpInfo(
        functx.native_layer_norm,
        layer_samples,
        reference=np_layer,
        refusals=layer_refusals,
        conventions=layer_conventions,
        tolerances=(SUMS,),
        gaps=(SQUARES,),
    ),
    OpInfo(
        functx.native_group_norm,
        group_samples,
        reference=np_group,
        refusals=group_refusals,
        conventions=group_conventions,
        tolerances=(SUMS,),
        gaps=(SQUARES, OF_TWO),
    ),
    OpInfo(
        functx.native_batch_norm,
        batch_samples,
        reference=np_batch,
        refusals=batch_refusals,
        conventions=batch_conventions,
        tolerances=(SUMS,),
        gaps=(SQUARES,),
        departures=(
            *(
                Departure(
                    "dtype",
                    "of nothing PyTorch has other statistics than of something, in float32",
                    answer=short,
                    match="None, None, None, None, True",
                    dtypes=frozenset({name}),
                )
                for short, name in (("f16", "float16"), ("bf16", "bfloat16"))
            ),
            batch_departures,
        ),
    ),
]

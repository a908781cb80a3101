from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import call, Make, OpInfo, Refusal, Sample


def layer_norm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (3,), make(3), make(3))
    yield call(make(2, 2, 3), [2, 3], make(2, 3), eps=0.5)
    yield call(make(2, 3), (3,), None, make(3))
    yield call(make(0, 3), (3,))


def layer_norm_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), [2]), r"must end in normalized_shape=\[2\], got f32\[2,3\]")
    yield Refusal(call(make(2, 3), []), r"must end in normalized_shape=\[\]")
    yield Refusal(call(make(2, 3), (3,), make(2)), r"`weight` must be of shape \[3\]")
    yield Refusal(
        call(make(2, 3), (3,), make(3, dtype="float64")), r"`weight` must have the dtype", TypeError
    )


def group_norm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), 2, make(4), make(4))
    yield call(make(1, 4, 3), 2, eps=0.5)
    yield call(make(1, 2, 2, 2), 1, None, make(2))
    yield call(make(0, 4), 2)


def group_norm_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(4), 2), r"`input` must be \[N, C, ...\], got f32\[4\]")
    yield Refusal(call(make(2, 4), 3), r"`num_groups` must divide the channels")
    yield Refusal(call(make(2, 4), 0), r"`num_groups` must be at least 1", ValueError)
    yield Refusal(call(make(1, 4), 4), r"must have more than one value", ValueError)
    yield Refusal(call(make(2, 4), 2, None, make(2)), r"`bias` must be of shape \[4\]")


def batch_norm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2), None, None, make(2), make(2), training=True)
    yield call(make(2, 2, 3), make(2), make(2, low=0.5), make(2), make(2))
    yield call(make(2, 2, 2), make(2), make(2, low=0.5), training=True, momentum=0.3, eps=0.5)
    yield call(make(1, 2), make(2), make(2, low=0.5), None, make(2))
    yield call(make(0, 2), make(2), make(2, low=0.5), training=True)


def batch_norm_refusals(make: Make) -> Iterator[Refusal]:
    x, r = make(2, 3), make(3)
    yield Refusal(call(make(3), r, r), r"`input` must be \[N, C, ...\], got f32\[3\]")
    yield Refusal(call(x, None, None), r"`running_mean` must be given")
    yield Refusal(call(x, r, None, training=True), r"must both be given, or neither", ValueError)
    yield Refusal(call(x, make(2), r), r"`running_mean` must be \[3\]")
    yield Refusal(call(x, r, r, make(2)), r"`weight` must be of shape \[3\]")
    yield Refusal(
        call(make(1, 3), r, r, training=True), r"more than one value per channel", ValueError
    )
    yield Refusal(
        call(x, r, make(3, dtype="float64")), r"`running_var` must have the dtype", TypeError
    )


def _normalized(x, mean, var, weight, bias, shape, eps):
    out = (x - mean) / np.sqrt(var + eps)
    out = out if weight is None else out * weight.reshape(shape)
    return out if bias is None else out + bias.reshape(shape)


def np_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(normalized_shape), 0))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return _normalized(x, mean, var, weight, bias, normalized_shape, eps)


def np_group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    out, size = np.zeros_like(x), x.shape[1] // num_groups
    for sample in range(len(x)):
        for start in range(0, x.shape[1], size):
            group = x[sample, start : start + size]
            out[sample, start : start + size] = (group - group.mean()) / np.sqrt(group.var() + eps)
    shape = (-1, *[1] * (x.ndim - 2))
    return _normalized(out, 0, 1, weight, bias, shape, 0)


def np_batch_norm(*args, **kwargs):
    return np_batch_norm_with_stats(*args, **kwargs)[0]


def np_batch_norm_with_stats(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    shape, rest = (-1, *[1] * (x.ndim - 2)), tuple(i for i in range(x.ndim) if i != 1)
    if x.size == 0:
        return x, running_mean, running_var
    mean, var = (x.mean(rest), x.var(rest)) if training else (running_mean, running_var)
    out = _normalized(x, mean.reshape(shape), var.reshape(shape), weight, bias, shape, eps)
    if training and running_mean is not None:
        running_mean = (1 - momentum) * running_mean + momentum * mean
        running_var = (1 - momentum) * running_var + momentum * x.var(rest, ddof=1)
    return out, running_mean, running_var


OPS = [
    OpInfo(F.layer_norm, layer_norm_samples, reference=np_layer_norm, refusals=layer_norm_refusals),
    OpInfo(F.group_norm, group_norm_samples, reference=np_group_norm, refusals=group_norm_refusals),
    OpInfo(F.batch_norm, batch_norm_samples, reference=np_batch_norm, refusals=batch_norm_refusals),
    OpInfo(
        F.batch_norm_with_stats,
        batch_norm_samples,
        reference=np_batch_norm_with_stats,
        refusals=batch_norm_refusals,
    ),
]

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .standardization import normalized, OF_TWO, SQUARES


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


def np_group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    out, size = np.zeros_like(x), x.shape[1] // num_groups
    for sample in range(len(x)):
        for start in range(0, x.shape[1], size):
            group = x[sample, start : start + size]
            out[sample, start : start + size] = (group - group.mean()) / np.sqrt(group.var() + eps)
    shape = (-1, *[1] * (x.ndim - 2))
    return normalized(out, 0, 1, weight, bias, shape, 0)


def group_norm_conventions(make: Make) -> Iterator[Convention]:
    constant = call(make.put([[1.0, 1.0]]), 1)
    yield Convention("a constant", constant, value=[[0, 0]], gradient=[[0, 0]])


OPS = [
    OpInfo(
        F.group_norm,
        group_norm_samples,
        reference=np_group_norm,
        refusals=group_norm_refusals,
        tolerances=(SUMS,),
        gaps=(SQUARES, OF_TWO),
        conventions=group_norm_conventions,
    ),
]

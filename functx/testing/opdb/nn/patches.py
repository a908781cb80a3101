from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import EXACT, SUMS


def unfold_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 2, 3), 2)
    yield call(make(2, 4, 5), (2, 3), 1, (1, 0), 2)
    yield call(make(1, 4, 5), 2, dilation=(1, 2), padding=1, stride=(2, 1))
    yield call(make(0, 1, 2, 2), 1)


def fold_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2, 3), (1, 3), 1)
    yield call(make(1, 4, 2), (2, 3), 2)
    yield call(make(6, 6), [3, 5], (2, 3), 1, (1, 0), (2, 1))
    yield call(make(1, 8, 6), 3, 2, dilation=(1, 2), padding=(0, 1), stride=1)
    yield call(make(0, 1, 4), 2, 1)


def np_unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    if x.ndim == 3:
        return np_unfold(x[None], kernel_size, dilation, padding, stride)[0]
    columns = [
        np.stack([np.zeros_like(x[:, :, 0, 0]) if at is None else x[(..., *at)] for at in patch], 2)
        for patch in places(x.shape[2:], kernel_size, dilation, padding, stride)
    ]
    return np.stack([column.reshape(len(x), np.prod(column.shape[1:])) for column in columns], 2)


def places(sizes, kernel_size, dilation, padding, stride):
    """Of each patch, the position in the image of each of its elements; None beside it."""
    pairs = (np.broadcast_to(v, 2).tolist() for v in (kernel_size, dilation, padding, stride))
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = pairs
    height, width = sizes
    rows = range(-ph, height + ph - dh * (kh - 1), sh)
    columns = range(-pw, width + pw - dw * (kw - 1), sw)
    inside = lambda r, c: (r, c) if 0 <= r < height and 0 <= c < width else None
    return [
        [inside(r + i * dh, c + j * dw) for i in np.arange(kh) for j in np.arange(kw)]
        for r in rows
        for c in columns
    ]


def unfold_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2), 1), r"`input` must have 3 dimensions, or 4 with a batch")
    yield Refusal(call(make(1, 0, 2), 1), r"elements in each image, got f\d+\[1,0,2\]")
    yield Refusal(call(make(1, 2, 2), 3), r"the dilated kernel must fit .* \[3, 3\] with dilation")
    yield Refusal(call(make(1, 2, 2), (1, 1, 1)), "`kernel_size` must be an int or 2", ValueError)
    yield Refusal(call(make(1, 2, 2), 1, 0), "`dilation` must be at least 1, got 0", ValueError)
    yield Refusal(call(make(1, 2, 2), 1, 1, -1), "`padding` must be at least 0, got -1", ValueError)
    yield Refusal(call(make(1, 2, 2), 1, 1, 0, 0), "`stride` must be at least 1, got 0", ValueError)


def fold_refusals(make: Make) -> Iterator[Refusal]:
    x = make(4, 2)
    yield Refusal(call(x[0], 2, 1), r"`input` must have 2 dimensions, or 3 with a batch")
    yield Refusal(call(make(4, 0), 2, 1), r"elements in each image, got f\d+\[4,0\]")
    yield Refusal(call(x, (2, 4), 2), r"`input` must be \[C \* 4, 3\], or have a batch")
    yield Refusal(call(make(3, 2), (2, 3), 2), r"`input` must be \[C \* 4, 2\], or have a batch")
    yield Refusal(call(x, (1, 3), 2), r"the dilated kernel must fit")
    yield Refusal(call(x, 0, 2), "`output_size` must be at least 1, got 0", ValueError)


def fold_conventions(make: Make) -> Iterator[Convention]:
    columns = np.asarray([[1, 0], [1, 1], [0, 0], [1, 1]], bool)
    joined = [[[True, True, True], [False, True, True]]]
    yield Convention("bools are joined", call(make.put(columns, bool), (2, 3), 2), value=joined)


def np_fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    if x.ndim == 2:
        return np_fold(x[None], output_size, kernel_size, dilation, padding, stride)[0]
    sizes, area = np.broadcast_to(output_size, 2), int(np.prod(np.broadcast_to(kernel_size, 2)))
    out = np.zeros((len(x), x.shape[1] // area, *sizes), x.dtype)
    patches = places(sizes, kernel_size, dilation, padding, stride)
    for patch, column in zip(patches, np.moveaxis(x, 2, 0), strict=True):
        for i, at in enumerate(patch):
            if at is not None:
                out[(..., *at)] += column[:, i::area]
    return out


OPS = [
    OpInfo(
        F.unfold,
        unfold_samples,
        reference=np_unfold,
        refusals=unfold_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        F.fold,
        fold_samples,
        reference=np_fold,
        refusals=fold_refusals,
        conventions=fold_conventions,
        tolerances=(SUMS,),
    ),
]

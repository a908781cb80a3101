from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge


def embedding_samples(make: Make) -> Iterator[Sample]:
    yield call(make.index(4, 2, 3), make(4, 2))
    yield call(make.index(4, 5), make(4, 2))
    yield call(make.index(4), make(4, 2))
    if category(make.dtype) >= 2:
        yield call(make.put([0, 2, 3], "int64"), make(4, 2), 1, 100.0, 1.0, True)
        yield edge(make.put([0, 2, 3], "int64"), make(4, 2), max_norm=0.5, norm_type=1.0)
        for options in ({"max_norm": 100.0}, {"scale_grad_by_freq": True}):
            yield edge(make.put(range(8), "int64"), make.delicate(8)[:, None], **options)
    yield call(make.index(4, 0), make(4, 2))
    yield call(make.index(4, 5, dtype="int32"), make(4, 2))


def embedding_refusals(make: Make) -> Iterator[Refusal]:
    one = make.index(1, 1)
    yield Refusal(call(one + 4, make(4, 2)), r"`input` must lie in \[0, 3\], got 4", IndexError)
    yield Refusal(call(one - 1, make(4, 2)), r"`input` must lie in \[0, 3\], got -1", IndexError)
    yield Refusal(call(make(2), make(4, 2)), "`input` must hold integers", TypeError)
    yield Refusal(call(one, make(4)), "`weight` must have 2 dimensions")
    yield Refusal(call(one, make(0, 2)), "must be empty for a dimension of size 0", IndexError)
    integers = make(4, 2, dtype="int32")
    yield Refusal(call(one, integers, max_norm=1), "is for floating tables", TypeError)
    complexes = make(4, 2, dtype="complex64")
    yield Refusal(call(one, complexes, max_norm=1j), "`max_norm` must not be complex", TypeError)
    yield Refusal(call(one, make(4, 2), padding_idx=4), "`padding_idx` must lie in", IndexError)
    yield Refusal(call(one, make(4, 2), sparse=True), "`sparse` gradients do not", ValueError)


def np_embedding(
    x,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    rows = weight[x]
    if max_norm is None:
        return rows
    norms = np.linalg.norm(rows, norm_type, -1, keepdims=True)
    return np.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)


def one_hot_samples(make: Make) -> Iterator[Sample]:
    yield call(make.index(3, 2, 3), 4)
    yield call(make.put([[0, 2], [1, 0]], "int64"))
    yield call(make.put([0, 2], "int64"), -1)
    yield call(make.index(3, 0), 2)
    yield call(make.index(3), num_classes=3)


def one_hot_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make.put([3], "int64"), 3), "less than num_classes=3, got 3")
    yield Refusal(call(make.put([-1], "int64"), 3), "must not be negative, got -1")
    yield Refusal(call(make.put([], "int64")), "the number of classes of an empty array")
    yield Refusal(call(make(2, dtype="float32"), 3), "`tensor` must hold integers", TypeError)
    yield Refusal(call(make.put([0], "int64"), -2), "`num_classes` must be -1 or more", ValueError)


def np_one_hot(x, num_classes=-1):
    return np.eye(x.max() + 1 if num_classes == -1 else num_classes, dtype="int64")[x]


def embedding_conventions(make: Make) -> Iterator[Convention]:
    rows, table = make.put([0, 1, 1], "int64"), make.put(np.ones((2, 2)))
    twice = call(rows, table)
    yield Convention("rows read twice", twice, gradient=[[1, 1], [2, 2]])
    padded = call(rows, table, padding_idx=-1)
    yield Convention("no gradient for padding", padded, gradient=[[1, 1], [0, 0]])
    scaled = call(rows, table, scale_grad_by_freq=True)
    yield Convention("by frequency", scaled, gradient=[[1, 1], [1, 1]])
    long = make.put([[3.0, 4.0], [0.3, 0.4]])
    for norm_type, value in [(2.0, [0.6, 0.8]), (1.0, [3 / 7, 4 / 7]), (np.inf, [0.75, 1.0])]:
        yield Convention(
            f"rows beyond max_norm are scaled down, their gradients are not, norm_type={norm_type}",
            call(make.put([0, 1], "int64"), long, max_norm=1.0, norm_type=norm_type),
            value=[value, [0.3, 0.4]],
            gradient=np.ones((2, 2)),
            ulps=1e9,  # PyTorch, and so functx, adds 1e-7 to the norm
        )
    endless = make.put([[np.inf, 1.0], [0.0, 0.0]])
    yield Convention(
        "nor do they see norms that have no derivative",
        call(make.put([0, 1], "int64"), endless, max_norm=1.0),
        value=[[np.nan, 0.0], [0.0, 0.0]],
        gradient=np.ones((2, 2)),
    )


def one_hot_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "classes may have any integer dtype: where 64 bit is off there is no int64",
        call(make.put([0, 1], "int8"), 2),
        "index tensor of type LongTensor",
    )
    yield Departure(
        "accepted",
        "of nothing there may be 0 classes, which PyTorch takes for a number to find out",
        call(make.put([], "int64"), 0),
        "Can not infer total number of classes",
    )


def embedding_departures(make: Make) -> Iterator[Departure]:
    rows = make.put([0, 1], "uint8")
    yield Departure(
        "accepted",
        "rows may have any integer dtype, as classes may",
        call(rows, make(3, 2)),
        r"argument #[12] 'indices'",
    )
    sparse = call(make.index(3, 2), make(3, 2), sparse=True)
    yield Departure(
        "refused", "gradients are dense arrays, always", sparse, "`sparse` gradients do not exist"
    )


OPS = [
    OpInfo(
        F.embedding,
        embedding_samples,
        reference=np_embedding,
        refusals=embedding_refusals,
        conventions=embedding_conventions,
        departures=(embedding_departures,),
        only_on={"sparse": frozenset()},
        kinked=True,
    ),
    OpInfo(
        F.one_hot,
        one_hot_samples,
        reference=np_one_hot,
        refusals=one_hot_refusals,
        dtypes=("int64",),
        departures=(one_hot_departures,),
    ),
]

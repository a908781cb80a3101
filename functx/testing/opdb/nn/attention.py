from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx.testing.opdb.rows import share
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tail import Tail
from functx.testing.tolerances import SUMS


def attention_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(4, 3), make(4, 2), make(2, 4))
    yield call(make(2, 2, 3), make(2, 3, 3), make(2, 3, 1), is_causal=True)
    yield call(make(2, 3), make(3, 3), make(3, 2), make.put([[1, 0, 1], [0, 0, 0]], bool))
    yield call(make(1, 4, 2, 2), make(1, 2, 2, 2), make(1, 2, 2, 1), enable_gqa=True)
    yield call(make(3, 1, 2), make(1, 2, 2), make(2, 2), scale=0.3)
    yield call(make(2, 3), make(0, 3), make(0, 2))
    yield call(make(1, 0), make(2, 0), make(2, 2))


def attention_refusals(make: Make) -> Iterator[Refusal]:
    q, k, v = make(2, 3), make(4, 3), make(4, 5)
    yield Refusal(call(make(3), k, v), r"must have 2 dimensions or more, got f32\[3\]")
    yield Refusal(call(q, make(4, 2), v), r"\[..., L, E\], \[..., S, E\], \[..., S, V\]")
    yield Refusal(call(q, k, make(3, 5)), r"\[..., L, E\], \[..., S, E\], \[..., S, V\]")
    yield Refusal(call(q, k, v, make(3, 4)), r"`attn_mask` must broadcast to \[2, 4\]")
    yield Refusal(call(q, k, v, make(2, 4, dtype="int32")), r"must be bool", TypeError)
    yield Refusal(call(q, k, v, make.mask(2, 4), 0.0, True), r"where `is_causal` is true")
    yield Refusal(call(q, k, v, None, 1.5), r"`dropout_p` must lie in \[0, 1\]", ValueError)
    yield Refusal(call(q, k, make(4, 5, dtype="float16")), r"the same dtype", TypeError)
    yield Refusal(call(q, k, v, enable_gqa=True), r"`enable_gqa` needs a dimension of heads")
    yield Refusal(
        call(make(3, 2, 3), make(2, 4, 3), make(2, 4, 5), enable_gqa=True), r"heads .* must divide"
    )
    yield Refusal(call(make(3, 2, 3), make(2, 4, 3), make(2, 4, 5)), r"must broadcast")


def dropout_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3), make(2, 1), dropout_p=0.5)
    yield call(make(1, 2, 3), make(2, 3, 3), make(2, 3, 1), None, 0.25, True)


def np_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=0
):
    weights = np_weights(query, key, attn_mask, is_causal, scale, enable_gqa)
    if enable_gqa:
        value = np.repeat(value, query.shape[-3] // value.shape[-3], -3)
    return weights @ value


def np_weights(query, key, attn_mask, is_causal, scale, enable_gqa):
    if enable_gqa:
        key = np.repeat(key, query.shape[-3] // key.shape[-3], -3)
    scale = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else scale
    scores = query @ np.swapaxes(key, -1, -2) * scale
    if is_causal:
        attn_mask = np.tri(*scores.shape[-2:], dtype=bool)
    if attn_mask is not None:
        scores = (
            np.where(attn_mask, scores, -np.inf)
            if attn_mask.dtype == bool
            else (scores + attn_mask)
        )
    highest = np.max(scores, -1, keepdims=True, initial=-1e300)
    powers = np.exp(scores - highest)
    return powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300)


def attention_moments(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    query, key, value = (np.asarray(x, "float64") for x in (query, key, value))
    weights = np_weights(query, key, attn_mask, is_causal, None, False)
    variance = (weights**2 @ value**2) * dropout_p / (1 - dropout_p)
    return weights @ value, np.sqrt(variance)


def attention_sampler(rng, n, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    weights = np_weights(query, key, attn_mask, is_causal, None, False)
    kept = rng.random((n, *weights.shape)) >= dropout_p
    return weights * kept / (1 - dropout_p) @ value


def attention_conventions(make: Make) -> Iterator[Convention]:
    q, k, v = (make.put(np.arange(4).reshape(2, 2) + i) for i in range(3))
    nothing = np.zeros((2, 2))
    for name, mask in [
        ("False", make.put(nothing, bool)),
        ("-inf", make.put(np.full((2, 2), -np.inf))),
    ]:
        gradient = (nothing, nothing, nothing, None)[: 3 + (name == "-inf")]
        yield Convention(
            f"to nothing, by {name}", call(q, k, v, mask), value=nothing, gradient=gradient
        )

    ones = make.put(np.ones((2, 2)))
    gradient = np.zeros((2, 2)), np.zeros((2, 2)), np.ones((2, 2))
    yield Convention("equal elements", call(ones, ones, ones), value=ones, gradient=gradient)


def dropout_conventions(make: Make) -> Iterator[Convention]:
    q = make.put(np.ones((2, 2)))
    for certain in (1.0, True):
        dropped = call(q, q, q, dropout_p=certain)
        yield Convention(f"all dropped, by {certain}", dropped, value=np.zeros((2, 2)))
    # Of one key the weight is 1, so that each row is the value, doubled or dropped.
    one, wild = make.put([[1.0]]), make.put([[np.nan]])
    for what, factor in [("small", 1e-4), ("of any size", 1 / 3)]:
        small = make.put([[factor]] * 8), make.put([[factor]]), make.put([[factor] * 2])
        doubled_or_dropped = lambda y, v=2 * small[2]: (y == v) | (y == 0)
        yield Convention(
            f"one key, {what}",
            call(*small, dropout_p=0.5),
            gradient=(np.zeros((8, 1)), np.zeros((1, 1)), None),
            holds=doubled_or_dropped,
        )
    yield Convention("equal", call(one, one, one, dropout_p=0.5), gradient=([[0]], [[0]], None))
    for i, what in enumerate(("query", "key", "value")):
        arrays = [one, one, one]
        arrays[i] = wild
        yield Convention(f"NaN in {what}", call(*arrays, dropout_p=0.5), holds=jnp.isnan)


def empty_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "shape",
        "leading dimensions broadcast, which PyTorch leaves out where there are no queries",
        call(make(1, 0, 3), make(2, 3, 3), make(2, 3, 1)),
        r"[\[,]0[,\]]",
    )
    yield Departure(
        "refused",
        "PyTorch gives zeros where there are no values, whatever the shapes",
        call(make(2, 3), make(3, 3), make(0, 1)),
        r"[\[,]0[,\]].*must be \[\.\.\., L, E\]",
    )
    yield Departure(
        "refused",
        "PyTorch overlooks that NaN is no probability",
        call(make(2, 3), make(2, 3), make(2, 3), dropout_p=float("nan")),
        "`dropout_p` must lie in",
    )


def attended(op: Any, x: Any) -> Any:
    """Of three keys the share of the first, to which the query gives this score."""
    zero = 0 * x
    keys = jnp.stack([zero + 1, zero, zero])[:, None]
    return op(x.reshape(1, 1), keys, keys, jnp.stack([zero, zero, zero - 1]))[0, 0]


OPS = [
    OpInfo(
        F.scaled_dot_product_attention,
        attention_samples,
        reference=np_attention,
        refusals=attention_refusals,
        tolerances=(SUMS,),
        conventions=attention_conventions,
        departures=(empty_departures,),
        tails=(Tail(share, attended),),
    ),
    OpInfo(
        F.scaled_dot_product_attention,
        dropout_samples,
        moments=attention_moments,
        sampler=attention_sampler,
        variant="dropout",
        tolerances=(SUMS,),
        conventions=dropout_conventions,
    ),
]

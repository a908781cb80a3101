from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opdb.rows import share
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tail import Tail
from functx.testing.tolerances import SUMS


def at(make: Make, *lengths: int, heads: int = 2, biases: bool = False, **options: Any) -> Sample:
    """A call with lengths `L, S` and a batch, if any, of vectors of 2 elements."""
    length, keys, *batch = lengths
    return call(
        make(length, *batch, 2),
        make(keys, *batch, 2),
        make(keys, *batch, 2),
        2,
        heads,
        make(6, 2),
        make(6) if biases else None,
        options.pop("bias_k", None),
        options.pop("bias_v", None),
        options.pop("add_zero_attn", False),
        options.pop("dropout_p", 0.0),
        make(2, 2),
        make(2) if biases else None,
        **options,
    )


def samples(make: Make) -> Iterator[Sample]:
    yield at(make, 2, 3, 2, biases=True, attn_mask=make(2, 3))
    masked = make.put([[0, 1, 0], [0, 0, 1]], bool)
    yield at(make, 2, 3, 2, key_padding_mask=masked, need_weights=False)
    nothing = make.put([[0, 1, 0], [1, 1, 1]], bool)  # what the second sample, or row, attends to
    yield at(make, 2, 3, attn_mask=nothing, key_padding_mask=make(3))
    yield at(make, 2, 3, 2, key_padding_mask=nothing, average_attn_weights=False)
    more = {"bias_k": make(1, 1, 2), "bias_v": make(1, 1, 2), "add_zero_attn": True}
    yield at(make, 1, 2, 2, **more, attn_mask=make(4, 1, 2))
    held = {"static_k": make(2, 3, 1), "static_v": make(2, 3, 1)}
    yield at(make, 2, 2, 1, **held, training=False, dropout_p=0.5)
    causal = make.put([[0, 1], [0, 0]], bool)
    yield at(make, 2, 2, 1, heads=1, attn_mask=causal, is_causal=True, need_weights=False)
    yield at(make, 2, 2, 0, need_weights=False)


def separate_samples(make: Make) -> Iterator[Sample]:
    # Of small ones, so that shares are neither 0 nor 1, where nothing moves them.
    arrays = make(2, 1, 2, low=-1, high=1), make(3, 1, 3, low=-1, high=1), make(3, 1, 1)
    shapes = {"q": (2, 2), "k": (2, 3), "v": (2, 1)}
    weights = {n: make(*shape, low=-1, high=1) for n, shape in shapes.items()}
    named = {f"{name}_proj_weight": x for name, x in weights.items()}
    rest = 2, 1, None, make(6), None, None, False, 0.0, make(2, 2), make(2)
    yield call(*arrays, *rest, use_separate_proj_weight=True, **named)


def dropout_samples(make: Make) -> Iterator[Sample]:
    yield at(make, 2, 3, heads=1, dropout_p=0.5)


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(at(make, 2, 2, 1, is_causal=True), "`attn_mask` must be given where `is_causal`")
    args = list(at(make, 2, 3, 2).args)

    def changed(i: int, value: Any, **options: Any) -> Sample:
        return call(*args[:i], value, *args[i + 1 :], **options)

    yield Refusal(changed(0, make(2)), "must all have 3 dimensions, or 2, got")
    yield Refusal(changed(1, make(3, 2)), "must all have 3 dimensions, or 2, got")
    yield Refusal(changed(3, 3), "`query` must be as wide as `embed_dim_to_check`=3")
    for heads in (3, 0):
        yield Refusal(changed(4, heads), "`num_heads` must divide `embed_dim_to_check`=2")
    for value in (make(2, 2, 2), make(3, 2, 1)):
        yield Refusal(changed(2, value), r"must be \[L, N, E\], \[S, N, K\] and \[S, N, V\]")
    yield Refusal(changed(5, make(5, 2)), "`in_proj_weight` must hold three projections")
    yield Refusal(changed(5, None), "the projection `q` has no weight")
    yield Refusal(changed(5, make(6, 3)), r"the weight of the projection `q` must be \[2, 2\]")
    yield Refusal(changed(6, make(9)), r"the bias of the projection `q` must be \[2\]")
    yield Refusal(changed(7, make(1, 1, 2)), "`bias_k` and `bias_v` must both be given, or neither")
    yield Refusal(changed(11, make(2, 3)), r"the weight of the projection `out` must be \[E, 2\]")
    static = at(make, 2, 3, 2, static_k=make(2, 3, 1))
    yield Refusal(static, r"`static_k` must be \[4, S, 1\]")
    biases = {"bias_k": make(1, 1, 2), "bias_v": make(1, 1, 2)}
    both = at(make, 2, 3, 2, **biases, static_k=make(4, 3, 1))
    yield Refusal(both, "`bias_k` and `bias_v` do not go with `static_k` and `static_v`")
    for name, mask in (("attn_mask", make(2, 2)), ("key_padding_mask", make(3, 2))):
        wrong = at(make, 2, 3, 2, **{name: mask})
        yield Refusal(wrong, rf"`{name}` must be \[2, 3\]")
        whole = at(make, 2, 3, 2, **{name: make(2, 3, dtype="int32")})
        yield Refusal(whole, f"`{name}` must hold bools or floats", TypeError)
    yield Refusal(at(make, 2, 3, dropout_p=1.5), r"`dropout_p` must lie in \[0, 1\]", ValueError)


def np_multi_head(
    query,
    key,
    value,
    width,
    heads,
    in_weight,
    in_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_weight,
    out_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """Sample by sample, and head by head."""
    if query.ndim == 2:
        query, key, value = query[:, None], key[:, None], value[:, None]
        key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        unbatched = True
    else:
        unbatched = False
    in_weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    if not use_separate_proj_weight:
        in_weights = np.split(in_weight, 3)
    in_biases = np.zeros((3, width)) if in_bias is None else np.split(in_bias, 3)
    length, batch, size = query.shape[0], query.shape[1], width // heads
    outputs, weights = np.zeros((length, batch, width)), []
    for n in range(batch):
        q, k, v = (
            x[:, n] @ w.T + b
            for x, w, b in zip((query, key, value), in_weights, in_biases, strict=True)
        )
        if bias_k is not None:
            k, v = np.concatenate([k, bias_k[0]]), np.concatenate([v, bias_v[0]])
        for h in range(heads):
            part = slice(h * size, (h + 1) * size)
            keys = k[:, part] if static_k is None else static_k[n * heads + h]
            values = v[:, part] if static_v is None else static_v[n * heads + h]
            if add_zero_attn:
                keys, values = (np.concatenate([x, np.zeros((1, size))]) for x in (keys, values))
            scores = q[:, part] @ keys.T / np.sqrt(size)
            for mask in (
                None if key_padding_mask is None else key_padding_mask[n],
                attn_mask[n * heads + h] if np.ndim(attn_mask) == 3 else attn_mask,
            ):
                if mask is not None:
                    added = np.where(mask, -np.inf, 0) if mask.dtype == bool else mask
                    scores[:, : added.shape[-1]] += added
            highest = scores.max(-1, keepdims=True)
            shares = np.exp(scores - np.where(highest == -np.inf, 0, highest))
            total = shares.sum(-1, keepdims=True)
            shares = shares / (total + (total == 0))
            outputs[:, n, part] = shares @ values
            weights.append(shares)
    outputs = outputs @ out_weight.T + (0 if out_bias is None else out_bias)
    if not need_weights:
        return outputs[:, 0] if unbatched else outputs, None
    weights = np.stack(weights).reshape(batch, heads, length, -1)
    weights = weights.mean(1) if average_attn_weights else weights
    if unbatched:
        outputs, weights = outputs[:, 0], weights[0]
    return outputs, weights


def weights_and_values(*args):
    """Of one head without projections of values and results but linear ones."""
    args = [np.asarray(x, "float64") if np.ndim(x) else x for x in args]
    _, weights = np_multi_head(*args[:10], 0.0, *args[11:])
    return weights, args[2] @ np.split(args[5], 3)[2].T @ args[11].T


def moments(*args):
    weights, values = weights_and_values(*args)
    factor = args[10] / (1 - args[10])
    spread = np.sqrt(weights**2 @ values**2 * factor)
    return (weights @ values, weights), (spread, weights * np.sqrt(factor))


def sampler(rng, n, *args):
    weights, values = weights_and_values(*args)
    weights = weights * (rng.random((n, *weights.shape)) >= args[10]) / (1 - args[10])
    return weights @ values, weights


NOTHING = "one row without a position makes all weights' gradients NaN in PyTorch"


def conventions(make: Make) -> Iterator[Convention]:
    x, eye, three = make.put([[1.0], [2.0]]), make.put([[1.0]]), make.put(np.ones((3, 1)))
    rest = 1, 1, three, None, None, None, False, 0.0, eye, None
    flat = [np.zeros((2, 1))] * 3 + [np.zeros((3, 1)), np.zeros((1, 1))]
    zeros = np.zeros((2, 1)), np.zeros((2, 2))
    both = lambda out: (out[0].sum(), (out[1] * np.arange(4.0).reshape(2, 2)).sum())
    first = lambda out: out[0]
    for name, never in (("True", make.put(np.ones((2, 2)), bool)), ("-inf", -np.inf)):
        mask = make.put(np.full((2, 2), never)) if name == "-inf" else never
        gradient = (*flat, np.zeros((2, 2))) if name == "-inf" else tuple(flat)
        size = sum(np.size(g) for g in gradient)
        asked = call(x, x, x, *rest, attn_mask=mask)
        hessian = np.zeros((size, size))
        stated = {"gradient": gradient, "hessian": hessian, "departure": NOTHING}
        yield Convention(f"to nothing, by {name}", asked, value=zeros, through=both, **stated)
        quiet = call(x, x, x, *rest, attn_mask=mask, need_weights=False)
        yield Convention(
            f"without weights, by {name}", quiet, value=zeros[:1], through=first, gradient=gradient
        )
    # The first of two samples attends to nothing, the second to the only key.
    two = make.put([[[1.0], [2.0]]])
    padded = make.put([[True], [False]], bool)
    for average in (True, False):
        half = call(two, two, two, *rest, key_padding_mask=padded, average_attn_weights=average)
        yield Convention(
            f"one of two to nothing, {average=}",
            half,
            value=(
                [[[0.0], [2.0]]],
                np.reshape([0.0, 1.0], (2, 1, 1) if average else (2, 1, 1, 1)),
            ),
            through=first,
            gradient=([[[0], [0]]], [[[0], [0]]], [[[0], [1]]], [[0], [0], [2]], [[2]]),
            departure=NOTHING,
        )


def dropout_conventions(make: Make) -> Iterator[Convention]:
    # Of one key the weight is 1, so that each row is the value, doubled or dropped.
    rest = 1, 1
    for what, factor in [("small", 1e-4), ("of any size", 1 / 3)]:
        rows, one = np.full((8, 1), factor), [[factor]]
        arrays = make.put(rows), make.put(one), make.put(one)
        weights = make.put([[factor]] * 3), None, None, None, False, 0.5, make.put(one), None
        doubled = lambda out, v=2 * factor**3: (abs(out[0] - v) < 1e-9 * v) | (out[0] == 0)
        gradient = np.zeros((8, 1)), np.zeros((1, 1)), None, None, None
        at = call(*arrays, *rest, *weights)
        first = lambda out: out[0]
        yield Convention(what, at, holds=doubled, through=first, gradient=gradient)
    for i, what in enumerate(("query", "key", "value", "in_proj_weight", "out_proj_weight")):
        arrays = [make.put([[1.0]])] * 3 + [make.put([[1.0]] * 3), make.put([[1.0]])]
        arrays[i] = arrays[i] * np.nan
        first, middle, last = arrays[:3], arrays[3], arrays[4]
        at = call(*first, *rest, middle, None, None, None, False, 0.5, last, None)
        yield Convention(f"NaN in {what}", at, holds=lambda out: out[0] != out[0])


def departures(make: Make) -> Iterator[Departure]:
    x, E = make(2, 1, 2, dtype="float16"), make(6, 2, dtype="float16")
    rest = None, None, None, False, 0.0, make(2, 2, dtype="float16"), None
    mask = make.put(np.zeros((2, 2)), "bfloat16")
    yield Departure(
        "accepted",
        "a mask may have any floating dtype",
        call(x, x, x, 2, 1, E, *rest, attn_mask=mask),
        "Input dtypes must be the same",
    )


def attended(op: Any, x: Any) -> Any:
    """Of three keys the share of the first, to which the query gives this score."""
    zero = 0 * x
    keys = jnp.stack([zero + 1, zero, zero])[:, None]
    mask = jnp.stack([zero, zero, zero - 1])[None]
    eye = jnp.ones((3, 1), x.dtype), None, None, None, False, 0.0, jnp.ones((1, 1), x.dtype), None
    return op(x.reshape(1, 1), keys, keys, 1, 1, *eye, attn_mask=mask)[0][0, 0]


OPS = [
    OpInfo(
        F.multi_head_attention_forward,
        samples,
        np_multi_head,
        refusals,
        tolerances=(SUMS,),
        conventions=conventions,
        departures=(
            Departure(
                "dtype",
                "PyTorch's second result is None, without a dtype",
                answer="*",
                match="need_weights=False",
            ),
            departures,
        ),
        tails=(Tail(share, attended),),
    ),
    OpInfo(
        F.multi_head_attention_forward,
        separate_samples,
        np_multi_head,
        variant="separate",
        tolerances=(SUMS,),
    ),
    OpInfo(
        F.multi_head_attention_forward,
        dropout_samples,
        variant="dropout",
        tolerances=(SUMS,),
        moments=moments,
        sampler=sampler,
        conventions=dropout_conventions,
    ),
]

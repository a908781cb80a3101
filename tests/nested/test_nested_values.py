"""Functions of one sequence over ragged batches give what a loop over the sequences gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sequences import assert_like_a_loop, LENGTHS, Sequences

import functx
import functx.nn.functional as F  # noqa: N812


RNG = np.random.default_rng(1)
X = Sequences(LENGTHS, 4, name="n")
Y = Sequences((2, 4, 1), 4, name="m")
V = Sequences(LENGTHS, name="n")
TOKENS = Sequences(LENGTHS, name="n", below=5)
SQUARE, WIDE = jnp.asarray(RNG.normal(size=(4, 4))), jnp.asarray(RNG.normal(size=(5, 4)))
NARROW, TABLE = jnp.asarray(RNG.normal(size=(4, 5))), jnp.asarray(RNG.normal(size=(5, 4)))
KERNEL = jnp.asarray(RNG.normal(size=(2, 4, 3)))


def heads(wq, wk, x):
    n = x.shape[0]

    def split(y):
        return functx.transpose(functx.reshape(y, (n, 2, 2)), 0, 1)

    y = F.scaled_dot_product_attention(split(F.linear(x, wq)), split(F.linear(x, wk)), split(x))
    return functx.reshape(functx.transpose(y, 0, 1), (n, 4))


def block(wq, wk, w1, w2, x):
    x = x + heads(wq, wk, F.layer_norm(x, (4,)))
    return x + F.linear(F.gelu(F.linear(F.layer_norm(x, (4,)), w1)), w2)


def recurrent(w, x, reverse=False):
    def step(h, x):
        h = jnp.tanh(w @ h + x)
        return h, h

    return jax.lax.scan(step, jnp.zeros(4), x, reverse=reverse)


OF_ONE = {
    "sum": lambda x: (functx.sum(x), functx.sum(x, 0), functx.sum(x, 1)),
    "prod": lambda x: functx.prod(x, 0),
    "mean": lambda x: (functx.mean(x), functx.mean(x, 0)),
    "var": lambda x: functx.var(x, 0, correction=0),
    "std": lambda x: functx.std(x),
    "amax": lambda x: (functx.amax(x, 0), functx.amin(x)),
    "argmax": lambda x: (functx.argmax(x, 0), functx.argmax(x), functx.argmin(x, 0)),
    "any": lambda x: (functx.any(x > 0, 0), functx.all(x > -2, 0), functx.count_nonzero(x > 0, 0)),
    "softmax": lambda x: functx.softmax(x, 0),
    "log_softmax": lambda x: functx.log_softmax(x, 0),
    "logsumexp": lambda x: functx.logsumexp(x, 0),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "instance_norm": lambda x: F.instance_norm(functx.cat([x, x]).T[None])[0],
    "self_attention": lambda x: F.scaled_dot_product_attention(x, x, x),
    "causal_attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    "cumsum": lambda x: (functx.cumsum(x, 0), functx.cumprod(x, 0), functx.cummax(x, 0)),
    "cumulative_of_jax": lambda x: (
        jnp.cumsum(x, 0),
        jax.lax.cumsum(x, reverse=True),
        jax.lax.cumlogsumexp(x, reverse=True),
        jax.lax.cummax(x, reverse=True),
    ),
    "logcumsumexp": lambda x: functx.logcumsumexp(x, 0),
    "sort": lambda x: (functx.sort(x, 0), functx.sort(x, 0, descending=True)),
    "topk": lambda x: functx.topk(x, 1, 0),
    "median": lambda x: (functx.median(x, 0), functx.quantile(x, 0.3, 0)),
    "flip": lambda x: functx.flip(x, (0,)),
    "roll": lambda x: (functx.roll(x, 1, 0), functx.roll(x, -2, 0)),
    "norm": lambda x: (functx.linalg.vector_norm(x), functx.norm(x, dim=0)),
    "places": lambda x: (x[-1], x[0], x[1:] - x[:-1], x[::2], functx.diff(x, dim=0)),
    "writes": lambda x: (x.at[0].set(1.0), x.at[-1].add(1.0), x.at[1:].set(2 * x[1:])),
    "reshape": lambda x: (functx.reshape(x, (-1,)), functx.reshape(x.T, (-1,))),
    "reshape_twice": lambda x: functx.reshape(functx.reshape(x.T, (-1,)), (-1, 2)).sum(1),
    "products": lambda x: functx.matmul(x, x.T).sum(1),
    "triangle": lambda x: functx.tril(functx.matmul(x, x.T)).sum(0),
    "distances": lambda x: functx.cdist(x, x + 1).sum(0),
    "pad": lambda x: F.pad(x, (0, 0, 1, 2)),
    "concatenate": lambda x: (functx.cat([x, 2 * x]), functx.cat([x, x], 1)),
    "tile": lambda x: (functx.tile(x, (2, 1)), functx.tile(x, (1, 2)), jnp.tile(x, (2, 1))),
    "stack": lambda x: functx.stack([x, 2 * x], 1),
    "scan": lambda x: jax.lax.scan(lambda c, x: (jnp.exp(-c) * x, c), jnp.ones(4), x),
    "while": lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y - y.mean(0), x),
    "branches": lambda x: jax.lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, x),
    "checkpoint": lambda x: jax.checkpoint(lambda x: jnp.sin(x).sum(0))(x),
    "of_jax": lambda x: (jnp.var(x), jnp.max(x, 0), jax.nn.softmax(x, 0), jax.nn.relu(x)),
    "gradient_inside": lambda x: functx.grad(lambda x: (functx.softmax(x, 0) ** 2).sum())(x),
    "hessian_inside": lambda x: functx.hessian(lambda x: functx.logsumexp(x, 0).sum())(x).sum(0),
    "interpolate": lambda x: F.interpolate(x.T[None], scale_factor=2)[0],
    "sizes": lambda x: (jnp.asarray(x.shape[0]), functx.div(x.sum(), jnp.asarray(x.shape[0]))),
}


# What is called without `jit`, too: of each way in which results are made, one.
EAGER = {"sum", "softmax", "self_attention", "sort", "places", "scan", "branches", "sizes"}


@pytest.mark.parametrize("name", OF_ONE)
def test_function_of_one_sequence(name):
    assert_like_a_loop(OF_ONE[name], X, eager=name in EAGER)


WITH_WEIGHTS = {
    "linear": (lambda w, x: F.linear(x, w), (WIDE,), (X,)),
    "embedding": (lambda w, t: F.embedding(t, w), (TABLE,), (TOKENS,)),
    "token_at_the_front": (lambda w, x: functx.cat([w, x]), (WIDE,), (X,)),
    "multi_head_attention": (heads, (SQUARE, SQUARE + 1), (X,)),
    "transformer_block": (block, (SQUARE, SQUARE + 1, WIDE, NARROW), (X,)),
    "recurrence": (recurrent, (SQUARE,), (X,)),
    "recurrence_backwards": (lambda w, x: recurrent(w, x, True), (SQUARE,), (X,)),
    "cross_entropy": (lambda w, x, t: F.cross_entropy(F.linear(x, w), t), (WIDE,), (X, TOKENS)),
    "nll_loss": (lambda w, x, t: F.nll_loss(F.log_softmax(x @ w.T, 1), t), (WIDE,), (X, TOKENS)),
    "shared_scale": (lambda w, x: functx.log(functx.abs(x * w[0, 0])) / x, (SQUARE,), (X,)),
    "shared_product": (lambda w, x: functx.log(functx.abs(x @ w)).sum(), (SQUARE,), (X,)),
    "convolution": (lambda k, x: F.conv1d(x.T, k, padding=1), (KERNEL,), (X,)),
    "convolution_transposed": (
        lambda k, x: F.conv_transpose1d(x.T, k.transpose(1, 0, 2), stride=2),
        (KERNEL,),
        (X,),
    ),
}


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_function_with_weights(name):
    function, weights, sequences = WITH_WEIGHTS[name]
    assert_like_a_loop(function, *sequences, weights=weights)


OF_TWO = {
    "cross_attention": lambda x, y: F.scaled_dot_product_attention(x, y, y),
    "concatenate": lambda x, y: functx.cat([x, y]),
    "distances": lambda x, y: functx.cdist(x, y),
    "weights_of_attention": lambda x, y: functx.softmax(functx.matmul(x, y.T), -1),
    "merged": lambda x, y: functx.reshape(functx.matmul(x, y.T), (-1,)),
}


@pytest.mark.parametrize("name", OF_TWO)
def test_sizes_of_two_names(name):
    assert_like_a_loop(OF_TWO[name], X, Y, eager=name == "merged")


def test_sizes_of_one_name():
    assert_like_a_loop(lambda x, v: F.mse_loss(functx.sum(x, 1), v), X, V)
    assert_like_a_loop(lambda x, v: functx.sum(x * v[:, None], 0), X, V)


def test_windows():
    x = Sequences((3, 2, 6), 4, size=8)
    assert_like_a_loop(lambda x: F.max_pool1d(x.T, 2), x, eager=True)
    assert_like_a_loop(lambda x: F.max_pool1d(x.T, 2, ceil_mode=True), x)


WITH_EMPTY = {
    "sum": lambda x: (functx.sum(x, 0), functx.softmax(x, 0), functx.cumsum(x, 0)),
    "moved": lambda x: (functx.sort(x, 0), functx.flip(x, (0,)), functx.cat([x, x])),
    "mean_or_zero": lambda x: functx.div(
        functx.sum(x), functx.clamp(jnp.asarray(x.shape[0]), min=1)
    ),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
}


@pytest.mark.parametrize("name", WITH_EMPTY)
def test_some_sequences_are_empty(name):
    assert_like_a_loop(WITH_EMPTY[name], Sequences((3, 0, 1), 4), eager=True)


def test_some_sequences_are_empty_and_weights_are_shared():
    x, y = Sequences((3, 0, 1), 4, name="n"), Sequences((0, 2, 0), 4, name="m")
    assert_like_a_loop(lambda x, y: F.scaled_dot_product_attention(x, y, y), x, y)
    assert_like_a_loop(block, x, weights=(SQUARE, SQUARE + 1, WIDE, NARROW))
    assert_like_a_loop(recurrent, x, weights=(SQUARE,))
    assert_like_a_loop(lambda w, x: functx.cat([w, x]), x, weights=(WIDE,))


def test_nothing_but_empty_sequences():
    assert_like_a_loop(
        lambda x: (functx.sum(x, 0), functx.softmax(x, 0)), Sequences((0, 0), 4), eager=True
    )

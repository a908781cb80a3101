"""Operators that take some rows at a time give what they give of all at once."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
import functx.nn.functional as F
from functx._ops.nn import row_blocks
from functx.testing.checks.programs import compiled


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape))


@pytest.fixture
def few_at_once(monkeypatch):
    """Blocks of small shapes, of which no other test may have made a program: those are kept."""
    monkeypatch.setattr(row_blocks, "MANY", 64)


Q, K, V = normal(0, 2, 21, 3), normal(1, 2, 9, 3), normal(2, 2, 9, 4)
MASKS = {
    "none": {},
    "causal": {"is_causal": True},
    "of each row": {"attn_mask": normal(3, 21, 9) > -1},
    "of all rows": {"attn_mask": normal(3, 2, 1, 9)},
    "of positions": {"attn_mask": normal(3, 9)},
}


def attention(q, k, v, attn_mask=None, is_causal=False):
    scores = q @ k.mT / math.sqrt(3)
    if attn_mask is not None and attn_mask.dtype == bool:
        scores = jnp.where(attn_mask, scores, -jnp.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones((21, 9), bool)), scores, -jnp.inf)
    return jax.nn.softmax(scores, -1) @ v


def alike(f, plain, *xs):
    """Values, gradients, tangents, and derivatives of gradients."""
    every = tuple(range(len(xs)))
    turned = tuple(jnp.cos(7 * x) for x in xs)

    def derivatives(f):
        total = lambda *xs: jnp.sum(f(*xs) ** 2)
        gradient = functx.grad(total, argnums=every)
        value, tangent = functx.jvp(f, xs, turned)
        slopes, moved = functx.jvp(gradient, xs, turned)
        twice = functx.grad(lambda *xs: jnp.sum(functx.grad(total)(*xs) ** 2))(*xs)
        return value, tangent, slopes, moved, twice

    every_one = (jax.tree.leaves(compiled(lambda g=g: derivatives(g))()) for g in (f, plain))
    for got, want in zip(*every_one, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("mask", MASKS)
def test_attention_of_blocks_is_that_of_all_rows(few_at_once, mask):
    f = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **MASKS[mask])
    alike(f, lambda q, k, v: attention(q, k, v, **MASKS[mask]), Q, K, V)


def test_the_gradient_of_long_attention_needs_no_scores_of_all_rows():
    x = jax.ShapeDtypeStruct((4096, 4), "float32")
    total = lambda q, k, v: F.scaled_dot_product_attention(q, k, v).sum()
    assert temporary(functx.grad(total, argnums=(0, 1, 2)), x, x, x) < 4096**2 / 8


def test_few_rows_are_one_block(few_at_once):
    shapes = []
    row_blocks.in_blocks(lambda first, x: shapes.append(x.shape) or x, 40, jnp.ones((4, 2)))
    assert shapes == [(4, 2)]


def test_blocks_drop_otherwise(few_at_once):
    queries, keys, key = jnp.ones((16, 2)), jnp.ones((9, 2)), jax.random.key(3)
    out = F.scaled_dot_product_attention(queries, keys, jnp.eye(9), None, 0.5, rng_key=key)
    assert {round(float(y), 6) for y in out.ravel()} == {0, round(2 / 9, 6)}
    assert not np.array_equal(out[:8], out[8:])


@pytest.mark.parametrize("options", [{}, {"reduction": "none"}, {"label_smoothing": 0.1}])
@pytest.mark.parametrize("chances", [False, True])
def test_classification_of_blocks_is_that_of_all_rows(few_at_once, options, chances):
    x, W, b, weight = normal(0, 21, 3), normal(1, 9, 3), normal(2, 9), abs(normal(3, 9))
    t = jax.nn.softmax(normal(4, 21, 9)) if chances else jnp.arange(21) % 9
    t = t if chances else t.at[4].set(-100)
    f = lambda x, W, b, w: F.linear_cross_entropy(x, W, t, linear_bias=b, weight=w, **options)
    plain = lambda x, W, b, w: F.cross_entropy(x @ W.T + b, t, w, **options)
    alike(f, plain, x, W, b, weight)


def test_the_gradient_of_many_classes_needs_no_logits_of_all_rows():
    x = jax.ShapeDtypeStruct((4096, 4), "float32")
    t = jax.ShapeDtypeStruct((4096,), "int32")
    assert temporary(functx.grad(F.linear_cross_entropy, argnums=(0, 1)), x, x, t) < 4096**2 / 8


def temporary(f, *shapes):
    """The memory that a program needs besides its arguments and results, in float32 numbers."""
    memory = jax.jit(f).lower(*shapes).compile().memory_analysis()
    return memory.temp_size_in_bytes // 4

"""Ragged batches themselves, and through transforms."""

import copy

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sequences import assert_equal, LENGTHS, Sequences

import functx
import functx.nested as fn
import functx.nn.functional as F  # noqa: N812


X = Sequences(LENGTHS, 4, name="n")
W = jnp.asarray(np.random.default_rng(2).normal(size=(4, 4)))


def pooled(w, x):
    return F.scaled_dot_product_attention(F.linear(x, w), x, x).sum(0)


def test_arrays_come_back():
    arrays = [jnp.ones((2, 3)), jnp.zeros((0, 3)), jnp.full((4, 3), 2.0)]
    x = fn.nested(arrays)
    assert len(x) == 3 and x.lengths.tolist() == [2, 0, 4]
    for got, want in zip(x.unbind(), arrays, strict=True):
        assert_equal(got, want)
    assert [y.shape for y in x] == [y.shape for y in arrays]
    assert x.padded(7.0)[0, 2:].min() == 7 and x.mask.sum() == 3 * 6
    assert repr(copy.copy(x)) == repr(x) == "Nested(f64[3,n,3], n=[2, 0, 4])"


def test_any_dimension_is_ragged():
    arrays = [jnp.arange(6.0).reshape(2, 3), jnp.arange(2.0).reshape(2, 1)]
    x = fn.nested(arrays, dim=-1, name="m")
    assert repr(x) == "Nested(f64[2,2,m], m=[3, 1])"
    assert_equal(fn.vmap(lambda x: x.mean(1))(x)[1], arrays[1].mean(1))


def test_several_dimensions_are_ragged():
    arrays = [jnp.arange(6.0).reshape(2, 3), jnp.arange(4.0).reshape(4, 1)]
    x = fn.nested(arrays, dim=(0, 1), name=("h", "w"))
    assert [y.tolist() for y in x.lengths] == [[2, 4], [3, 1]]
    got = fn.vmap(lambda x: (x.T.reshape(-1), x.mean(0)))(x)
    for k, want in enumerate(arrays):
        assert_equal(got[0].unbind()[k], want.T.reshape(-1))
        assert_equal(got[1].unbind()[k], want.mean(0))


def test_buckets():
    arrays = [jnp.ones(3), jnp.ones(5)]
    sizes = [fn.nested(arrays, buckets=b).padded().shape[1] for b in (None, "powers", [4, 16, 6])]
    assert sizes == [5, 8, 6]


def test_results_keep_names():
    y = fn.vmap(lambda x: x * 2)(X.batch)
    assert y.names == ("n",)
    assert_equal(fn.vmap(lambda x, y: (x * y).sum())(X.batch, y)[1], (X.arrays[1] ** 2 * 2).sum())


def test_compiled_once_for_each_bucket():
    traced = []

    @functx.jit
    def gradient(w, x):
        traced.append(x)
        return functx.grad(lambda w: fn.vmap(lambda x: pooled(w, x))(x).sum())(w)

    for lengths in ([3, 4], [1, 4], [2, 3], [8, 5], [7, 7], [5, 1]):
        arrays = Sequences(lengths, 4).arrays
        got = gradient(W, fn.nested(arrays, buckets="powers"))
        want = functx.grad(lambda w, xs=arrays: sum(pooled(w, x).sum() for x in xs))(W)
        assert_equal(got, want)
    assert len(traced) == 2


def test_jit_takes_and_returns_batches():
    got = functx.jit(lambda x: fn.vmap(lambda x: functx.softmax(x, 0))(x))(X.batch)
    for mine, x in zip(got.unbind(), X.arrays, strict=True):
        assert_equal(mine, functx.softmax(x, 0))


def test_over_another_batch():
    others = Sequences([2, 1, 4], 4, size=7, name="n")
    both = jax.tree.map(lambda *x: jnp.stack(x), X.batch, others.batch)
    got = functx.vmap(lambda x: fn.vmap(lambda x: functx.softmax(x, 0).sum(1))(x))(both)
    for k, x in enumerate([X, others]):
        want = fn.vmap(lambda x: functx.softmax(x, 0).sum(1))(x.batch)
        assert_equal(got.padded()[k], want.padded())


def test_over_batched_weights():
    weights = jnp.stack([W, W + 1])
    got = functx.vmap(lambda w: fn.vmap(lambda x: pooled(w, x))(X.batch))(weights)
    for k, w in enumerate(weights):
        for mine, x in zip(got[k], X.arrays, strict=True):
            assert_equal(mine, pooled(w, x))


def test_second_derivatives():
    got = functx.hessian(lambda w: fn.vmap(lambda x: pooled(w, x))(X.batch).sum())(W)
    want = functx.hessian(lambda w: sum(pooled(w, x).sum() for x in X.arrays))(W)
    assert_equal(got, want)


def test_forward_mode_and_pullbacks():
    mapped = fn.vmap(lambda x: functx.softmax(x, 0))
    values, tangents = functx.jvp(mapped, (X.batch,), (X.batch,))
    for t, x in zip(tangents.unbind(), X.arrays, strict=True):
        assert_equal(t, functx.jvp(lambda x: functx.softmax(x, 0), (x,), (x,))[1])
    _, pull = functx.vjp(mapped, X.batch)
    (cotangent,) = pull(values)
    assert repr(cotangent) == repr(X.batch)
    for ct, x in zip(cotangent.unbind(), X.arrays, strict=True):
        y, pull_one = functx.vjp(lambda x: functx.softmax(x, 0), x)
        assert_equal(ct, pull_one(y)[0])


def test_gradcheck_takes_batches():
    loss = lambda x: fn.vmap(lambda x: (functx.softmax(x, 0) ** 2).sum())(x).sum()
    assert functx.testing.gradcheck(loss, (X.batch,))


def test_function_with_saved_tensors():
    class Scaled(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2 / 2

        @staticmethod
        def backward(ctx, ct):
            (x,) = ctx.saved_tensors
            return ct * x * ct.sum()

    got = functx.grad(lambda x: fn.vmap(lambda x: Scaled.apply(x).sum())(x).sum())(X.batch)
    for mine, x in zip(got.unbind(), X.arrays, strict=True):
        assert_equal(mine, x * x.size)


def test_gradients_have_zeros_for_padding():
    gradient = functx.grad(lambda x: fn.vmap(lambda x: (1 / x).sum())(x).sum())(X.batch)
    values = jax.tree.leaves(gradient)[0]
    assert not jnp.where(X.batch.mask, 0, values).any()


def test_ties_are_shared_by_the_sequence_alone():
    arrays = [jnp.full(2, -jnp.inf), jnp.asarray([1.0, 1.0, 0.0])]
    x = fn.nested(arrays, buckets=[4])
    gradient = functx.grad(lambda x: fn.vmap(jnp.max)(x).sum())(x)
    assert [g.tolist() for g in gradient.unbind()] == [[0.5, 0.5], [0.5, 0.5, 0.0]]


def test_rules_of_jax_see_the_sequence_alone():
    @jax.custom_vjp
    def normalised(x):
        return x

    normalised.defvjp(lambda x: (x, None), lambda _, ct: (ct / jnp.linalg.norm(ct),))

    @jax.custom_jvp
    def centred(x):
        return x - x.mean()

    centred.defjvp(lambda xs, dots: (centred(xs[0]), 3 * (dots[0] - dots[0].mean())))
    for function in (normalised, centred):
        loss = lambda x, f=function: jnp.sin(f(x)).sum()
        got = functx.grad(lambda x, loss=loss: fn.vmap(loss)(x).sum())(X.batch)
        for mine, x in zip(got.unbind(), X.arrays, strict=True):
            assert_equal(mine, jax.grad(loss)(x))


def test_collectives_cross_the_batch():
    share = lambda x: x.sum() / jax.lax.psum(x.sum(), "i")
    got = fn.vmap(share, axis_name="i")(X.batch)
    assert_equal(got[1], X.arrays[1].sum() / sum(x.sum() for x in X.arrays))


def test_in_chunks():
    got = fn.vmap(lambda x: pooled(W, x), chunk_size=2)(X.batch)
    for mine, x in zip(got, X.arrays, strict=True):
        assert_equal(mine, pooled(W, x))


def test_random_numbers_of_keys():
    drop = lambda x: F.dropout(x, 0.5, True, key=jax.random.key(3))
    for mine, x in zip(fn.vmap(drop)(X.batch).unbind(), X.arrays, strict=True):
        assert_equal(mine, drop(x))


def test_ambient_random_numbers():
    with functx.random.scope(jax.random.key(0)):
        y = fn.vmap(lambda x: functx.rand_like(x), randomness="different")(X.batch)
    first, second = y.unbind()[0], y.unbind()[2]
    assert ((first >= 0) & (first < 1)).all() and not jnp.allclose(first, second[:3])


def test_other_arguments():
    scale = jnp.asarray([1.0, 2.0, 3.0])
    got = fn.vmap(lambda x, s, t: (x * s + t["shift"]).sum(0), in_dims=(0, 0, None))(
        X.batch, scale, {"shift": 1.0}
    )
    for mine, x, s in zip(got, X.arrays, scale, strict=True):
        assert_equal(mine, (x * s + 1).sum(0))
    by_name = fn.vmap(lambda x, *, s: (x * s).sum(), kw_in_dims={"s": 0})(X.batch, s=scale)
    assert_equal(by_name[2], (X.arrays[2] * 3).sum())


@pytest.mark.parametrize("setting", ["x64 off", "float32"])
def test_single_precision(setting):
    with functx.x64(setting != "x64 off"):
        x = fn.nested([jnp.ones((3, 2), "float32"), jnp.ones((1, 2), "float32")])
        y = fn.vmap(lambda x: (functx.var(x, correction=0), x[-1], functx.argmax(x)))(x)
        assert y[0].dtype == jnp.float32 and not y[0].any() and y[1].shape == (2, 2)


@pytest.mark.parametrize("op", ["sin", "digamma", "logcumsumexp", "remainder"])
def test_operators_that_compute_in_64_bit_where_it_is_off(op):
    function = {
        "sin": lambda x: functx.sin(3 * x).sum(),
        "digamma": lambda x: functx.digamma(x + 1).sum(),
        "logcumsumexp": lambda x: functx.logcumsumexp(x, 0).sum(),
        "remainder": lambda x: functx.remainder(x, 0.7).sum(),
    }[op]
    with functx.x64(False):
        arrays = [jnp.asarray([0.3, 2.5, 1.9]), jnp.asarray([0.8])]
        value, slope = functx.value_and_grad(lambda x: fn.vmap(function)(x).sum())(
            fn.nested(arrays)
        )
        want = [functx.value_and_grad(function)(x) for x in arrays]
        np.testing.assert_allclose(value, sum(w for w, _ in want), rtol=1e-6)
        for mine, (_, other) in zip(slope.unbind(), want, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-6)


def test_lengths_that_are_traced():
    @functx.jit
    def total(values, lengths):
        return fn.vmap(lambda x: functx.sum(x))(fn.from_padded(values, lengths))

    values = jnp.asarray([[1.0, 2.0, jnp.nan], [jnp.nan] * 3])
    assert total(values, jnp.asarray([2, 0])).tolist() == [3.0, 0.0]

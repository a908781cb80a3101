"""Functions that are refused before they run, and the checkpoint that would make them fit."""

from __future__ import annotations

import re

import cloudpickle
import jax
import jax.numpy as jnp
import pytest

import functx
from functx.memory import analyze, budget, OutOfMemoryError, OverBudget


W = [jnp.full((16, 16), 0.1, "float32")] * 8
X = jnp.ones((64, 16), "float32")


def loss(weights, x):
    for w in weights:
        x = functx.tanh(functx.matmul(x, w)) * functx.sin(x)
    return functx.sum(x)


GRADIENT = functx.grad(loss)
NEEDS = analyze(GRADIENT, W, X).peak_bytes


def refusal(f, *args, **kwargs):
    with pytest.raises(OverBudget) as caught:
        f(*args, **kwargs)
    return caught.value


def test_what_fits_runs_as_it_is():
    want, got = GRADIENT(W, X), budget(GRADIENT, NEEDS)(W, X)
    assert all(bool((a == b).all()) for a, b in zip(want, got, strict=True))
    assert budget(GRADIENT, NEEDS).__name__ == GRADIENT.__name__


def test_what_does_not_fit_does_not_run():
    ran = []

    def f(x):
        jax.debug.callback(lambda: ran.append(1))
        return functx.matmul(x, x.T)

    error = refusal(budget(f, 1000), X)
    jax.effects_barrier()
    assert not ran
    assert error.report.peak_bytes == X.nbytes + 64 * 64 * 4
    assert isinstance(error, OutOfMemoryError) and isinstance(error, MemoryError)
    assert str(error).startswith(
        "memory.budget: `f` needs 20,480 bytes at once, and `bytes` allows 1,000; at its peak, in "
        "matmul, test_memory_budgets.py:"
    )
    assert re.search(r"^ +16,384  f32\[64,64\]  matmul ", str(error), re.M)


def written(error):
    """The checkpoint that a hint names, and what it says that it needs."""
    pattern = r"hint: functx\.checkpoint\(loss, (.*?)\) in place of loss needs (\S+)"
    found = re.search(pattern, str(error))
    return eval(f"dict({found[1]})"), int(found[2].replace(",", ""))


@pytest.mark.parametrize("share, option", [(0.9, "policy"), (0.7, "policy"), (0.55, "budget")])
def test_the_checkpoint_that_is_named_does_what_is_said(share, option):
    limit = int(share * NEEDS)
    error = refusal(budget(GRADIENT, limit), W, X)
    options, needs = written(error)
    assert needs <= limit and option in options
    mended = functx.grad(functx.checkpoint(loss, **options))
    assert analyze(mended, W, X).peak_bytes == needs
    got, want = budget(mended, limit)(W, X), GRADIENT(W, X)
    assert all(jnp.allclose(a, b, atol=1e-6) for a, b in zip(got, want, strict=True))
    assert "again" in str(error)


def test_where_no_checkpoint_does_the_nearest_is_named():
    error = refusal(budget(GRADIENT, 1000), W, X)
    assert "the least of what was tried, and too much" in str(error)
    fewest = functx.grad(functx.checkpoint(loss, policy="min_cut"))
    assert written(error)[1] < analyze(fewest, W, X).peak_bytes


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: functx.value_and_grad(f),
        lambda f: jax.jit(functx.grad(f)),
        lambda f: lambda w, x: functx.vjp(f, w, x)[1](jnp.float32(1)),
        lambda f: functx.grad(lambda w, x: f(w, x) * 2),
    ],
    ids=["value_and_grad", "jit", "vjp", "inner function"],
)
def test_checkpoints_are_tried_wherever_functx_differentiates(transform):
    f = transform(loss)
    error = refusal(budget(f, int(0.7 * analyze(f, W, X).peak_bytes)), W, X)
    assert "functx.checkpoint(" in str(error)


def test_without_a_derivative_of_functx_no_checkpoint_is_named():
    for f in (loss, jax.grad(loss)):
        error = refusal(budget(f, 10), W, X)
        assert "functx.checkpoint around what is differentiated" in str(error)


def test_a_trial_leaves_nothing_behind():
    refusal(budget(GRADIENT, int(0.7 * NEEDS)), W, X)
    assert analyze(GRADIENT, W, X).peak_bytes == NEEDS


def test_each_combination_of_shapes_is_looked_at_once():
    traced = []

    def f(x, scale=2.0):
        traced.append(x.shape)
        return functx.sum(x) * scale

    limited = budget(f, 10**9)
    for _ in range(3):
        limited(X), limited(X[:2])
    assert sorted(traced) == sorted([(64, 16), (2, 16)] + 3 * [(64, 16), (2, 16)])
    limited(X, scale=3.0)
    limited(X, 3.0)
    limited(X, scale=3.0)
    assert len(traced) == 8 + 3 + 2
    limited(X, scale=jnp.float32(3.0))
    assert len(traced) == 8 + 5 + 2
    limited(X.astype("float16"))
    assert len(traced) == 8 + 7 + 2
    limited(X, 3)  # equal to 3.0, and another program
    assert len(traced) == 8 + 9 + 2


def test_the_state_that_tracing_reads_is_part_of_it():
    limited = budget(lambda x: functx.zeros(100) + functx.numel(x), X.nbytes + 500)
    limited(X)
    before = functx.get_default_dtype()
    functx.set_default_dtype("float64")
    try:
        assert "f64[100]" in str(refusal(limited, X))
    finally:
        functx.set_default_dtype(before)


def test_under_jit_it_looks_while_it_traces():
    fits, not_so = (jax.jit(budget(GRADIENT, n)) for n in (NEEDS, NEEDS - 1))
    assert fits(W, X)[0].shape == (16, 16)
    refusal(not_so, W, X)
    refusal(functx.jit(budget(GRADIENT, NEEDS - 1)), W, X)


def test_around_a_map_it_counts_all_lanes():
    f = lambda x: functx.sum(functx.outer(x, x) @ functx.outer(x, x))
    lanes = functx.vmap(f)
    one, all_lanes = analyze(f, X[0]).peak_bytes, analyze(lanes, X).peak_bytes
    assert all_lanes > 60 * one
    assert budget(lanes, all_lanes)(X).shape == (64,)
    refusal(budget(lanes, all_lanes - 1), X)
    assert functx.vmap(budget(f, one))(X).shape == (64,)


def test_random_draws_are_not_used_up():
    f = lambda x: functx.sum(functx.rand(10, dtype="float32") * x[0, 0])
    functx.manual_seed(0)
    want = f(X)
    functx.manual_seed(0)
    assert budget(f, 10**6)(X) == want


def test_arrays_that_are_alive_count_if_asked():
    f = lambda x: functx.matmul(x, x.T)
    needs = analyze(f, X).peak_bytes
    others = functx.memory.memory_allocated() - X.nbytes
    kept = jnp.zeros(10**6, "int8")
    limited = budget(f, needs + others + 10**6 + 10_000, live=True)
    assert limited(X).shape == (64, 64)
    more = jnp.zeros(10**6, "int8")
    error = refusal(limited, X)
    assert re.search(r"needs 20,480 bytes at once beside [\d,]+ that are alive already", str(error))
    del more
    assert limited(X).shape == (64, 64)
    del kept


def test_a_leaf_without_a_hash():
    class Unhashable:
        __hash__ = None

    f = lambda x, _: functx.matmul(x, x.T)
    assert budget(f, 10**6)(X, Unhashable()).shape == (64, 64)
    refusal(budget(f, 10), X, Unhashable())


def test_as_a_decorator():
    @budget(bytes=10)
    def f(x):
        return x + 1

    refusal(f, X)


def test_it_is_sent_to_another_process():
    limited = budget(lambda x: functx.sum(x), 10**6)
    limited(X)
    assert cloudpickle.loads(cloudpickle.dumps(limited))(X) == X.sum()


@pytest.mark.parametrize(
    "bytes, error, message",
    [
        (1.5, TypeError, "`bytes` must be an int, got 1.5"),
        (True, TypeError, "`bytes` must be an int, got True"),
        (None, TypeError, "`bytes` must be an int, got None"),
        (-1, ValueError, "`bytes` must not be negative, got -1"),
    ],
)
def test_errors_name_the_option(bytes, error, message):
    with pytest.raises(error, match=f"^memory.budget: {re.escape(message)}"):
        budget(loss, bytes)

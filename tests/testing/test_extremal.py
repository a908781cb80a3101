"""Formulas that are right in mathematics and wrong in float32 fail at extreme arguments."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import call, CHECKS, Gap, op_db, OpInfo, run_cell
from functx.testing.checks.running import run_together, Running


def rows(make):
    yield call(make.nonzero(2, 3))


def rows_and_targets(make):
    yield call(make.nonzero(2, 3), make(2, 3, low=0, high=1))


def naive_logsumexp(x):
    return jnp.log(jnp.sum(jnp.exp(x), axis=-1))


def naive_softmax(x):
    return jnp.exp(x) / jnp.sum(jnp.exp(x), axis=-1, keepdims=True)


def naive_norm(x):
    return jnp.sqrt(jnp.sum(x * x, axis=-1))


def naive_entropy(x, target):
    p = jax.nn.sigmoid(x)
    return -(target * jnp.log(p) + (1 - target) * jnp.log(1 - p))


def norm(x):
    return functx.linalg.vector_norm(x, dim=-1)


def softmax(x):
    return functx.softmax(x, -1)


def logsumexp(x):
    return functx.logsumexp(x, -1)


def entropy(x, target):
    return functx.nn.functional.binary_cross_entropy_with_logits(x, target, reduction="none")


def np_entropy(x, target):
    return np.maximum(x, 0) - x * target + np.log1p(np.exp(-np.abs(x)))


def np_logsumexp(x):
    return scipy.special.logsumexp(x, axis=-1)


def np_softmax(x):
    return scipy.special.softmax(x, axis=-1)


def with_slope(slope):
    jvp = lambda primals, output, tangents: jnp.sum(slope(primals[0]) * tangents[0], axis=-1)
    return derivative_rules(norm, jvp=jvp)


naive_slope = with_slope(lambda x: x / naive_norm(x)[..., None])
shares = with_slope(lambda x: x / jnp.where(x == 0, 1, norm(x)[..., None]))
modes_apart = derivative_rules(
    norm,
    jvp=lambda primals, output, tangents: jax.jvp(norm, primals, tangents)[1],
    vjp=lambda primals, output, ct: [
        jnp.where(jnp.abs(primals[0]) > 1e19, 0, jax.vjp(norm, *primals)[1](ct)[0])
    ],
)


@pytest.mark.parametrize(
    "wrong, right, samples, reference",
    [
        (naive_logsumexp, logsumexp, rows, np_logsumexp),
        (naive_softmax, softmax, rows, np_softmax),
        (naive_entropy, entropy, rows_and_targets, np_entropy),
        (naive_norm, norm, rows, None),
        (naive_slope, shares, rows, None),
        (modes_apart, norm, rows, None),
    ],
)
def test_naive_formula_fails_and_the_right_one_passes(wrong, right, samples, reference):
    run_cell(OpInfo(right, samples, reference=reference), "float32", "extremal")
    with pytest.raises(AssertionError, match=" in array 0: .*points"):
        run_cell(OpInfo(wrong, samples, reference=reference), "float32", "extremal")


@pytest.mark.parametrize("p", [0.5, -1.5])
def test_slopes_of_norms_stay_in_range(p):
    norm = lambda x: functx.linalg.vector_norm(x, p, dim=-1)
    run_cell(OpInfo(norm, rows), "float32", "extremal")


def test_attention_takes_huge_queries_and_keys():
    def heads(make):
        yield call(make(4, 2), make(2, 2), make(2, 1))

    attention = functx.nn.functional.scaled_dot_product_attention
    run_cell(OpInfo(lambda q, k, v: attention(q, k, v), heads), "float32", "extremal")


@pytest.mark.parametrize(
    "dtype, size, width", [("float32", 1e18, 1), ("float16", 6e4, 2), ("bfloat16", 1e18, 2)]
)
def test_attention_takes_scores_whose_rounding_errors_have_no_exponential(dtype, size, width):
    rows = jnp.array([[0.9, 0.7], [0.8, 0.9], [0.6, 0.7]])[:, -width:]
    many = (rows * size).astype(dtype)
    attention = functx.nn.functional.scaled_dot_product_attention
    values = rows.astype(dtype)
    attended, pull = functx.vjp(lambda q, k: attention(q, k, values), many, many)
    np.testing.assert_array_equal(attended, values[jnp.array([1, 1, 1])])
    np.testing.assert_array_equal(pull(attended), 0)


def test_declared_points_are_let_pass_and_no_others():
    reason = "the squares leave the range of float32"
    squares = Gap("extremal", reason, at="(zeros|subnormal|tiny|huge|mixed) in")
    run_cell(OpInfo(naive_norm, rows, gaps=(squares,)), "float32", "extremal")
    squares = Gap("extremal", reason, at="(zeros|subnormal|tiny) in")
    with pytest.raises(AssertionError, match="huge in array 0: value inf"):
        run_cell(OpInfo(naive_norm, rows, gaps=(squares,)), "float32", "extremal")


@pytest.mark.parametrize(
    "info, gap",
    [(info, gap) for info in op_db for gap in info.gaps if gap.at],
    ids=lambda x: getattr(x, "id", None),
)
def test_declared_gaps_at_points_are_still_there(info, gap):
    others = tuple(other for other in info.gaps if other is not gap)
    bare = dataclasses.replace(info, gaps=others)
    samples = CHECKS["extremal"].select(bare, list(bare.draw("float32")), "exhaustive")
    errors = (error_of(bare, sample) for sample in samples)
    assert any(re.search(gap.at, str(error)) for error in errors if error), "drop it"


def error_of(info, sample):
    running = Running("extremal", info, sample)
    run_together([running])
    return running.error


@pytest.mark.parametrize("dtype", ["float32", functx.float32, np.dtype("float32")])
def test_a_dtype_that_a_call_names_is_doubled_with_its_arrays(dtype):
    def squares_in(x, dtype):
        return x.astype(dtype) ** 2 / 1e20

    samples = lambda make: iter([call(make.nonzero(2, 3), dtype)])
    with pytest.raises(AssertionError, match="huge in array 0: value inf .* in float64 1"):
        run_cell(OpInfo(squares_in, samples), "float32", "extremal")


def test_a_slope_that_is_nan_in_both_modes_fails():
    no_slope_at_zero = derivative_rules(
        lambda x: x,
        jvp=lambda primals, output, tangents: tangents[0] * jnp.where(primals[0] == 0, jnp.nan, 1),
    )
    zeros = "zeros in array 0: slope nan .* in both modes"
    with pytest.raises(AssertionError, match=zeros):
        run_cell(OpInfo(no_slope_at_zero, rows), "float32", "extremal")

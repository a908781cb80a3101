"""What a backward pass keeps, by origin and bytes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx.testing import assert_residuals


X = jnp.arange(1.0, 6.0)
HERE = __file__


def told(residuals):
    return [(r.origin, r.name, r.like.shape, r.bytes) for r in residuals]


def test_an_argument_that_is_kept_is_told_by_its_path_and_once():
    params = {"w": [X, X]}
    got = functx.residuals.saved_residuals(
        lambda p, *, b: p["w"][1] * p["w"][1] * b[1], params, b=(X, X)
    )
    names = [r.name for r in got if r.origin == "argument"]
    assert names == ["args[0]['w'][1]", "kwargs['b'][1]"]
    assert told(functx.residuals.saved_residuals(lambda a: a * a, X)) == [
        ("argument", "args[0]", (5,), 40)
    ]


def test_operators_are_told_by_their_names_and_the_line_that_called_them():
    def scores(x):
        return functx.nn.functional.softmax(x, 0)

    got = functx.residuals.saved_residuals(scores, X)
    assert {(r.origin, r.name) for r in got} == {("operator", "nn.functional.softmax")}
    (line,) = {r.line for r in got}
    assert (line.file, line.line) == (HERE, scores.__code__.co_firstlineno + 1)
    assert line.function.endswith("scores")


def test_constants_that_are_closed_over_are_constants():
    y = jnp.ones((5, 5))
    assert told(functx.residuals.saved_residuals(lambda x: y @ x, X)) == [
        ("constant", "", (5, 5), 200)
    ]


def test_numbers_written_by_hand_are_told_by_their_values():
    assert told(functx.residuals.saved_residuals(lambda x: x * 2.5, X)) == [
        ("constant", "2.5", (), 8)
    ]


@pytest.mark.parametrize(
    "inside",
    [
        lambda f: jax.jit(f),
        lambda f: jax.jit(jax.jit(f)),
        lambda f: jax.checkpoint(f, policy=jax.checkpoint_policies.everything_saveable),
        lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=3)[0],
        lambda f: lambda x: lax.cond(x[0] > 0, f, lambda x: x, x),
    ],
    ids="jit jit_jit checkpoint scan cond".split(),
)
def test_operators_inside_programs_are_told_too(inside):
    got = functx.residuals.saved_residuals(inside(lambda x: functx.exp(x)), X)
    (residual,) = [r for r in got if r.name == "exp"]
    assert residual.line.file == HERE
    assert "exp" in str(got)


def test_an_argument_that_a_jitted_function_keeps_is_no_second_array():
    got = functx.residuals.saved_residuals(lambda x: jax.jit(jnp.multiply)(x, x) * x, X)
    assert [r.name for r in got if r.origin == "argument"] == ["args[0]"]


def test_what_each_step_of_a_scan_keeps_counts_for_every_step():
    steps = lambda x: lax.scan(lambda c, _: (c * c, None), x, None, length=7)[0]
    assert told(functx.residuals.saved_residuals(steps, X)) == [
        ("operator", "carry of scan", (7, 5), 7 * 40)
    ]


def test_what_a_checkpoint_computes_again_is_not_kept():
    deep = lambda x: functx.exp(functx.exp(functx.exp(x)))
    kept = functx.residuals.saved_residuals(functx.checkpoint(deep), X)
    assert told(kept) == [("argument", "args[0]", (5,), 40)]
    assert functx.residuals.saved_residuals(deep, X).bytes > kept.bytes


def test_shapes_do_for_arrays_and_nothing_is_computed():
    x = jax.ShapeDtypeStruct((1 << 40,), "float32")
    assert functx.residuals.saved_residuals(lambda x: functx.exp(x), x).bytes == 1 << 42


def test_integers_and_what_is_no_array_are_taken_as_they_are():
    def select(x, index, dim, mode):
        assert mode == "rows" and dim == 0
        return functx.index_select(x, dim, index)

    got = functx.residuals.saved_residuals(select, X, jnp.array([3, 1]), 0, "rows")
    assert all(jnp.issubdtype(r.like.dtype, jnp.integer) for r in got)


def test_the_table_shows_the_largest_first_and_the_sum():
    lines = str(
        functx.residuals.saved_residuals(lambda x, m: m @ functx.exp(x), X, jnp.ones((5, 5)))
    ).split("\n")
    assert lines[0].split() == ["bytes", "kept"]
    assert lines[1].split() == ["200", "f64[5,5]", "argument", "args[1]"]
    assert lines[2].split()[:4] == ["40", "f64[5]", "operator", "exp,"]
    assert lines[-1].split() == ["240", "in", "all"]


def test_the_table_shows_what_is_alike_in_one_line_and_sums_for_operators_with_several():
    def deep(ws, x, scale):
        for w in ws:
            x = functx.exp(functx.matmul(x, w))
        return functx.sum(functx.exp(x) * scale * 2.5 * 3.5)

    got = functx.residuals.saved_residuals(deep, [jnp.ones((5, 5))] * 30, X, 2.0 + X)
    rows = [line.split() for line in str(got).split("\n")]
    assert rows[0] == ["bytes", "kept"] and len(rows) <= 10
    assert rows[1] == ["6,000", "30", "x", "f64[5,5]", "argument", "args[0][*]"]
    assert rows[2][:6] == ["1,200", "30", "x", "f64[5]", "operator", "exp,"]
    assert ["40", "f64[5]", "argument", "args[2]"] in rows
    assert ["40", "f64[5]", "argument", "args[1]"] in rows
    assert ["1,240", "in", "all", "by", "exp"] in rows
    assert len(got) > 60, "the list itself has them all"


def test_what_is_not_differentiable_is_refused():
    with pytest.raises(TypeError, match="`func` must be callable, got 1"):
        functx.residuals.saved_residuals(1)
    with pytest.raises(TypeError, match="`output` must be an array, got 'no'"):
        functx.residuals.saved_residuals(lambda x: "no", X)


def decay(x):
    for i in range(20):
        x = x - 0.1 * i + 1
    return x


SPARING = {
    "add": (lambda x: x + 1, 0),
    "sums": (lambda x: functx.sum(functx.flip(x, (0,))) - functx.mean(x), 16),
    "movement": (lambda x: functx.cat([x[1:], x.reshape(5, 1)[:, 0]]), 0),
    "loop": (decay, 0),
    "by a number": (lambda x: 3 * (2 * x), 16),
    "neg": (lambda x: -functx.neg(x), 0),
    "index": (lambda x: x[jnp.array([1, 3])], 16),
    "index_select": (lambda x: functx.index_select(x, 0, jnp.array([1, 3])), 16),
    "gather": (lambda x: functx.gather(x, 0, jnp.array([1, 3])), 16),
    "of a constant": (lambda x: x * jnp.sin(jnp.ones(5)), 40),
    "unused": (lambda x: x + 0 * jnp.sin(jnp.ones(5)), 0),
    "exp": (lambda x: functx.exp(x), 40),
}


@pytest.mark.parametrize("name", SPARING)
def test_operators_keep_no_more_than_their_derivative_needs(name):
    func, most = SPARING[name]
    assert_residuals(func, X, bytes=most)


def test_a_product_with_what_is_not_differentiated_keeps_that_operand_only():
    weight = jnp.ones((5, 7))
    (residual,) = functx.residuals.saved_residuals(lambda x: functx.matmul(x, weight), X)
    assert residual.like.shape == (5, 7)


def test_an_assertion_that_fails_lists_what_is_kept():
    with pytest.raises(AssertionError, match=r"keeps 40 bytes, not 39:\n(.*\n)*.*40 .*exp"):
        assert_residuals(lambda x: functx.exp(x), X, bytes=39)
    with pytest.raises(ValueError, match="`bytes` must be an integer of at least 0, got -1"):
        assert_residuals(jnp.exp, X, bytes=-1)


def test_what_is_listed_is_what_a_pullback_holds():
    f = lambda x: functx.sum(functx.exp(x) * functx.sin(x) * 3)
    listed = functx.residuals.saved_residuals(f, X)
    held = jax.tree.leaves(functx.vjp(f, X)[1])
    assert listed.bytes == sum(np.asarray(x).nbytes for x in held)
    assert len(listed) == len(held)


def test_a_region_without_gradients_changes_nothing():
    here = functx.residuals.saved_residuals(functx.sin, jnp.ones(3)).bytes
    with functx.no_grad():
        assert functx.residuals.saved_residuals(functx.sin, jnp.ones(3)).bytes == here > 0

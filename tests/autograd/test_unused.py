"""Arguments on which nothing depends: told by the program, not by values."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx._transforms.programs.dependence import depending_outputs


X = jnp.asarray([0.7, -0.4])
TREE = {"used": X, "unused": X, "times zero": X, "stopped": X, "index": X}


def loss(tree):
    kept = functx.sin(tree["used"]) + 0 * tree["times zero"] + functx.detach(tree["stopped"])
    return kept.sum() * (1 + jnp.argmax(tree["index"]).astype(float))


UNUSED = {"unused", "stopped", "index"}


def assert_none_where_unused(gradients):
    assert {name for name, g in gradients.items() if g is None} == UNUSED
    plain = jax.grad(loss)(TREE)
    for name in set(TREE) - UNUSED:
        np.testing.assert_allclose(gradients[name], plain[name], rtol=1e-12)


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    "transform",
    [
        lambda: functx.grad(loss, unused="none"),
        lambda: lambda tree: functx.value_and_grad(loss, unused="none")(tree)[1],
        lambda: lambda tree: functx.grad_and_value(loss, unused="none")(tree)[0],
        lambda: lambda tree: functx.vjp(loss, tree, unused="none")[1](1.0)[0],
        lambda: functx.grad(functx.jit(loss), unused="none"),
        lambda: functx.grad(jax.checkpoint(loss), unused="none"),
    ],
    ids=["grad", "value_and_grad", "grad_and_value", "vjp", "grad of jit", "grad of checkpoint"],
)
def test_an_unused_array_gets_none(transform, jit):
    assert_none_where_unused(jit(transform())(TREE))


def test_zeros_by_default():
    gradients = functx.grad(loss)(TREE)
    assert jax.tree.structure(gradients) == jax.tree.structure(TREE)
    assert not np.any(gradients["unused"])
    np.testing.assert_array_equal(functx.grad(loss, unused="zeros")(TREE)["unused"], [0, 0])


@pytest.mark.parametrize(
    "call, path",
    [
        (
            lambda: functx.grad(loss, unused="error")(TREE),
            r"grad: `args\[0\]\['index'\]` is unused",
        ),
        (
            lambda: functx.grad(lambda x, y: x.sum(), (0, "y"), unused="error")(X, y=X),
            r"`kwargs\['y'\]` is unused",
        ),
        (
            lambda: functx.vjp(lambda x, y: x, X, X, unused="error")[1](X),
            r"vjp: `primals\[1\]` is unused",
        ),
    ],
)
def test_an_unused_array_is_an_error_where_it_is_asked_for(call, path):
    with pytest.raises(RuntimeError, match=path):
        call()


def test_error_lets_pass_what_is_used():
    f = lambda x, y: (x * y).sum()
    got = functx.grad(f, (0, 1), unused="error")(X, 2 * X)
    np.testing.assert_array_equal(got, (2 * X, X))


@pytest.mark.parametrize("unused", ["None", None, True])
def test_unused_is_one_of_three(unused):
    with pytest.raises(ValueError, match="`unused` must be 'zeros', 'none' or 'error'"):
        functx.grad(loss, unused=unused)
    with pytest.raises(ValueError, match="`unused` must be 'zeros', 'none' or 'error'"):
        functx.vjp(loss, TREE, unused=unused)


def test_a_function_may_branch_on_values():
    f = lambda x, y: x.sum() if x[0] > 0 else y.sum()
    assert functx.grad(f, (0, 1), unused="none")(X, X)[1] is None
    assert functx.grad(f, (0, 1), unused="none")(-X, X)[0] is None


def test_the_function_is_traced_once():
    calls = []

    def f(x, y):
        calls.append(0)
        return x.sum()

    functx.grad(f, (0, 1), unused="none")(X, X)
    assert len(calls) == 1


def test_a_gradient_of_none_can_be_differentiated_around():
    def slope(x, a):
        return functx.grad(lambda x, a, b: (x * a).sum(), (0, 2), unused="none")(x, a, a)

    first, second = slope(X, X)
    assert second is None
    np.testing.assert_array_equal(first, X)
    jac = functx.jacrev(lambda a: slope(X, a)[0])(X)
    np.testing.assert_array_equal(jac, np.eye(2))
    assert functx.grad(lambda x: slope(x, X)[0].sum(), unused="none")(X) is None


def test_a_rule_that_returns_none_leaves_its_input_unused():
    f = derivative_rules(lambda x, y: x * y, vjp=lambda xs, out, ct: (ct * xs[1], None))
    got = functx.grad(lambda x, y: f(x, y).sum(), (0, 1), unused="none")(X, X)
    assert got[1] is None
    np.testing.assert_array_equal(got[0], X)


def test_rules_off_the_path_are_never_run():
    def never(xs, out, ct):
        raise AssertionError("not on the path to a requested input")

    f = derivative_rules(lambda x: x, vjp=never)
    loss = lambda x, y, z: (f(x * 2) + z).sum()
    got = functx.autograd.grad(
        lambda y, z: loss(X, y, z), (X, X), allow_unused=True, grad_outputs=1.0
    )
    assert got[0] is None
    np.testing.assert_array_equal(got[1], [1, 1])
    np.testing.assert_array_equal(functx.grad(loss, 2)(X, X, X), [1, 1])
    with pytest.raises(AssertionError, match="not on the path"):
        functx.grad(loss, 0)(X, X, X)


def test_complex_and_batched_gradients_have_it_too():
    z = jnp.asarray([1 + 2j, 3j])
    f = lambda z, w: (z * z.conj()).real.sum()
    got = functx.grad(f, (0, 1), unused="none")(z, z)
    assert got[1] is None
    np.testing.assert_allclose(got[0], 2 * z)
    got = functx.vmap(functx.grad(f, (0, 1), unused="none"))(z, z)
    assert got[1] is None
    np.testing.assert_allclose(got[0], 2 * z)


def test_dependence_is_seen_through_loops_branches_and_checkpoints():
    def f(x, y, ts):
        scanned, steps = lax.scan(lambda c, t: ((c[0] + t * x, c[1]), c[1]), (x, y), ts)
        branched = lax.cond(ts.sum() > 0, lambda: (x, y), lambda: (2 * x, y))
        remembered = jax.checkpoint(lambda x, y: (jnp.sin(x), y))(x, y)
        called = jax.jit(lambda x, y: (y, x))(x, y)
        return *scanned, steps, *branched, *remembered, *called

    jaxpr = jax.make_jaxpr(f)(1.0, 1.0, jnp.ones(3)).jaxpr
    got = [depending_outputs(jaxpr, [i == j for i in range(3)]) for j in range(3)]
    on_x = [True, False, False, True, False, True, False, False, True]
    assert got[0] == on_x
    assert got[1] == [not does for does in on_x]
    assert got[2] == [True, False, False, True, False, False, False, False, False]


def test_an_input_that_a_loop_only_carries_is_unused():
    def f(x, y):
        return lax.scan(lambda c, _: ((c[0] * 2, c[1] * c[0]), None), (x, y), length=2)[0][0]

    assert functx.grad(f, (0, 1), unused="none")(1.0, 1.0) == (4, None)

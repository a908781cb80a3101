"""Threads do not see each other: transforms, operators, contexts, rules that fail."""

import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core import fail
from functx._core.rules.custom_derivatives import derivative_rules


THREADS = 8


def at_once(*calls):
    """What the calls return, each in a thread of its own, all of them begun together."""
    ready = threading.Barrier(len(calls))

    def begun(call):
        ready.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(begun, call) for call in calls]]


W, X = np.asarray([[0.3, -0.5], [0.7, 0.2]]), np.asarray([0.4, -1.1])


def transformed():
    """Calls by name, of a function that nobody has traced before."""

    def network(w, x):
        return functx.sum(functx.tanh(functx.mv(w, x)) ** 2)

    lanes = functx.vmap(functx.grad(network), (None, 0))
    return {
        "grad": lambda: functx.grad(network)(W, X),
        "value_and_grad": lambda: functx.value_and_grad(network, 1)(W, X),
        "vjp": lambda: functx.vjp(network, W, X)[1](1.0),
        "jvp": lambda: functx.jvp(network, (W, X), (W, X)),
        "jacrev": lambda: functx.jacrev(network)(W, X),
        "jacfwd": lambda: functx.jacfwd(network)(W, X),
        "hessian": lambda: functx.hessian(network, 1)(W, X),
        "vmap": lambda: lanes(W, np.stack([X, -X])),
        "jit": lambda: functx.jit(functx.grad(network))(W, X),
        "linearize": lambda: functx.linearize(network, W, X)[1](W, X),
    }


def test_transforms_give_in_threads_what_they_give_alone():
    alone = {name: call() for name, call in transformed().items()}
    for name, got in zip(alone, at_once(*transformed().values()), strict=True):
        jax.tree.map(np.testing.assert_array_equal, got, alone[name])


def test_one_function_in_all_threads():
    """y + y² with y = x + x², five times at 1: 5 (4 + 6 + 4 + 1)."""
    f = lambda x: (x + x * x) + (x + x * x) ** 2
    slopes = at_once(*[lambda: functx.grad(f)(1.0)] * 5)
    assert sum(map(float, slopes)) == 75


def test_one_pullback_in_all_threads():
    _, pull = functx.vjp(lambda x: x * x + 3.5 * x, jnp.asarray(2.0))
    assert [float(pull(1.0)[0]) for _ in range(2)] == [7.5, 7.5]
    assert [float(g) for (g,) in at_once(*[lambda: pull(1.0)] * THREADS)] == [7.5] * THREADS


def test_a_region_belongs_to_the_thread_that_entered_it():
    inside, outside = threading.Event(), threading.Event()

    def seen():
        """What the thread's regions do to a dtype and to gradients, constants and residuals."""
        name = functx.zeros(1, dtype=functx.float64).dtype.name
        constant = jax.grad(lambda x: functx.sin(x))(0.0) == 0
        residual = functx.vjp(functx.enable_grad(functx.square), jnp.ones(1))[1](jnp.ones(1))[0]
        return name, bool(constant), float(residual[0])

    def enters():
        with (
            functx.x64(False),
            functx.random.scope(jax.random.key(3)),
            functx.no_grad(),
            functx.residuals.residual_hooks(lambda x: 10 * x, lambda x: x),
        ):
            inside.set()
            outside.wait(60)
            return seen(), functx.rand(2)

    def watches():
        inside.wait(60)
        try:
            return seen()
        finally:
            outside.set()

    (there, drawn), here = at_once(enters, watches)
    assert there == ("float32", True, 20.0)
    assert here == ("float64", False, 2.0)
    with functx.x64(False), functx.random.scope(jax.random.key(3)):
        np.testing.assert_array_equal(functx.rand(2), drawn)


def test_an_error_in_a_rule_reaches_its_own_caller_with_the_line_that_raised_it():
    def broken(primals, output, cotangent):
        fail("broken", "on purpose", error=LookupError)  # the line that raised

    fine = lambda: functx.grad(lambda x: x * x)(3.0)
    rule = derivative_rules(lambda x: x * x, vjp=broken)
    got = at_once(*[lambda: caught(functx.grad(rule), 3.0), fine] * (THREADS // 2))
    assert [float(x) for x in got[1::2]] == [6.0] * (THREADS // 2)
    for error in got[0::2]:
        assert type(error) is LookupError and str(error) == "broken: on purpose"
        assert "# the line that raised" in "".join(traceback.format_tb(error.__traceback__))


def caught(f, *args):
    with pytest.raises(LookupError) as info:
        f(*args)
    return info.value


def test_a_rule_may_differentiate():
    """Each backward pass starts another one inside, twenty deep."""

    def deep(depth):
        def vjp(primals, output, cotangent):
            inner = functx.grad(deep(depth - 1)) if depth else jnp.ones_like
            return (cotangent * inner(primals[0]),)

        return derivative_rules(lambda x: 2.0 * x, vjp=vjp, name=f"deep{depth}")

    assert functx.grad(deep(20))(5.0) == 1
    assert functx.jit(functx.grad(deep(20)))(5.0) == 1


@pytest.mark.parametrize("depth", [0, 3])
def test_an_error_deep_inside_leaves_nothing_half_done(depth):
    """The same program runs rightly as soon as what was wrong is mended."""
    wrong = [True]

    def deep(depth):
        def vjp(primals, output, cotangent):
            if not depth and wrong[0]:
                fail("deep", "still wrong", error=LookupError)
            inner = functx.grad(deep(depth - 1)) if depth else jnp.ones_like
            return (cotangent * inner(primals[0]),)

        return derivative_rules(lambda x: x * 3.0, vjp=vjp)

    loss = functx.vmap(functx.value_and_grad(deep(depth)))
    assert "still wrong" in str(caught(loss, jnp.arange(3.0)))
    wrong[0] = False
    value, slope = loss(jnp.arange(3.0))
    assert value.tolist() == [0, 3, 6] and slope.tolist() == [1, 1, 1]


def test_an_operator_called_for_the_first_time_by_all_threads():
    fresh = [lambda: functx.special.bessel_j1(jnp.ones(3))] * THREADS
    for got in at_once(*fresh):
        np.testing.assert_allclose(got, 0.44005058574493355)

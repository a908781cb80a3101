"""`conventions` of functions that loop, branch, compile, map and have rules of their own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing import conventions


def at_zero(f, **options):
    return conventions(f, jnp.zeros(3), made_points=False, **options)


def absolute(x):
    return functx.abs(x) + jnp.abs(x)


def scanned(x):
    return jax.lax.scan(lambda c, y: (c + absolute(y), y), 0.0, x)[0]


def branching(x):
    return jax.lax.cond(x[0] > 1, jnp.sin, absolute, x).sum()


PROGRAMS = {
    "compiled": lambda x: jax.jit(absolute)(x).sum(),
    "compiled by functx": lambda x: functx.jit(absolute)(x).sum(),
    "mapped": lambda x: functx.vmap(absolute)(x).sum(),
    "mapped by JAX": lambda x: jax.vmap(absolute)(x).sum(),
    "checkpointed": lambda x: jax.checkpoint(absolute)(x).sum(),
    "scanned": scanned,
    "branching": branching,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_inside_are_switched(name):
    [line] = at_zero(PROGRAMS[name]).lines
    np.testing.assert_array_equal(line.pytorch, [0, 0, 0])
    np.testing.assert_array_equal(line.jax, [2, 2, 2])
    assert {call.name for call in line.calls} == {"functx.abs", "jax abs"}
    assert {call.line for call in line.calls} == {absolute.__code__.co_firstlineno + 1}


def test_loops_of_unknown_length_are_switched_in_forward_mode():
    def f(x):
        body = lambda state: (state[0] + 1, functx.abs(state[1]))
        return jax.lax.while_loop(lambda state: state[0] < 3, body, (0, x))[1]

    [line] = at_zero(f, mode="forward").lines
    np.testing.assert_array_equal(line.jax, [1, 2, 3])


def test_one_function_called_twice_is_two_calls():
    inner = jax.jit(functx.abs)

    def f(x, y):
        return (inner(x) + inner(y - 1)).sum()

    [line] = conventions(f, jnp.zeros(2), jnp.zeros(2), made_points=False).lines
    assert line.what == "args[0]" and len(line.calls) == 1


def test_rules_of_users_stay():
    @jax.custom_jvp
    def relu(x):
        return jnp.maximum(x, 0) + 0 * jnp.abs(x)

    relu.defjvp(
        lambda primals, tangents: (relu(*primals), jnp.where(primals[0] > 0, tangents[0], 0))
    )
    assert not at_zero(lambda x: relu(x).sum())


@pytest.mark.parametrize("grad", [jax.grad, functx.grad])
def test_derivatives_that_the_function_takes_stay(grad):
    assert not at_zero(grad(lambda x: (absolute(x) * x**2).sum()))


def test_what_rules_are_made_of_is_not_taken_for_the_users():
    """The gradient of a norm is computed with roots and maxima, of functx's own choice."""

    def f(x):
        return functx.grad(lambda y: functx.linalg.vector_norm(y, 4) + functx.std(y))(x)

    report = conventions(f, jnp.asarray([1.0, 1.0, 3.0]))
    assert not [name for name in report.operators if name.startswith("jax")]


def test_functions_that_operators_are_made_of_are_the_users_too():
    """`jnp.clip` inside of an operator is PyTorch's already, and the user's is not."""

    def f(x):
        return functx.nn.functional.hardtanh(x, 0.0, 1.0).sum() + jnp.clip(x, 0.0, 1.0).sum()

    [line] = at_zero(f).lines
    assert {call.name for call in line.calls} == {"functx.nn.functional.hardtanh", "jax clip"}


def test_what_is_recorded_for_a_comparison_is_not_kept():
    """Programs that are compiled later hold functx's rule alone."""
    at_zero(lambda x: functx.abs(x).sum())
    assert "jax_rule" not in str(jax.make_jaxpr(functx.abs)(jnp.zeros(3)))


def test_values_are_those_of_the_function():
    """Both rules of a sum of many steps, whose digits differ, tie where the function ties."""

    def f(x):
        return functx.maximum(functx.linalg.vector_norm(x), functx.linalg.vector_norm(x[::-1]))

    report = conventions(f, jnp.asarray([0.1, 0.7, 0.3]), made_points=False)
    assert not report, report


def test_numbers_that_are_no_arguments_are_passed_on():
    def f(tree, mask, *, scale):
        return (functx.abs(tree["w"]) * scale).sum() + tree["w"][mask].sum()

    report = conventions(
        f, {"w": jnp.zeros(2)}, jnp.arange(2), kwargs={"scale": 3.0}, made_points=False
    )
    assert [line.what for line in report.lines] == ["args[0]['w']"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_rounding_is_no_difference(dtype):
    def f(x):
        return functx.log(x).sum() + functx.std(x) + functx.linalg.vector_norm(x) + x.max()

    assert not conventions(f, jnp.asarray([0.3, 0.7, 1.9], dtype), made_points=False)
    assert conventions(f, jnp.asarray([0.5, 0.5, 0.5], dtype), made_points=False)


def test_rounding_that_is_blown_up_is_no_difference():
    """Rows that are equal but for rounding are scaled up: their gradients are noise."""
    F = functx.nn.functional
    rng = np.random.default_rng(3)
    x, w, v = (jnp.asarray(rng.normal(size=(8, 8)), "float32") for _ in range(3))

    def f(x, w, v):
        rows = F.layer_norm(functx.matmul(x, w), (8,))
        return functx.linalg.vector_norm(F.relu(functx.matmul(rows, v)))

    report = conventions(f, x, w, v, points=[(x, jnp.ones_like(w), v)], made_points=False)
    assert not report, report

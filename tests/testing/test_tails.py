"""Far out: what the check of it catches, and that no function of one number is left out."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax


pytest.importorskip("mpmath", reason="the truth is mpmath's")

from functx._core import OPERATORS
from functx._core.operators.roles import RoleKind
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import op_db, OpInfo, run_cell, Tail
from functx.testing.checks.programs import CheckProgram, run_requests
from functx.testing.checks.tails import exact_derivatives, points_of


SIGMOID = Tail(lambda mp, x: 1 / (1 + mp.exp(-x)), order=3)


def entry(op, *tails):
    samples = lambda make: iter([dataclasses.replace(SAMPLE, args=(make(2),))])
    return OpInfo(op, samples, tails=tails or (SIGMOID,))


SAMPLE = next(iter(op_db[0].draw(op_db[0].accepted[0], lanes=1)))
SAMPLE = dataclasses.replace(SAMPLE, kwargs={}, lanes=())

OF_OUTPUT = {
    "y (1 - y)": lambda y, x: y * (1 - y),
    "y - y^2": lambda y, x: y - y * y,
    "0 far out": lambda y, x: jnp.where(jnp.abs(x) > 30, 0, y * lax.logistic(-x)),
    "a sum with 1": lambda y, x: lax.optimization_barrier(1 + y * lax.logistic(-x)) - 1,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("slope", OF_OUTPUT.values(), ids=OF_OUTPUT)
def test_a_slope_without_digits_is_caught(slope, dtype):
    jvp = lambda primals, output, tangents: tangents[0] * slope(output, primals[0])
    wrong = derivative_rules(lax.logistic, jvp=jvp, name="sigmoid")
    with pytest.raises(AssertionError, match=r"logistic forward at .*, exactly .*, off by"):
        run_cell(entry(wrong), dtype, "tails")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_right_slope_whose_own_has_no_digits_is_caught(dtype):
    jvp = lambda primals, output, tangents: tangents[0] * (output * lax.logistic(-primals[0]))
    wrong = derivative_rules(lax.logistic, jvp=jvp, name="sigmoid")
    with pytest.raises(AssertionError, match="logistic forward over forward at -?0"):
        run_cell(entry(wrong), dtype, "tails")  # 1 - 2 y about 0


def test_double_precision_alone_shows_no_such_slope():
    """Why it takes more digits than any dtype has."""
    slope = jax.grad(lambda x: lax.logistic(x))
    single, double = slope(jnp.float32(45)), slope(jnp.asarray(45.0, "float64"))
    assert float(single) == float(double) == 0 < math.exp(-45)


@pytest.mark.parametrize("x", [-700.3, -3.7, 1e-9, 0.4, 37.5])
def test_exact_derivatives(x):
    found = exact_derivatives(SIGMOID, x, "float64")
    share, rest = 1 / (1 + math.exp(-x)), 1 / (1 + math.exp(x))
    want = [share, share * rest, -share * rest * math.tanh(x / 2)]
    np.testing.assert_allclose([float(truth.value) for truth in found[:3]], want, 1e-13)
    assert math.isclose(found[0].condition, abs(x) * rest, rel_tol=1e-12)


def test_points_lie_inside():
    for low, high in [(-math.inf, math.inf), (0, math.inf), (-1, 1), (0, 1), (-math.inf, 20)]:
        points = points_of(Tail(SIGMOID.exact, low=low, high=high), "float32")
        assert (low < points).all() and (points < high).all() and len(points) > 20
        assert not math.isfinite(high) or high - points.max() < 1e-6 * high
        assert math.isfinite(low) or points.min() < -1e30


STATED = {info.name for info in op_db if info.tails}


def functions_of_one_number():
    """Operators that take a number to a number, and arrays of them alike."""
    for name, op in OPERATORS.items():
        spec = op.spec
        along = any(role.kind is RoleKind.DIM for role in spec.roles.values())
        if along or spec.random or spec.sizes_from_values or not spec.differentiable:
            continue
        if all(gives_a_number_for_a_number(op, shape) for shape in [(), (3,)]):
            yield name


def gives_a_number_for_a_number(op, shape):
    try:
        y = jax.eval_shape(op, jax.ShapeDtypeStruct(shape, "float64"))
    except (TypeError, ValueError, RuntimeError, IndexError):
        return False
    return isinstance(y, jax.ShapeDtypeStruct) and (y.shape, y.dtype) == (shape, "float64")


def test_what_states_no_tails_has_none():
    """Where nothing is exact to be told of, second derivatives are 0."""
    points = jnp.asarray([-40.3, -3.3, -0.7, -0.2, 0.2, 0.7, 3.3, 40.3], "float64")
    names = [name for name in functions_of_one_number() if name not in STATED]
    second = lambda op: CheckProgram(jax.vmap(jax.grad(jax.grad(op))))
    bends = run_requests([second(OPERATORS[name])(points) for name in names])
    assert [str(bend) for bend in bends if isinstance(bend, Exception)] == []
    curved = [name for name, bend in zip(names, bends, strict=True) if np.nan_to_num(bend).any()]
    assert len(names) > 20 and curved == [], "state `tails` beside their entries"

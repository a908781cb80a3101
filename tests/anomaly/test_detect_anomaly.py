"""The first operator whose value, tangent or cotangent is no number is named, wherever it is."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx.debug import AnomalyError, detect_anomaly


FINE = jnp.array([1.0, 4.0, 9.0])
AT_ZERO = jnp.array([1.0, 0.0, 9.0])  # the root has an infinite slope there


def loss(x):
    return functx.sum(functx.sqrt(x) * 0.0)  # in the backward pass, zero times infinity


LINE_OF_LOSS = loss.__code__.co_firstlineno + 1


def anomaly(f, *args, **kwargs):
    with pytest.raises(AnomalyError) as caught:
        f(*args, **kwargs)
    return caught.value


def test_a_nan_in_the_backward_pass_names_the_operator_and_the_line_of_the_forward_pass():
    gradient = detect_anomaly(functx.grad(loss))
    error = anomaly(gradient, AT_ZERO)
    message = str(error)
    assert "sqrt returned nan values in output 0, in the backward pass" in message
    assert f"{__file__}:{LINE_OF_LOSS} (loss)" in message
    assert "f64[3] (holds inf), f64[3] (finite)" in message
    assert (error.operator, error.kind, error.output, error.index) == ("sqrt", "nan", 0, (1,))
    assert (error.line.file, error.line.line, error.line.function) == (
        __file__,
        LINE_OF_LOSS,
        "loss",
    )
    assert (error.stack, error.where) == ("transpose(jvp())", "in the backward pass")
    assert isinstance(error, RuntimeError)
    np.testing.assert_array_equal(gradient(FINE), 0 * FINE)  # the same program, and all is well


def test_the_output_is_the_one_that_is_bad():
    def pair(x, y):
        return functx.sum(functx.pow(x, y))

    error = anomaly(detect_anomaly(functx.grad(pair, (0, 1))), jnp.array([-2.0]), jnp.array([3.0]))
    assert (error.operator, error.output) == ("pow", 1)  # a residual, the logarithm of the base
    assert "returned nan values in output 1" in str(error)


def test_tangents_are_told_from_values_and_from_what_is_kept():
    along = lambda f: lambda x: functx.jvp(f, (x,), (x,))
    total = lambda x: functx.sum(functx.sqrt(x))
    for f in (along(functx.sqrt), functx.hessian(total), along(along(functx.sqrt))):
        error = anomaly(detect_anomaly(f), AT_ZERO)
        assert error.tangent
        assert f"found nan values in the tangent of sqrt, output {error.output}, " in str(error)
    ratio = lambda x: functx.sum(functx.div(x, x))
    for f in (along(ratio), functx.grad(ratio)):
        error = anomaly(detect_anomaly(f), AT_ZERO)
        assert not error.tangent and "div returned nan values in output 0, " in str(error)
    slopes = functx.grad(lambda x: functx.sum(functx.pow(x, x)))
    assert not anomaly(detect_anomaly(slopes), -FINE).tangent


def test_only_the_operator_where_it_begins_is_named():
    def chain(x):
        y = functx.exp(functx.log(x))
        return functx.sum(functx.sin(y))

    error = anomaly(detect_anomaly(chain), -FINE)
    assert error.operator == "log"
    assert error.inputs == ("f64[3] (finite)",)
    assert error.where == "in the forward pass"


def test_a_nan_that_is_masked_afterwards_is_found():
    masked = lambda x: functx.sum(functx.where(x > 0, functx.sqrt(x), 0.0))
    assert anomaly(detect_anomaly(masked), -FINE).operator == "sqrt"


def test_what_happens_inside_of_operators_and_of_functions_of_jax_is_their_matter():
    low = jnp.array([-jnp.inf])
    for f in (functx.logaddexp, jnp.logaddexp):  # both subtract the infinities inside
        np.testing.assert_array_equal(detect_anomaly(f)(low, low), low)
    error = anomaly(detect_anomaly(lambda a, b: a - b), low, low)
    assert (error.operator, error.inputs) == ("sub", ("f64[1] (holds inf)",) * 2)


LANES = jnp.stack([FINE, FINE, AT_ZERO, AT_ZERO])


def test_the_first_lane_of_a_map_is_named():
    inside = detect_anomaly(functx.vmap(functx.grad(loss), in_dims=1))
    error = anomaly(inside, LANES.T)
    assert error.lane == 2
    assert "under vmap" in str(error) and "lane: 2" in str(error)

    outside = functx.vmap(detect_anomaly(functx.grad(loss)))
    assert anomaly(outside, LANES).lane == 2


def test_lanes_are_known_in_the_backward_pass_of_a_map():
    through = functx.grad(lambda xs: functx.sum(functx.vmap(loss, in_dims=1)(xs)))
    error = anomaly(detect_anomaly(through), LANES.T)
    assert error.lane == 2 and "in the backward pass" in error.where


def test_maps_inside_maps_count_lanes_from_the_outside():
    grid = jnp.stack([jnp.stack([FINE] * 3), LANES[:3]])
    nested = functx.vmap(functx.vmap(functx.grad(loss)))
    assert anomaly(detect_anomaly(nested), grid).lane == (1, 2)


def test_the_step_of_a_loop_is_named():
    def scanned(x):
        return lax.scan(lambda c, a: (functx.sqrt(c - a), None), x, jnp.array([1.0, 0, 4, 2]))[0]

    error = anomaly(detect_anomaly(scanned), jnp.full(2, 10.0))
    assert (error.operator, error.steps) == ("sqrt", (2,))
    assert "step: 2 of scan" in str(error)

    def backwards(x):  # the backward pass runs from the last step on
        ys = lax.scan(lambda c, a: (c, functx.sqrt(c - a)), x, jnp.array([0.0, 10, 3, 10]))[1]
        return functx.sum(ys) * 0.0

    error = anomaly(detect_anomaly(functx.grad(backwards)), jnp.float64(10))
    assert (error.steps, error.where) == ((3,), "in the backward pass")

    def looped(x):
        return lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, functx.log(c[1])), (0, x))

    error = anomaly(detect_anomaly(looped), jnp.float64(2))
    assert (error.operator, error.steps) == ("log", (2,))
    assert "step: 2 of while_loop" in str(error)


def test_loops_inside_loops_count_steps_from_the_outside():
    def inner(c, a):
        return lax.scan(lambda c, b: (c + functx.log(a - b), None), c, jnp.arange(3.0))[0], None

    error = anomaly(detect_anomaly(lambda x: lax.scan(inner, x, jnp.array([9.0, 1.5]))[0]), FINE[0])
    assert error.steps == (1, 2)


def test_compiled_functions_branches_and_checkpoints_are_looked_into():
    def parts(x):
        y = jax.jit(lambda x: functx.sin(x))(x)
        return lax.cond(x[0] > 0, jax.checkpoint(loss), lambda x: functx.sum(x), x + 0 * y)

    error = anomaly(detect_anomaly(jax.jit(functx.grad(parts))), AT_ZERO)
    assert (error.operator, error.line.line) == ("sqrt", LINE_OF_LOSS)
    assert "in the backward pass" in error.where


def test_results_are_those_of_the_function():
    @jax.custom_jvp
    def own(x):
        return jnp.sin(x)

    own.defjvp(lambda primals, tangents: (own(*primals), 3 * tangents[0]))

    def parts(x):
        x = lax.scan(lambda c, a: (functx.tanh(c) * a, None), x, jnp.array([0.5, 2.0]))[0]
        x = lax.cond(x[0] > 0, functx.exp, lambda x: x, x)
        x = lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1]
        return functx.sum(jax.checkpoint(own)(x))

    def everything(x):
        forward = functx.vmap(lambda x: functx.jvp(parts, (x,), (x,)), in_dims=1)(x)
        nested = functx.grad(lambda x: functx.sum(functx.vmap(jax.jit(own))(x)))(x)
        return forward, nested, lax.map(functx.vmap(functx.cos), x)

    got, want = detect_anomaly(everything)(LANES / 5), jax.jit(everything)(LANES / 5)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), got, want)


def test_infinities_count_if_asked_for():
    error = anomaly(detect_anomaly(functx.log, check_inf=True), AT_ZERO)
    assert "log returned inf values in output 0" in str(error)
    assert (error.kind, error.index) == ("inf", (1,))
    assert detect_anomaly(functx.log)(AT_ZERO)[1] == -jnp.inf
    assert jnp.isnan(detect_anomaly(functx.log, check_nan=False)(-FINE)).all()
    second = detect_anomaly(functx.hessian(lambda x: functx.pow(x, 1.5)), check_inf=True)
    error = anomaly(second, jnp.float64(0))
    assert error.kind == "inf" and error.operator == "pow"


def test_the_innermost_options_hold():
    lenient = detect_anomaly(functx.log, check_nan=False)
    strict = detect_anomaly(functx.log)
    hidden = detect_anomaly(lambda x: functx.isnan(lenient(x)))
    assert hidden(-FINE).all()
    assert anomaly(detect_anomaly(lambda x: strict(x), check_nan=False), -FINE).operator == "log"
    assert "not checked" in str(anomaly(detect_anomaly(lambda x: functx.exp(lenient(x))), -FINE))


def test_an_argument_that_is_nan_already_is_named_if_the_result_is_nan():
    scaled = detect_anomaly(lambda p, *, y: functx.sin(p["w"]) * y)
    error = anomaly(scaled, {"w": jnp.array([1.0, jnp.nan])}, y=jnp.ones(2))
    assert "argument `args[0]['w']` is already nan; sin" in str(error)
    assert error.argument == "args[0]['w']"
    error = anomaly(scaled, {"w": jnp.ones(2)}, y=jnp.array([1.0, jnp.nan]))
    assert error.argument == "kwargs['y']"
    assert detect_anomaly(functx.nan_to_num)(jnp.array([jnp.nan])) == 0
    held = jnp.array([jnp.nan, 1.0])
    assert "a value that `func` closes over, f64[2], is already nan" in str(
        anomaly(detect_anomaly(lambda x: x + held), jnp.ones(2))
    )


def test_complex_numbers_integers_keys_and_other_things_pass():
    def mixed(z, n, key, name, scale):
        return {"z": functx.log(z) * scale, "n": n + 1, "name": name, "key": key}

    watched, key = detect_anomaly(mixed), jax.random.key(0)
    got = watched(jnp.array([1j]), jnp.arange(2), key, "sum", 2.0)
    assert (got["name"], got["key"]) == ("sum", key)
    np.testing.assert_allclose(got["z"], [1j * np.pi])
    error = anomaly(watched, jnp.array([0j * jnp.inf]), jnp.arange(2), key, "sum", 2.0)
    assert error.argument == "args[0]"


def test_draws_are_those_of_the_function():
    with functx.random.scope(jax.random.key(3)):
        want = functx.rand(2), functx.rand(2)
    with functx.random.scope(jax.random.key(3)):
        got = detect_anomaly(lambda: functx.rand(2))(), functx.rand(2)
    np.testing.assert_array_equal(got, want)


def test_checked_raises_the_same_from_inside_a_compiled_program():
    mapped = jax.jit(functx.vmap(detect_anomaly(functx.grad(loss))))
    checked = functx.debug.checked(mapped)
    error = anomaly(checked, LANES)
    assert (error.operator, error.lane, error.index) == ("sqrt", 2, (1,))
    assert error.line.line == LINE_OF_LOSS
    np.testing.assert_array_equal(checked(jnp.stack([FINE] * 4)), jnp.zeros((4, 3)))


def test_without_checked_a_program_being_recorded_is_refused():
    with pytest.raises(RuntimeError, match=r"(?s)cannot be raised.*functx\.debug\.checked"):
        jax.jit(detect_anomaly(functx.sin))(FINE)


def test_a_kernel_of_distances_is_pointed_to_what_smooth_functions_of_them_need():
    kernel = lambda x: functx.sum(functx.exp(-functx.cdist(x, x)))
    error = anomaly(detect_anomaly(functx.hessian(kernel)), jnp.ones((2, 2)))
    hint = str(error).partition("hint: ")[2]
    assert "functx.squared_cdist" in hint
    assert "for a Matern kernel see the how-to distances_that_vanish" in hint


def test_it_can_be_differentiated():
    got = functx.grad(lambda x: functx.sum(detect_anomaly(functx.sin)(x)))(FINE)
    np.testing.assert_allclose(got, jnp.cos(FINE))


def test_it_is_a_decorator_and_no_region():
    @functx.autograd.detect_anomaly(check_inf=True)
    def slope(x):
        return functx.log(x)

    assert anomaly(slope, AT_ZERO).kind == "inf"
    with pytest.raises(TypeError, match="no context"):
        with functx.autograd.detect_anomaly():
            pass
    with pytest.raises(AttributeError, match=r"functx\.debug\.detect_anomaly\(f\)"):
        functx.autograd.set_detect_anomaly  # noqa: B018


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        ((3,), {}, "`func` must be callable, got 3"),
        ((True,), {}, "check_nan is given by name"),
        ((loss,), {"check_nan": 1}, "`check_nan` must be a bool, got 1"),
    ],
)
def test_what_is_refused(args, options, message):
    with pytest.raises(TypeError, match=message):
        detect_anomaly(*args, **options)

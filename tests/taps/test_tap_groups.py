"""A group of arrays is one point of the program: its cotangents come to the hook together."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing.checks.programs import compiled


def gradient(f, *args):
    return functx.grad(f, argnums=tuple(range(len(args))))(*args)


def test_all_is_called_once_with_none_where_no_gradient_arrives():
    seen = []

    def f(x, y, z):
        x, y, z, constant = functx.taps.tap_group((2 * x, 3 * y, z, np.ones(2)), seen.append)
        return (x * z * constant.sum()).sum()

    gradient(f, jnp.float64(1), jnp.float64(2), jnp.float64(5))
    assert len(seen) == 1
    assert [g is None for g in seen[0]] == [False, True, False, True]
    assert (seen[0][0], seen[0][2]) == (10, 4)


def test_any_is_called_once_with_the_first_that_arrives():
    seen = []

    def f(x, y, z):
        x, y, z = functx.taps.tap_group((x, y, z), seen.append, "any")
        return y * z

    gradient(f, jnp.float64(1), jnp.float64(2), jnp.float64(5))
    assert seen == [5]


@pytest.mark.parametrize("mode", ["all", "any"])
def test_nothing_is_called_where_no_gradient_arrives_or_a_backward_pass_fails(mode):
    def broken(cotangent):
        raise LookupError("Boom")

    seen = []
    group = lambda x: functx.taps.tap_group((2 * x, 3 * x), seen.append, mode)
    functx.grad(lambda x: (group(x), x)[1])(1.0)
    with pytest.raises(LookupError, match="Boom"):
        functx.grad(lambda x: functx.taps.tap(sum(group(x)), on_grad=broken))(1.0)
    assert not seen


def test_every_pass_calls_it_anew():
    seen = []
    f = lambda x: sum(functx.taps.tap_group((x, 2 * x), lambda g: seen.append(len(g))))
    _, pull = functx.vjp(f, jnp.float64(1))
    pull(jnp.float64(1)), pull(jnp.float64(1)), functx.grad(f)(jnp.float64(1))
    assert seen == [2, 2, 2]


def test_groups_and_taps_run_from_the_output_backwards():
    log = []
    note = lambda what: lambda _: log.append(what)

    def f(x):
        x = functx.taps.tap(x, on_grad=note(0))
        a, b = functx.taps.tap_group((2 * x, 3 * x), note(1))
        c, d = functx.taps.tap_group((a * b, a), note(2), "any")
        return functx.taps.tap(c * d, on_grad=note(3))

    functx.grad(f)(jnp.float64(1))
    assert log == [3, 2, 1, 0]


def unit(cotangents):
    norm = jnp.sqrt(sum((g**2).sum() for g in cotangents if g is not None))
    return [None if g is None else g / norm for g in cotangents]


def test_what_it_returns_goes_on_in_every_transform():
    def f(x, y):
        x, y, _ = functx.taps.tap_group((x, y, 2 * y), unit)
        return 3 * x + 4 * y

    def g(x, y):
        x, y = functx.taps.tap_group((x, y), lambda g: 2 * g, "any")
        return x * x + y

    x, xs = jnp.float64(2), jnp.arange(3.0)
    programs = lambda: {
        "all": gradient(f, x, x),
        "jit": jax.jit(lambda: gradient(f, x, x))(),
        "vmap": functx.vmap(lambda x: gradient(f, x, x))(xs),
        "any": gradient(g, x, x),
        "second": functx.grad(functx.grad(g))(x, x),
        "forward": functx.jvp(g, (x, x), (x, x))[1],
        "ordered": functx.grad(
            functx.grad(lambda x: functx.taps.tap_group((x,), unit, order=2)[0] ** 3)
        )(x),
    }
    got = compiled(programs)()
    for name in ("all", "jit", "vmap"):
        np.testing.assert_allclose(got[name][0], 0.6 * np.ones(np.shape(got[name][0])))
        np.testing.assert_allclose(got[name][1], 0.8 * np.ones(np.shape(got[name][1])))
    np.testing.assert_allclose(got["any"], (8, 1))
    np.testing.assert_allclose(got["second"], 8)
    np.testing.assert_allclose(got["forward"], 10)
    np.testing.assert_allclose(got["ordered"], 1)


def test_a_bad_mode_is_refused():
    message = r"tap_group: expected `mode` to be one of \('all', 'any'\) but got foo"
    with pytest.raises(ValueError, match=message):
        functx.taps.tap_group((1.0,), print, "foo")


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="`xs` must be a tuple of arrays, got trees"):
        functx.taps.tap_group(({"a": jnp.ones(2), "b": 1.0},), print)
    with pytest.raises(TypeError, match="`xs` must be a tuple of arrays"):
        functx.taps.tap_group(jnp.ones(2), print)
    with pytest.raises(TypeError, match="`fn` must be callable"):
        functx.taps.tap_group((1.0,), 3)
    pair = lambda x: sum(functx.taps.tap_group((x, x), lambda g: g[:1]))
    with pytest.raises(ValueError, match=r"`fn\(cotangents\)` must have the structure"):
        functx.grad(pair)(1.0)

"""A tap is the identity forward; cotangents go through its hook on their way back."""

from __future__ import annotations

import gc
import itertools
import warnings
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, PartitionSpec

import functx
from functx.testing.checks.programs import compiled


MIX = np.array([[0.6, 0.3], [-0.2, 0.5]])
POINT = np.array([0.7, -0.4])
DIRECTION = np.array([0.9, -1.3])


def wave(x):
    return jnp.sin(MIX @ functx.taps.tap(x, on_grad=lambda g: 3 * g))


def untapped(x):
    return jnp.sin(MIX @ x)


def tripled(x):
    """To every order, three times the derivatives that `untapped` has."""
    return untapped(3 * x - 2 * lax.stop_gradient(x))


# Each takes and returns a function from vectors to vectors.
NEUTRAL = {
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, 2 * x, x * x])).sum(0),
    "vmap-1": lambda f: lambda x: functx.vmap(f, -1, -1)(jnp.stack([x, -x, x * x], -1)).sum(-1),
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "scan": lambda f: lambda x: lax.scan(lambda c, a: (f(a * c), c), x, np.array([0.8, 1.2]))[0],
    "cond": lambda f: lambda x: lax.cond(x[0] > 0, f, lambda x: 2 * x, x),
    "fori_loop": lambda f: lambda x: lax.fori_loop(0, 2, lambda i, c: f(c) - i * c, x),
}
REVERSE = {
    "grad": lambda f: functx.grad(lambda x: DIRECTION @ f(x)),
    "vjp": lambda f: lambda x: functx.vjp(f, x)[1](DIRECTION * x)[0],
    "jacrev": lambda f: lambda x: jax.jacrev(f)(x) @ DIRECTION,
}
FORWARD = {
    "jvp": lambda f: lambda x: functx.jvp(f, (x,), (DIRECTION * x,))[1],
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](DIRECTION * x),
    "jacfwd": lambda f: lambda x: functx.jacfwd(f)(x) @ DIRECTION,
}
EVERY = NEUTRAL | REVERSE | FORWARD


def check(pairs, f, truth):
    """One compiled program computes all `pairs` of nested transforms of both functions."""
    nest = lambda pair, f: EVERY[pair[0]](EVERY[pair[1]](f))
    everything = lambda x: {pair: (nest(pair, f)(x), nest(pair, truth)(x)) for pair in pairs}
    for pair, (got, want) in compiled(everything)(POINT).items():
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=str(pair))


@pytest.mark.parametrize("outer", NEUTRAL | REVERSE)
def test_the_hook_acts_in_every_reverse_pass(outer):
    check([(outer, inner) for inner in NEUTRAL | REVERSE], wave, tripled)


@pytest.mark.parametrize("outer", NEUTRAL | FORWARD)
def test_forward_mode_passes_through(outer):
    check([(outer, inner) for inner in NEUTRAL | FORWARD], wave, untapped)


def test_forward_over_reverse_meets_the_hook_once():
    tripled_after = lambda x: 3 * functx.grad(lambda x: DIRECTION @ untapped(x))(x)
    tapped = functx.grad(lambda x: DIRECTION @ wave(x))
    both = compiled(lambda x: (functx.jacfwd(tapped)(x), functx.jacfwd(tripled_after)(x)))
    np.testing.assert_allclose(*both(POINT), rtol=1e-12)


def test_reverse_over_forward_meets_no_hook_of_a_tangent():
    """The hook belongs to what is tapped, not to its tangent."""
    tangent = lambda f: lambda x: functx.jvp(f, (x,), (DIRECTION,))[1].sum()
    gradient = lambda x: functx.grad(tangent(lambda x: functx.taps.tap(2 * x, on_grad=refuse)))(x)
    np.testing.assert_array_equal(gradient(POINT), 0)


def refuse(cotangent):
    raise LookupError("Boom")


def squared(x):
    return jnp.sin(functx.taps.tap(x * x, on_grad=lambda g: g * g)) * x


def test_grad_of_grad_is_that_of_create_graph():
    """As PyTorch has them, with `y.register_hook(lambda g: g * g)` and `create_graph=True`."""
    x = jnp.float64(1.2)
    first, second = functx.grad(squared), functx.grad(functx.grad(squared))
    np.testing.assert_allclose(first(x), 1.050246096367986, rtol=1e-14)
    np.testing.assert_allclose(second(x), 1.545511200307517, rtol=1e-14)
    np.testing.assert_allclose(compiled(second)(x), 1.545511200307517, rtol=1e-14)


def test_a_hook_that_is_not_linear_is_differentiated_in_turn():
    loop = lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0]
    hessian = lambda f: functx.grad(functx.grad(f))
    twice, looped = lambda x: squared(squared(x)), loop(jax.jit(squared))
    both = compiled(lambda x: (hessian(looped)(x), hessian(twice)(x)))
    np.testing.assert_allclose(*both(jnp.float64(0.7)), rtol=1e-12)


def test_a_hook_that_is_not_linear_acts_once_under_checkpoint():
    both = compiled(lambda x: (functx.grad(jax.checkpoint(squared))(x), functx.grad(squared)(x)))
    np.testing.assert_allclose(*both(jnp.float64(0.7)), rtol=1e-12)


ORDERS = [(None, 3, 9), (1, 3, 3), (2, 1, 3), (3, 1, 1)]


@pytest.mark.parametrize(("order", "first", "second"), ORDERS)
def test_order_selects_the_derivative_that_the_hook_belongs_to(order, first, second):
    def f(x):
        return functx.taps.tap(x, on_grad=lambda g: 3 * g, order=order) ** 3

    x = jnp.float64(2)
    np.testing.assert_allclose(functx.grad(f)(x), first * 12)
    np.testing.assert_allclose(functx.grad(functx.grad(f))(x), second * 12)


def test_a_hook_of_the_first_order_is_called_once_in_a_second_derivative():
    calls = []
    f = lambda x: functx.taps.tap(x * x, on_grad=calls.append, order=1) ** 2
    functx.grad(functx.grad(f))(jnp.float64(2))
    assert len(calls) == 1


def test_eager_hooks_see_arrays_and_compiled_ones_tracers():
    seen = []
    f = lambda x: functx.taps.tap(x * x, on_grad=seen.append) * 5
    functx.grad(f)(jnp.float64(2))
    jax.jit(functx.grad(f))(jnp.float64(2))
    assert not isinstance(seen[0], jax.core.Tracer) and seen[0] == 5
    assert isinstance(seen[1], jax.core.Tracer) and seen[1].shape == ()


def test_compiled_hooks_print_through_jax(capfd):
    watch = lambda g: jax.debug.print("cotangent {}", g)
    jax.jit(functx.grad(lambda x: functx.taps.tap(x, on_grad=watch) * 5))(1.0)
    jax.effects_barrier()
    assert "cotangent 5.0" in capfd.readouterr().out


def test_hooks_run_from_the_output_backwards():
    log = []
    note = lambda what: lambda g: log.append(what)

    def f(x):
        x = functx.taps.tap(x, on_grad=note("before"))
        y = functx.taps.tap(functx.taps.tap(x * x, on_grad=note("inner")), on_grad=note("outer"))
        return jnp.sin(y)

    functx.grad(f)(jnp.float64(1))
    assert log == ["outer", "inner", "before"]


def test_a_hook_is_called_once_in_each_pass_with_the_whole_cotangent():
    seen = []

    def f(x):
        y = functx.taps.tap(x, on_grad=seen.append)
        return y * y + 3 * y

    _, pull = functx.vjp(f, jnp.float64(2))
    pull(jnp.float64(1)), pull(jnp.float64(10))
    assert seen == [7, 70]


class Doubling:
    """A callable without a name."""

    def __call__(self, cotangent):
        return 2 * cotangent


def test_a_hook_lives_as_long_as_the_function_that_taps():
    def gradient():
        hook = Doubling()
        f = functx.grad(lambda x: functx.taps.tap(x, on_grad=hook) * 5)
        f(1.0), jax.jit(f)(1.0), functx.grad(lambda x: functx.vmap(f)(x).sum())(POINT)
        return weakref.ref(hook)

    hook = gradient()
    gc.collect()
    assert hook() is None


def test_in_a_region_without_gradients_no_gradient_reaches_a_tap():
    def f(x):
        with functx.no_grad():
            y = functx.taps.tap(x, on_grad=refuse)
        return x * y

    assert functx.grad(f)(3.0) == 3


def test_any_callable_is_a_hook():
    np.testing.assert_allclose(
        functx.grad(lambda x: functx.taps.tap(x, on_grad=Doubling()) * 5)(1.0), 10
    )


def test_a_tap_belongs_to_a_value_before_and_after_an_update():
    """What an in-place operation replaced has a cotangent of its own."""
    old, new = [], []

    def f(x):
        y = functx.taps.tap(2 * x, on_grad=old.append)
        y = functx.taps.tap(y.at[0].set(4 * y[0]), on_grad=new.append)
        return y.sum()

    functx.grad(f)(jnp.ones(2))
    np.testing.assert_array_equal(new[0], [1, 1])
    np.testing.assert_array_equal(old[0], [4, 1])


def test_a_tree_comes_back_as_a_tree_with_none_where_no_gradient_arrives():
    seen = []

    def f(x, w):
        tree = {"x": 2 * x, "w": w, "n": jnp.arange(3), "unused": 3 * x}
        tree = functx.taps.tap(tree, on_grad=seen.append)
        assert tree["n"].dtype == jnp.arange(3).dtype
        return (tree["x"] * tree["w"]).sum()

    functx.grad(f)(jnp.ones(2), jnp.full(2, 5.0))
    assert {name for name, g in seen[0].items() if g is not None} == {"x"}
    np.testing.assert_array_equal(seen[0]["x"], [5, 5])


def test_leaves_of_a_tree_are_clipped_by_their_common_norm():
    def clip(tree):
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(tree)))
        return jax.tree.map(lambda g: g / norm, tree)

    f = lambda tree: sum(map(jnp.sum, jax.tree.leaves(functx.taps.tap(tree, on_grad=clip))))
    got = functx.grad(f)({"a": jnp.zeros(3), "b": jnp.zeros(6)})
    np.testing.assert_allclose(got["a"], 1 / 3)
    np.testing.assert_allclose(got["b"], 1 / 3)


def test_a_tap_that_no_gradient_reaches_calls_nothing():
    f = lambda x, y: functx.taps.tap(x, on_grad=refuse) + y
    assert functx.grad(f, argnums=1)(1.0, 2.0) == 1
    g = lambda x: (functx.taps.tap(2 * x, on_grad=refuse), x)[1]
    assert functx.grad(g)(1.0) == 1


def test_under_vmap_the_hook_sees_one_lane():
    unit = lambda g: g / jnp.sqrt((g**2).sum())
    f = lambda w, x: functx.taps.tap(w, on_grad=unit) @ x
    ws, xs = np.ones((3, 2)), np.array([[0, 2], [3, 4], [1, 0.0]])
    want = xs / np.linalg.norm(xs, axis=1, keepdims=True)
    total = lambda ws: functx.vmap(f)(ws, xs).sum()
    shared = lambda w: functx.vmap(f, (None, 0))(w, xs).sum()
    mixed = lambda w: functx.vmap(lambda x: functx.taps.tap((w, x), on_grad=unit_of_first)[0] @ x)(
        xs
    )
    unit_of_first = lambda pair: (unit(pair[0]), pair[1])
    got = compiled(
        lambda ws: (
            functx.vmap(functx.grad(f))(ws, xs),
            functx.grad(total)(ws),
            functx.grad(shared)(ws[0]),
            functx.grad(lambda w: mixed(w).sum())(ws[0]),
        )
    )(ws)
    np.testing.assert_allclose(got[0], want)
    np.testing.assert_allclose(got[1], want)
    np.testing.assert_allclose(got[2], unit(xs.sum(0)))  # nothing about `w` differs by lane
    np.testing.assert_allclose(got[3], want.sum(0))


def test_complex_cotangents_are_pytorchs():
    seen = []
    f = lambda z: jnp.abs(functx.taps.tap(z * z, on_grad=lambda g: seen.append(g) or 1j * g))
    z = jnp.asarray(1 + 2j)
    gradient = functx.grad(f)(z)
    np.testing.assert_allclose(seen[0], -0.6 + 0.8j)  # of |w| it is w / |w|
    np.testing.assert_allclose(gradient, 1j * (-0.6 + 0.8j) * np.conj(2 * z))


def test_a_hook_may_differentiate():
    def scaled(g):
        return g * functx.grad(lambda w: 3 * w**2)(jnp.float64(1))

    f = lambda x: functx.taps.tap(x * x, on_grad=scaled)
    np.testing.assert_allclose(functx.grad(f)(jnp.float64(2)), 24)
    np.testing.assert_allclose(compiled(functx.grad(f))(jnp.float64(2)), 24)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, NEUTRAL["scan"], NEUTRAL["vmap"]])
def test_what_a_hook_raises_comes_out_as_it_is(transform):
    f = transform(lambda x: functx.taps.tap(x, on_grad=refuse) * 2)
    with pytest.raises(LookupError, match="^'?Boom'?$"):
        functx.grad(lambda x: f(x).sum())(POINT)
    assert functx.grad(lambda x: (x * 2).sum())(POINT)[0] == 2  # nothing is left half done


def test_warnings_of_a_hook_reach_the_caller():
    f = lambda x: functx.taps.tap(x, on_grad=lambda g: warnings.warn("from backward", stacklevel=1))
    for gradient in (functx.grad(f), jax.jit(functx.grad(f))):
        with pytest.warns(UserWarning, match="from backward"):
            gradient(1.0)


WRONG = {
    "shape": (
        lambda g: g[None],
        ValueError,
        r"must be like the cotangent, f64\[2\], got f64\[1,2\]",
    ),
    "dtype": (lambda g: g.astype("float32"), TypeError, r"f64\[2\], got f32\[2\]"),
    "tree": (lambda g: (g, g), TypeError, "got a tuple"),
    "kind": (lambda g: "g", TypeError, "got 'g'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_a_hook_returns_is_checked(wrong):
    hook, error, message = WRONG[wrong]
    with pytest.raises(error, match=r"tap: `on_grad\(cotangent\)` .*" + message):
        functx.grad(lambda x: functx.taps.tap(x, on_grad=hook).sum())(POINT)


def test_a_tree_with_a_leaf_missing_is_refused():
    drop = lambda tree: {"a": tree["a"]}
    f = lambda x: functx.taps.tap({"a": x, "b": x}, on_grad=drop)["a"] + x
    with pytest.raises(ValueError, match="must have the structure of the cotangent"):
        functx.grad(lambda x: (f(x) + functx.taps.tap({"b": x}, on_grad=lambda t: t)["b"]).sum())(
            POINT
        )


REFUSED = {
    "name": (dict(name=3), TypeError, "`name` must be a string, got 3"),
    "on_grad": (dict(on_grad=3), TypeError, "`on_grad` must be callable, got 3"),
    "order": (dict(order=0), ValueError, "`order` must be None or an int from 1 on, got 0"),
    "x": (dict(x={"a": "text"}), TypeError, r"`x\['a'\]` must be an array, got 'text'"),
}


@pytest.mark.parametrize("argument", REFUSED)
def test_arguments_are_checked(argument):
    given, error, message = REFUSED[argument]
    with pytest.raises(error, match="tap: " + message):
        functx.taps.tap(**{"x": POINT, **given})


def test_a_tap_without_a_hook_leaves_no_trace_in_a_compiled_program():
    def f(x):
        return jnp.sin(functx.taps.tap(MIX @ x, "a")).sum()

    def g(x):
        return jnp.sin(MIX @ x).sum()

    f.__name__ = g.__name__ = "f"
    program = lambda f: jax.jit(jax.grad(f)).lower(POINT).as_text()
    assert program(f) == program(g)


def test_a_tap_is_its_own_linear_transpose_through_the_hook():
    f = lambda x: functx.taps.tap(x, on_grad=lambda g: 3 * g)
    np.testing.assert_array_equal(jax.linear_transpose(f, POINT)(POINT)[0], 3 * POINT)


@pytest.mark.parametrize(("check_vma", "jitted"), list(itertools.product([False, True], repeat=2)))
def test_inside_shard_map(check_vma, jitted):
    mesh = jax.make_mesh((1,), ("i",), axis_types=(AxisType.Auto,))
    spec = PartitionSpec("i")
    f = functx.grad(lambda x: (functx.taps.tap(x, on_grad=lambda g: g * g) ** 2).sum())
    mapped = jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=check_vma)
    mapped = jax.jit(mapped) if jitted else mapped
    np.testing.assert_allclose(mapped(POINT), 4 * POINT**2)

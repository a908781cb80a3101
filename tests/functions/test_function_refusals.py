"""What a `Function` refuses, and how it says so."""

import jax
import numpy as np
import pytest

import functx


X = np.ones((2, 3))


def function(backward=None, jvp=None, forward=lambda ctx, x, y="y": x * 2, **methods):
    """A class with these methods."""
    given = {"forward": forward, "backward": backward, "jvp": jvp, **methods}
    static = {name: staticmethod(f) for name, f in given.items() if callable(f)}
    flags = {name: f for name, f in given.items() if f is not None and not callable(f)}
    return type("Own", (functx.Function,), static | flags)


def test_rules_that_are_missing():
    with pytest.raises(NotImplementedError, match="Own: it must implement the forward"):
        function(lambda ctx, g: g, forward=None).apply(X)
    bare = function()
    np.testing.assert_array_equal(bare.apply(X), X * 2)
    np.testing.assert_array_equal(jax.vmap(bare.apply)(X), X * 2)
    for transform in (lambda f: jax.grad(lambda x: f(x).sum()), jax.jacfwd):
        with pytest.raises(RuntimeError, match="Own: it must implement either the backward"):
            transform(bare.apply)(X)


def test_rules_that_exclude_each_other():
    rule = lambda ctx, g: g
    with pytest.raises(RuntimeError, match="Own: Implementing both 'backward' and 'vjp'"):
        function(rule, vjp=rule).apply(X)
    with pytest.raises(RuntimeError, match="both generate_vmap_rule=True and a `vmap`"):
        function(rule, vmap=lambda *_: None, generate_vmap_rule=True).apply(X)
    with pytest.raises(RuntimeError, match="must override the setup_context staticmethod"):
        function(rule, vmap=lambda *_: None).apply(X)


GRADIENTS = {
    "shape": (lambda ctx, g: g[0][:2], r"position 0: expected shape \[2, 3\], .* got f64\[2\]"),
    "no array": (lambda ctx, g: "g", "position 0 that `backward` returns must be an array or None"),
    "too many": (lambda ctx, g: (g, None, g), r"number of gradients \(expected 2, got 3\)"),
    "static": (lambda ctx, g: (g, g), "gradient different from None at position 1"),
    "tree": (lambda ctx, g: {"x": g}, r"must be an array or None, got dict"),
}


@pytest.mark.parametrize("case", GRADIENTS)
def test_gradients_that_are_none(case):
    rule, message = GRADIENTS[case]
    with pytest.raises((RuntimeError, TypeError), match=f"Own: .*{message}"):
        jax.grad(lambda x: function(rule).apply(x).sum())(X)


def test_a_gradient_of_another_tree_is_refused():
    f = function(lambda ctx, g: {"b": g}, forward=lambda ctx, tree: tree["a"] * 2)
    with pytest.raises(
        TypeError, match=r"position 0 with the structure \{'a': \*\}, got \{'b': \*\}"
    ):
        jax.grad(lambda x: f.apply({"a": x}).sum())(X)


def two(ctx, x):
    marked = x + 1
    ctx.mark_non_differentiable(marked)
    return x * 2, marked


TANGENTS = {
    "shape": (lambda ctx, t: (t[0], None), r"output 0 .* expected shape \[2, 3\], got f64\[3\]"),
    "complex": (lambda ctx, t: (t * 1j, None), r"output 0 .* must be real, like f64\[2,3\]"),
    "tree": (lambda ctx, t: t, r"`jvp` must return .* structure \(\*, \*\), got \*"),
    "marked": (lambda ctx, t: (t, t), "output 1, .* You should return None at that position"),
    "no array": (lambda ctx, t: ("t", None), "must be an array or None, got 't'"),
}


@pytest.mark.parametrize("case", TANGENTS)
def test_tangents_that_are_none(case):
    rule, message = TANGENTS[case]
    f = function(jvp=rule, forward=two).apply
    with pytest.raises((RuntimeError, TypeError), match=f"(?s)Own: .*{message}"):
        jax.jvp(f, (X,), (X,))


def test_what_ctx_refuses():
    def forward(ctx, x, what):
        what(ctx, x)
        return x

    def run(what, rule=lambda ctx, g: (g, None)):
        return jax.grad(lambda x: function(rule, forward=forward).apply(x, what))(1.0)

    with pytest.raises(
        RuntimeError, match=r"(?s)`mark_dirty` has no meaning.*return the new value"
    ):
        run(lambda ctx, x: ctx.mark_dirty(x))
    with pytest.raises(TypeError, match="save_for_backward can only save .* argument 1 is 'x'"):
        run(lambda ctx, x: ctx.save_for_backward(x, "x"))
    with pytest.raises(AttributeError, match=r"(?s)no attribute 'saved_variables'.*saved_tensors"):
        run(lambda ctx, x: None, lambda ctx, g: (ctx.saved_variables[0], None))
    with pytest.raises(
        AttributeError, match="no attribute 'sclae'; those set by `forward` are: scale"
    ):
        run(lambda ctx, x: setattr(ctx, "scale", 2), lambda ctx, g: (ctx.sclae * g, None))


def test_exceptions_of_methods_pass_as_they_are():
    class Special(Exception):
        pass

    def broken(*_):
        raise Special("as it is")

    with pytest.raises(Special, match="^as it is$"):
        jax.grad(lambda x: function(broken).apply(x).sum())(X)
    with pytest.raises(Special, match="^as it is$"):
        jax.jit(function(lambda ctx, g: g, forward=broken).apply)(X)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        function(forward=lambda ctx, x, y: x).apply(X)


def test_python_in_rules_runs_while_they_are_traced():
    printed, computed = [], []

    def backward(ctx, g):
        printed.append(g.shape)
        jax.debug.callback(lambda g: computed.append(float(g.sum())), g)
        return g

    run = jax.jit(jax.grad(lambda x: function(backward).apply(x).sum()))
    for _ in range(3):
        run(X)
    jax.effects_barrier()
    assert printed == [(2, 3)] and computed == [6.0] * 3


def in_numpy(*args):
    return np.sinc(next(x for x in args if isinstance(x, jax.Array)))


@pytest.mark.parametrize(
    "method, own, call",
    [
        ("forward", function(forward=in_numpy), jax.jit),
        ("forward", function(forward=in_numpy), jax.vmap),
        ("forward", function(forward=in_numpy), functx.vmap),
        (
            "setup_context",
            function(forward=lambda x: x, setup_context=lambda ctx, x, y: in_numpy(y)),
            jax.jit,
        ),
        ("backward", function(in_numpy), lambda f: jax.grad(lambda x: jax.jit(f)(x).sum())),
        ("jvp", function(jvp=in_numpy), lambda f: jax.jit(jax.jacfwd(f))),
        (
            "vmap",
            function(forward=lambda x: x, setup_context=lambda *_: None, vmap=in_numpy),
            lambda f: jax.jit(jax.vmap(f)),
        ),
    ],
)
def test_numpy_where_arrays_have_no_values(method, own, call):
    expected = rf"^Own: `{method}` asks for an array as a NumPy array, .* while it is traced, .*\n"
    with pytest.raises(jax.errors.TracerArrayConversionError, match=expected) as error:
        call(own.apply)(X)
    assert str(error.value).count("hint: use the function of the same name in functx") == 1

"""`jax.experimental.jet` through operators, rules, hooks and transforms of functx."""

import importlib
import pkgutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental.jet import jet, jet_rules

import functx
from functx._core.primitives.by_reference import Primitive
from functx.testing.checks.programs import compiled


F = functx.nn.functional
X = jnp.asarray([0.5, 0.25, 1.5])
CURVE = [X, jnp.asarray([1.0, -0.5, 0.25]), jnp.asarray([0.5, 2.0, -1.0]), jnp.asarray([1.0, 0, 2])]


def nested(f, curve, order=3):
    """The derivatives of `f` along the curve, of a polynomial."""
    at = lambda t: f(curve[0] + t * (curve[1] + t / 2 * (curve[2] + t / 3 * curve[3])))
    values = [at]
    for _ in range(order):
        values.append(lambda t, g=values[-1]: jax.jvp(g, (t,), (jnp.ones_like(t),))[1])
    return [g(jnp.zeros(())) for g in values]


def along(f, curve, order=3):
    y, terms = jet(f, (curve[0],), (curve[1 : order + 1],))
    return [y, *terms]


class Cube(functx.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output


def constant_in_a_region(x):
    with functx.no_grad():
        scale = functx.exp(x)
    return scale * functx.sin(x)


def looped(x):
    return lax.fori_loop(0, 3, lambda _, x: functx.sin(x) + functx.lgamma(x + 2), x)


KERNEL = jnp.asarray([[[0.5, -1.0]]])
FUNCTIONS = {
    "an operator with a rule": functx.sin,
    "one of a primitive for which JAX has no rule": functx.lgamma,
    "one that is linear": lambda x: functx.matmul(jnp.outer(X, X), x),
    "one with integers inside": lambda x: (
        functx.sort(functx.cumsum(functx.tan(x), 0), dim=0).values
    ),
    "one with two results": lambda x: functx.max(x * x, dim=0).values,
    "a product of own": lambda x: F.conv1d(x[None, None], KERNEL * x[0])[0, 0],
    "compiled": jax.jit(lambda x: functx.erf(x) * functx.pow(x, 2.5)),
    "mapped": functx.vmap(lambda x: functx.where(x > 1, F.gelu(x), x * x)),
    "a gradient": functx.grad(lambda x: (functx.tan(x) * x).sum()),
    "a Jacobian": functx.jacfwd(functx.tanh),
    "a Function": Cube.apply,
    "a gradient of a Function": functx.vmap(functx.grad(Cube.apply)),
    "taps": lambda x: functx.taps.tap(functx.exp(x), "x", on_grad=lambda g: 2 * g),
    "a constant": lambda x: functx.detach(x) * functx.sin(x),
    "regions": constant_in_a_region,
    "layers": lambda x: F.layer_norm(F.gelu(x), (3,)) * functx.logsumexp(x, 0),
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_jet_gives_what_nested_forward_mode_does(what):
    f = FUNCTIONS[what]
    by_both = compiled(lambda *curve: (along(f, curve), nested(f, curve)))
    for got, want in zip(*by_both(*CURVE), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_jet_is_mapped_compiled_and_differentiated():
    f = lambda x: functx.lgamma(functx.tan(x))
    third = lambda x: jet(f, (x,), (([jnp.ones_like(x)] + 2 * [jnp.zeros_like(x)]),))[1][2]
    derivative = jax.grad(jax.grad(jax.grad(f)))

    @compiled
    def every(x):
        values = jax.jit(third)(x), functx.vmap(third)(x), jax.vmap(derivative)(x)
        return values, functx.grad(third)(x[0]), jax.grad(derivative)(x[0])

    (jitted, mapped, want), slope, next_derivative = every(X)
    for got in (jitted, mapped):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    np.testing.assert_allclose(slope, next_derivative, rtol=1e-12)


def test_a_coefficient_that_is_not_finite_spoils_none_before_it():
    x = jnp.asarray(0.5)
    y, terms = jet(functx.sin, (x,), ((jnp.ones(()), jnp.zeros(()), jnp.asarray(jnp.inf)),))
    np.testing.assert_allclose([y, *terms], [np.sin(0.5), np.cos(0.5), -np.sin(0.5), np.inf])


def test_values_are_those_of_the_operator():
    # JAX's rule has 1 - erf(x), and log(1 + x).
    for f, x in ((functx.erfc, 8.0), (functx.log1p, 1e-18), (functx.remainder, -1.0)):
        f = (lambda x: functx.remainder(x, 3.0)) if f is functx.remainder else f
        assert jet(f, (jnp.asarray(x),), ((1.0,),))[0] == f(jnp.asarray(x))


def test_order_ten_of_linear_operators_is_no_larger_than_jax_makes_it():
    series = ([X] * 10,)
    ours = jax.make_jaxpr(lambda x: jet(lambda x: functx.matmul(x, x), (x,), series))(X)
    plain = jax.make_jaxpr(lambda x: jet(lambda x: jnp.matmul(x, x), (x,), series))(X)
    assert str(ours).count("dot_general") <= str(plain).count("dot_general")


def test_values_are_judged_and_measured_eagerly():
    with pytest.raises(IndexError, match=r"must lie in \[0, 2\], got 7"):
        jet(lambda x: functx.index_select(x, 0, jnp.asarray([7])), (X,), ([X],))
    with pytest.raises(RuntimeError, match=r"bernoulli: `input` must lie in \[0, 1\], got 1.5"):
        jet(functx.bernoulli, (X,), ([X],))
    y, [dy] = jet(lambda x: functx.masked_select(x, functx.gt(x, 0.3)), (X,), ([2 * X],))
    assert (y.tolist(), dy.tolist()) == ([0.5, 1.5], [1.0, 3.0])


def test_random_operators_draw_from_the_ambient_generator():
    functx.manual_seed(0)
    want = F.dropout(X)
    functx.manual_seed(0)
    y, [dy] = jet(F.dropout, (X,), ([X],))
    assert (y == want).all() and (dy == want).all()


def test_functions_that_are_no_operators_are_jaxs_matter():
    def lgamma(x):  # the name of an operator
        return lax.lgamma(x)

    assert lax.lgamma_p not in jet_rules
    with pytest.raises(KeyError, match="lgamma"):
        jet(jax.jit(lgamma), (X,), ([X],))


def test_every_primitive_has_a_rule():
    found = pkgutil.walk_packages(functx.__path__, "functx.")
    names = [info.name for info in found if "_core" in info.name or "_transforms" in info.name]
    modules = [importlib.import_module(name) for name in [*names, "functx._ops.nn.convolution"]]
    ours = {x for module in modules for x in vars(module).values() if isinstance(x, Primitive)}
    assert len(ours) > 10
    assert ours <= jet_rules.keys()

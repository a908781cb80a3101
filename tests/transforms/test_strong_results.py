"""No transform gives weakly typed arrays, and Python numbers it differentiates at have a dtype."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx.autograd import forward_ad, functional


def newton(f, x):
    return lax.fori_loop(0, 20, lambda _, x: x - f(x) / jax.grad(f)(x), x)


def repeat(f, x):
    return lax.fori_loop(0, 60, lambda _, x: f(x), x)


def descent(parameter, gradient, state):
    return parameter - 0.5 * gradient, state * 2


class Same(functx.Function):
    @staticmethod
    def forward(ctx, x):
        return x, jnp.where(True, 1.0, x)

    @staticmethod
    def backward(ctx, one, other):
        return one


class Pair:
    """A module of one leaf."""

    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return self.w * x


jax.tree_util.register_pytree_with_keys(
    Pair, lambda m: ([(jax.tree_util.GetAttrKey("w"), m.w)], None), lambda _, w: Pair(*w)
)


def with_dual(x):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        inside = forward_ad.unpack_dual(jnp.sin(dual)), forward_ad.unpack_dual(x)
    return inside, forward_ad.unpack_dual(dual)


def called_twice(output_and_linear, x):
    output, linear = output_and_linear
    return output, linear(x)


# Of a real 0-d array, weakly typed or not, or of a Python number.
AT_A_POINT = {
    "grad": lambda x: functx.grad(lambda x: x * 1.0)(x),
    "grad_and_value": lambda x: functx.grad_and_value(lambda x: x)(x),
    "value_and_grad": lambda x: functx.value_and_grad(lambda x: (x, x), has_aux=True)(x),
    "gradient of a constant": lambda x: functx.grad(lambda x: 2.0 + 0 * x.real)(x),
    "vjp": lambda x: called_twice(functx.vjp(lambda x: x, x), x),
    "vjp of several": lambda x: functx.vjp(lambda x: {"a": x, "b": jnp.sin(x)}, x)[0],
    "jvp": lambda x: functx.jvp(lambda x: (x, jnp.sin(x)), (x,), (x,)),
    "jvp, strict": lambda x: functx.jvp(jnp.sin, (x,), (x,), strict=True),
    "linearize": lambda x: called_twice(functx.linearize(lambda x: x, x), x),
    "jacrev": lambda x: functx.jacrev(lambda x: x)(x),
    "jacfwd": lambda x: functx.jacfwd(lambda x: x, has_aux=False)(x),
    "hessian": lambda x: functx.hessian(lambda x: x**3)(x),
    "hvp": lambda x: functx.hvp(jnp.exp, x, 1.0),
    "vhp": lambda x: functx.vhp(jnp.exp, x, 1.0),
    "autograd.grad": lambda x: functx.autograd.grad(lambda x: x * 1.0, x, 1.0),
    "functional.vjp": lambda x: functional.vjp(lambda x: x, x, 1.0),
    "functional.jvp": lambda x: functional.jvp(lambda x: x, x, 1.0),
    "functional.jacobian": lambda x: functional.jacobian(lambda x: x, x),
    "functional.hessian": lambda x: functional.hessian(lambda x: x**3, x),
    "functional.hvp": lambda x: functional.hvp(lambda x: x**3, x, 1.0),
    "functional.vhp": lambda x: functional.vhp(lambda x: x**3, x, 1.0),
    "forward_ad": with_dual,
    "tap": lambda x: functx.taps.tap({"x": x}),
    "tap_grads": lambda x: functx.taps.tap_grads(
        lambda x: functx.taps.tap(x, "a") * 1.0, argnums=0
    )(x),
    "value_and_tap_grads": lambda x: functx.taps.value_and_tap_grads(
        lambda x: functx.taps.tap(x, "a")
    )(x),
    "fused_update": lambda x: functx.taps.fused_update(lambda w: w * 1.0, descent)(
        x, jnp.asarray(1)
    ),
    "stack_trees": lambda x: functx.stack_trees([{"x": x}, {"x": x}]),
    "custom_root": lambda x: functx.implicit.custom_root(lambda x: x * x - 2.0, x, newton),
    "custom_fixed_point": lambda x: functx.implicit.custom_fixed_point(jnp.cos, x, repeat),
    "custom_linear_solve": lambda x: functx.implicit.custom_linear_solve(lambda x: 2.0 * x, x),
}

# Of a vector.
OF_A_VECTOR = {
    "vmap": functx.vmap(lambda x: x),
    "vmap in chunks": functx.vmap(lambda x: x, chunk_size=2),
    "vmap of a constant": functx.vmap(lambda x: jnp.asarray(2.5), out_dims=None),
    "vmap to another dimension": functx.vmap(lambda x: {"a": x}, out_dims={"a": -1}),
    "vmap with randomness": functx.vmap(lambda x: x, randomness="same"),
    "jit": functx.jit(lambda x: (x, {"a": x})),
    "checkpoint": functx.checkpoint(lambda x: x),
    "checkpoint with a policy": functx.checkpoint(lambda x: x, policy=[functx.sin]),
    "checkpoint_sequential": lambda x: functx.checkpointing.checkpoint_sequential(
        [lambda x: x] * 4, 2, x
    ),
    "functional_call of a function": lambda x: functx.functional_call(lambda p, x: p, x, x),
    "functional_call of a module": lambda x: functx.functional_call(Pair(x), {"w": 2.0}, x),
    "functional_call of a tree": lambda x: functx.functional_call(Pair(x), Pair(2.0), x),
    "Function": Same.apply,
    "grad of a Function": functx.grad(lambda x: Same.apply(x)[0].sum()),
    "tap_group": lambda x: functx.taps.tap_group((x, x), lambda cotangents: None),
    "tap_values": functx.taps.tap_values(lambda x: functx.taps.tap(x, "a")),
    "with_rule_hooks": functx.taps.with_rule_hooks(lambda x: x),
    "detect_anomaly": functx.debug.detect_anomaly(lambda x: x),
    "checked": functx.debug.checked(lambda x: x),
    "unstack_tree": functx.unstack_tree,
    "detach": lambda x: functx.detach({"a": x}),
    "no_grad": functx.no_grad(lambda x: x),
    "enable_grad": functx.enable_grad(lambda x: x),
    "inference_mode": functx.inference_mode(lambda x: x),
    "set_grad_enabled": functx.set_grad_enabled(False)(lambda x: x),
    "jacobian": lambda x: functional.jacobian(lambda x: x, x, vectorize=True),
    "hooks": lambda x: hooked(x),
    "hermitian_function": lambda x: functx.linalg.hermitian_function(
        jnp.broadcast_to(x, (3, 3)), lambda values, p: values * p, x[0]
    ),
    "singular_value_function": lambda x: functx.linalg.singular_value_function(
        jnp.outer(x, x), lambda values, p: values * p, x[0]
    ),
    "singular_value_sum": lambda x: functx.linalg.singular_value_sum(
        jnp.outer(x, x), lambda values, p: values * p, x[0]
    ),
}


def hooked(x):
    with functx.residuals.residual_hooks(lambda x: x, lambda x: x):
        return functx.vjp(jnp.sin, x)[1](x)


@pytest.fixture(autouse=True)
def mixing():
    with jax.numpy_dtype_promotion("standard"):
        yield


def arrays(tree):
    found = [x for x in jax.tree.leaves(tree) if isinstance(x, (jax.Array, np.ndarray))]
    assert found and all(isinstance(x, jax.Array) for x in found)
    return found


def assert_the_same(got, want):
    for x, y in zip(arrays(got), arrays(want), strict=True):
        assert not x.weak_type
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("x64", [True, False])
@pytest.mark.parametrize("name", AT_A_POINT)
def test_at_a_point(name, x64):
    call = AT_A_POINT[name]
    with functx.x64(x64):
        weak, strong = jnp.asarray(0.3), jnp.asarray(0.3, dtype=float)
        assert weak.weak_type and not strong.weak_type
        assert_the_same(call(weak), call(strong))
        assert_the_same(call(0.3), call(jnp.float32(0.3)))  # the default dtype's


@pytest.mark.parametrize("x64", [True, False])
@pytest.mark.parametrize("name", OF_A_VECTOR)
def test_of_a_vector(name, x64):
    call = OF_A_VECTOR[name]
    with functx.x64(x64):
        weak, strong = jnp.full(3, 0.3), jnp.asarray([0.3] * 3, dtype=float)
        assert weak.weak_type and not strong.weak_type
        assert_the_same(call(weak), call(strong))


def test_what_functions_return():
    """Python numbers become arrays of the default dtype, where arrays come out."""
    numbers = lambda x: (2.5, 1, True, 1j)
    dtypes = ["float32", "int64", "bool", "complex64"]
    x = jnp.ones(3)
    for call in (
        functx.vmap(numbers),
        functx.jit(numbers),
        functx.debug.checked(numbers),
        functx.taps.tap_values(numbers),
        functx.debug.detect_anomaly(numbers),
        lambda x: functx.vjp(numbers, x)[0],
        lambda x: functx.linearize(numbers, x)[0],
    ):
        assert [y.dtype.name for y in arrays(call(x))][:4] == dtypes
    value, tangent = functx.jvp(lambda x: 2.5, (x,), (x,))
    assert (value.dtype, tangent.dtype) == ("float32", "float32")


def test_what_is_handed_through_stays_a_number():
    assert type(functx.checkpoint(lambda x, n: n * 2)(jnp.ones(3), 0.1)) is float
    assert (
        type(functx.vmap(lambda x, n: (x, n), (0, None), (0, None))(jnp.ones(3), 0.1)[1]) is float
    )
    half = jnp.ones(3, "bfloat16")
    assert functx.vmap(functx.mul, in_dims=(0, None))(half, 0.1).dtype == "bfloat16"
    assert functx.checkpoint(functx.mul)(jnp.ones((), "bfloat16"), 0.1).dtype == "bfloat16"
    assert functx.grad(functx.mul)(jnp.ones((), "bfloat16"), 0.1).dtype == "bfloat16"


def test_complex_points():
    for jacobian in (functx.jacrev, functx.jacfwd):
        assert jacobian(functx.sin)(jnp.asarray(0.5 + 0.5j)).dtype == "complex128"
        assert jacobian(functx.sin)(0.5 + 0.5j).dtype == "complex64"


@pytest.mark.parametrize("known", [np.float64(2), np.float32(2), 2.0])
def test_numbers_take_the_dtype_that_an_equation_gives_them(known):
    """As a guess they have no digits of their own: those of what they meet count."""
    dtype = getattr(known, "dtype", "float32")
    root = functx.implicit.custom_root(lambda x: x * x - known, 1.0, newton)
    assert root.dtype == dtype and not root.weak_type
    by_python = functx.implicit.custom_root(
        lambda x: x * x - known, jnp.ones(()), lambda f, x: 2**0.5
    )
    assert by_python == 2**0.5
    solution = functx.implicit.custom_linear_solve(lambda x: known * x, 3.0)
    assert solution == 1.5 and solution.dtype == dtype


def test_integers_beside_what_is_differentiated_stay_as_they_are():
    seen = []

    def loss(tree):
        seen.append(type(tree["n"]))
        return tree["x"] ** tree["n"]

    gradients = functx.grad(loss, allow_int=True)({"x": 3.0, "n": 2})
    assert gradients["x"] == 6 and gradients["x"].dtype == "float32" and seen == [int]

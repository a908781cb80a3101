"""`functx.autograd.functional`: PyTorch's signatures, functx's derivatives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.autograd import functional
from functx.testing.checks.programs import compiled


X = jnp.asarray([0.7, -0.4])
Y = jnp.asarray([[1.5, 0.3], [-0.6, 0.9]])


def two(x, y):
    return functx.sin(x) * y, (x * y).sum()


def scalar(x, y):
    return functx.sum(x**2 * y) + (y**3).sum()


def close(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), got, want)


@pytest.fixture(scope="module")
def results():
    def everything(x, y):
        f = functional
        jacobians = {
            (strategy, vectorize): f.jacobian(two, (x, y), vectorize=vectorize, strategy=strategy)
            for strategy in ("reverse-mode", "forward-mode")
            for vectorize in (False, True)
        }
        hessians = {
            (strategy, vectorize): f.hessian(
                scalar, (x, y), vectorize=vectorize, outer_jacobian_strategy=strategy
            )
            for strategy in ("reverse-mode", "forward-mode")
            for vectorize in (False, True)
        }
        plain = {
            "vjp": functx.vjp(two, x, y)[1]((y, jnp.asarray(2.0))),
            "jvp": functx.jvp(two, (x, y), (2 * x, y)),
            "jacobian": functx.jacrev(two, (0, 1))(x, y),
            "hessian": functx.hessian(scalar, (0, 1))(x, y),
            "product": functx.hvp(scalar, (x, y), (2 * x, y)),
        }
        return {
            "vjp": f.vjp(two, (x, y), (y, jnp.asarray(2.0))),
            "jvp": f.jvp(two, (x, y), (2 * x, y)),
            "hvp": f.hvp(scalar, (x, y), (2 * x, y)),
            "vhp": f.vhp(scalar, (x, y), (2 * x, y)),
            "jacobians": jacobians,
            "hessians": hessians,
            "plain": plain,
        }

    return compiled(everything)(X, Y)


def test_vjp_gives_outputs_and_one_product_per_input(results):
    close(results["vjp"], (two(X, Y), results["plain"]["vjp"]))


def test_jvp_gives_outputs_and_one_product_per_output(results):
    close(results["jvp"], results["plain"]["jvp"])


@pytest.mark.parametrize("name", ["hvp", "vhp"])
def test_products_with_the_hessian(results, name):
    close(results[name], results["plain"]["product"])


@pytest.mark.parametrize("vectorize", [False, True])
@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_jacobians_and_hessians_are_the_same_by_every_strategy(results, strategy, vectorize):
    close(results["jacobians"][strategy, vectorize], results["plain"]["jacobian"])
    close(results["hessians"][strategy, vectorize], results["plain"]["hessian"])


@pytest.mark.parametrize("vectorize", [False, True])
@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_only_vectorized_jacobians_are_computed_without_a_loop(strategy, vectorize):
    options = {"vectorize": vectorize, "strategy": strategy}
    program = jax.make_jaxpr(lambda x: functional.jacobian(jnp.sin, x, **options))(X)
    loops = [eqn for eqn in program.eqns if eqn.primitive.name == "scan"]
    assert bool(loops) is not vectorize


def test_one_array_instead_of_a_tuple_gives_one_back():
    cube = lambda x: (x**3).sum()
    assert functional.jacobian(functx.sin, X).shape == (2, 2)
    assert functional.hessian(cube, X).shape == (2, 2)
    assert functional.jacobian(lambda x, y: x, (X, Y))[1].shape == (2, 2, 2)
    assert functional.jacobian(lambda x: (x, x), X)[1].shape == (2, 2)
    for product in (functional.hvp, functional.vhp):
        value, got = product(cube, X, X)
        np.testing.assert_allclose(got, 6 * X * X)
        assert value.shape == ()


def test_a_vector_may_be_left_out_for_a_single_element():
    x = jnp.asarray([2.0])
    cube = lambda x: x**3
    close(functional.vjp(cube, x), (x**3, 3 * x**2))
    close(functional.jvp(cube, x), (x**3, 3 * x**2))
    close(functional.hvp(cube, x), (x**3, 6 * x))
    close(functional.vhp(cube, x), (x**3, 6 * x))
    assert functional.hessian(cube, x).shape == (1, 1)


@pytest.mark.parametrize("create_graph", [False, True])
def test_results_can_be_differentiated(create_graph):
    products = {
        "vjp": lambda x: functional.vjp(lambda x: x**3, x, X, create_graph)[1],
        "jvp": lambda x: functional.jvp(lambda x: x**3, x, X, create_graph)[1],
    }
    for product in products.values():
        np.testing.assert_allclose(functx.jacrev(product)(X), np.diag(6 * X * X))


def constant_in_y(x, y):
    return functx.sin(x)


def constant(x, y):
    return Y.sum()


def linear(x):
    return functx.sum(2 * x)


def square(x):
    return functx.sum(x**2)


f = functional
STRICT = {
    "vjp input": (lambda: f.vjp(constant_in_y, (X, Y), X, strict=True), "independent of input 1"),
    "vjp output": (lambda: f.vjp(constant, (X, Y), strict=True), "independent of the inputs"),
    "vjp graph": (
        lambda: f.vjp(linear, X, create_graph=True, strict=True),
        "product for input 0 is independent of the inputs.*when create_graph=True",
    ),
    "jvp input": (
        lambda: f.jvp(constant_in_y, (X, Y), (X, Y), strict=True),
        "independent of input 1",
    ),
    "jvp output": (
        lambda: f.jvp(lambda x: (x, Y), X, X, strict=True),
        "Output 1 of `func` is independent of the inputs",
    ),
    "jvp graph": (
        lambda: f.jvp(linear, X, X, create_graph=True, strict=True),
        "Product 0 is independent of the inputs.*when create_graph=True",
    ),
    "jacobian pair": (
        lambda: f.jacobian(lambda x, y: (x * y[0], y), (X, Y), strict=True, vectorize=True),
        "Output 1 of `func` is independent of input 0",
    ),
    "jacobian graph": (
        lambda: f.jacobian(lambda x: 2 * x, X, create_graph=True, strict=True),
        "Block 0 of the Jacobian is independent.*when create_graph=True",
    ),
    "hessian output": (lambda: f.hessian(constant, (X, Y), strict=True), "The output of `func` is"),
    "hessian gradient": (lambda: f.hessian(linear, X, strict=True), "Gradient 0 is independent"),
    "hessian pair": (
        lambda: f.hessian(lambda x, y: square(x) + square(y), (X, Y), strict=True),
        "Gradient 0 is independent of input 1",
    ),
    "hessian graph": (
        lambda: f.hessian(square, X, create_graph=True, strict=True),
        "Block 0 of the Hessian is independent.*when create_graph=True",
    ),
    "hvp output": (lambda: f.hvp(constant, (X, Y), (X, Y), strict=True), "The output of `func` is"),
    "hvp input": (
        lambda: f.hvp(lambda x, y: square(x), (X, Y), (X, Y), strict=True),
        "The output of `func` is independent of input 1",
    ),
    "hvp gradient": (lambda: f.hvp(linear, X, X, strict=True), "Gradient 0 is independent"),
    "vhp gradient": (lambda: f.vhp(linear, X, X, strict=True), "Gradient 0 is independent"),
    "vhp graph": (
        lambda: f.vhp(square, X, X, create_graph=True, strict=True),
        "product for input 0 is independent of the inputs.*when create_graph=True",
    ),
}


@pytest.mark.parametrize("case", STRICT)
def test_strict_refuses_independence(case):
    call, message = STRICT[case]
    with pytest.raises(RuntimeError, match=message) as caught:
        call()
    assert "This is not allowed in strict mode" in str(caught.value)


def test_strict_lets_pass_what_depends():
    both = lambda x, y: functx.sum(x**3 * y**3)
    calls = [
        lambda **o: f.vjp(both, (X, Y), **o),
        lambda **o: f.jvp(both, (X, Y), (X, Y), **o),
        lambda **o: f.jacobian(both, (X, Y), **o),
        lambda **o: f.hessian(both, (X, Y), **o),
        lambda **o: f.hvp(both, (X, Y), (X, Y), **o),
        lambda **o: f.vhp(both, (X, Y), (X, Y), **o),
    ]

    def everything():
        return [(call(), call(strict=True, create_graph=True)) for call in calls]

    for got, want in compiled(everything)():
        close(got, want)


REFUSALS = {
    "no array": (lambda: f.jacobian(functx.sin, "x"), TypeError, "inputs must be an array or a"),
    "list": (lambda: f.vjp(functx.sin, [X]), TypeError, "inputs must be an array or a tuple"),
    "output": (
        lambda: f.vjp(lambda x: "y", X),
        TypeError,
        "the outputs of `func` must be an array",
    ),
    "empty": (lambda: f.vjp(lambda: X, ()), ValueError, "`inputs` must not be empty"),
    "func": (lambda: f.hvp(3, X), TypeError, "`func` must be callable"),
    "v of vjp": (
        lambda: f.vjp(functx.sin, X),
        RuntimeError,
        "`v` can only be None where `outputs`",
    ),
    "v of jvp": (lambda: f.jvp(functx.sin, X), RuntimeError, "`v` can only be None where `inputs`"),
    "v of hvp": (lambda: f.hvp(square, X), RuntimeError, "`v` can only be None where `inputs`"),
    "count": (lambda: f.jvp(two, (X, Y), (X,)), RuntimeError, "one entry for each of `inputs`, 2"),
    "size": (
        lambda: f.jvp(functx.sin, X, jnp.ones(3)),
        RuntimeError,
        r"`v` has an invalid size: expected f64\[2\], got f64\[3\]",
    ),
    "size in a tuple": (
        lambda: f.jvp(two, (X, Y), (X, X)),
        RuntimeError,
        r"entry 1 of `v` has an invalid size: expected f64\[2,2\]",
    ),
    "several outputs": (
        lambda: f.hessian(lambda x: (x.sum(), x.sum()), X),
        RuntimeError,
        "`func` must return a single array",
    ),
    "several elements": (
        lambda: f.vhp(functx.sin, X, X),
        RuntimeError,
        "`func` must return a single element",
    ),
    "strategy": (
        lambda: f.jacobian(functx.sin, X, strategy="sideways"),
        ValueError,
        "`strategy` must be 'forward-mode' or 'reverse-mode'",
    ),
    "outer strategy": (
        lambda: f.hessian(square, X, outer_jacobian_strategy="sideways"),
        ValueError,
        "`outer_jacobian_strategy` must be",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refuses(case):
    call, error, message = REFUSALS[case]
    with pytest.raises(error, match=f"autograd.functional.*{message}"):
        call()

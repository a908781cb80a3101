"""`ggn`, `fisher` and `empirical_fisher`, against dense matrices."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from jax.scipy.sparse.linalg import cg

import functx
import functx.nn.functional as F
from functx.curvature import CurvatureMatrix, empirical_fisher, fisher, ggn
from functx.testing.checks.programs import compiled


RNG = np.random.default_rng(3)
PARAMS = {"w": jnp.asarray(RNG.standard_normal((3, 2))), "b": jnp.asarray(RNG.standard_normal(3))}
INPUTS = jnp.asarray(RNG.standard_normal((4, 2)))
CLASSES = jnp.asarray([0, 2, 1, 2])
TARGETS = jnp.asarray(RNG.uniform(0, 1, (4, 3)))
FLAT, UNRAVELED = ravel_pytree(PARAMS)
X = FLAT
V = UNRAVELED(jnp.asarray(RNG.standard_normal(FLAT.size)))


def model(params, x):
    return jnp.tanh(x @ params["w"].T) * 2 + params["b"]


def flat(tree):
    return ravel_pytree(tree)[0]


def same(got, want):
    np.testing.assert_allclose(got, want, 1e-10, 1e-12)


def jacobian(f):
    """`[outputs, parameters]`, of all elements of the output."""
    return jax.jacfwd(lambda v: f(UNRAVELED(v)).reshape(-1))(FLAT)


# Losses of PyTorch's with a reduction, by the output.
LOSSES = {
    "cross_entropy": lambda z, **how: F.cross_entropy(z, CLASSES, **how),
    "mse_loss": lambda z, **how: F.mse_loss(z, TARGETS, **how),
    "binary_cross_entropy_with_logits": lambda z, **how: F.binary_cross_entropy_with_logits(
        z, TARGETS, **how
    ),
    "poisson_nll_loss": lambda z, **how: F.poisson_nll_loss(z, TARGETS, **how),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gauss_newton_matrix_of_a_loss_is_the_fisher_matrix_of_its_likelihood(name):
    def run(params):
        z, j = model(params, INPUTS), jacobian(lambda p: model(p, INPUTS))
        found = []
        for reduction in ("mean", "sum"):
            loss = lambda z, how=reduction: LOSSES[name](z, reduction=how)
            h = jax.hessian(lambda z, loss=loss: loss(z.reshape(4, 3)))(z.reshape(-1))
            matrices = [
                ggn(model, loss)(params, INPUTS),
                fisher(model, name, reduction=reduction)(params, INPUTS),
            ]
            products = [flat(matrix @ V) for matrix in matrices]
            found.append((j.T @ h @ j, [m.to_dense() for m in matrices], products))
        return found

    for want, dense, products in compiled(run)(PARAMS):
        for matrix, product in zip(dense, products, strict=True):
            same(matrix, want)
            same(product, want @ flat(V))


def test_fisher_matrices_are_expected_products_of_scores():
    x = INPUTS[:1]
    of_class = lambda z, y: y @ jax.nn.log_softmax(z)
    of_bits = lambda z, y: (y * jax.nn.log_sigmoid(z) + (1 - y) * jax.nn.log_sigmoid(-z)).sum()
    bits = jnp.asarray([*itertools.product((0.0, 1.0), repeat=3)])

    def expected(log_likelihood, targets):
        """The expected outer product of scores with themselves."""
        z = model(PARAMS, x)[0]
        score = jax.grad(lambda v, y: log_likelihood(model(UNRAVELED(v), x)[0], y))
        scores = jax.vmap(score, (None, 0))(FLAT, targets)
        probabilities = jnp.exp(jax.vmap(log_likelihood, (None, 0))(z, targets))
        return scores.T @ (probabilities[:, None] * scores)

    def run(params):
        bernoulli = fisher(model, "binary_cross_entropy_with_logits", reduction="sum")
        got = [m(params, x).to_dense() for m in (fisher(model, "cross_entropy"), bernoulli)]
        return got, [expected(of_class, jnp.eye(3)), expected(of_bits, bits)]

    for got, want in zip(*compiled(run)(PARAMS), strict=True):
        same(got, want)


def test_likelihood_may_be_a_function_and_samples_may_have_dimensions():
    images = lambda p: model(p, INPUTS).reshape(2, 3, 2)  # [samples, classes, *dims]
    targets = jnp.asarray([[0, 1], [2, 0]])
    one = lambda p: model(p, INPUTS)[0]

    def run(params):
        scaled = fisher(model, lambda z, direction: 3 * z**2 * direction)(params, INPUTS)
        j, z = jacobian(lambda p: model(p, INPUTS)), model(params, INPUTS)
        pairs = [
            (fisher(images, "cross_entropy"), ggn(images, lambda z: F.cross_entropy(z, targets))),
            (fisher(one, "cross_entropy"), ggn(one, lambda z: F.cross_entropy(z, CLASSES[0]))),
        ]
        return [
            (scaled.to_dense(), j.T @ (3 * z.reshape(-1, 1) ** 2 * j)),
            *((left(params).to_dense(), right(params).to_dense()) for left, right in pairs),
        ]

    for got, want in compiled(run)(PARAMS):
        same(got, want)


def test_empirical_fisher_is_of_gradients_of_each_sample():
    losses = lambda p, x: F.cross_entropy(model(p, x), CLASSES, reduction="none")

    def run(params):
        matrix = empirical_fisher(losses)(params, INPUTS)
        total = empirical_fisher(losses, reduction="sum", damping=0.5)(params, INPUTS)
        parts = matrix.to_dense(), flat(matrix @ V), flat(matrix.diagonal()), total.to_dense()
        return jacobian(lambda p: losses(p, INPUTS)), parts

    g, (dense, product, diagonal, total) = compiled(run)(PARAMS)
    same(dense, g.T @ g / 4)
    same(product, g.T @ g @ flat(V) / 4)
    same(diagonal, (g**2).mean(0))
    same(total, g.T @ g + 0.5 * np.eye(9))


def few(params):
    return model(params, INPUTS[:1])[0, :2]


@pytest.mark.parametrize("f", [few, lambda p: model(p, INPUTS)], ids=["by outputs", "by inputs"])
def test_diagonal_by_either_way(f):
    loss = lambda z: (z.reshape(-1) @ jnp.cos(z.reshape(-1))) ** 2  # its Hessian is dense

    def run(params):
        matrix = ggn(f, loss)(params)
        chunked = matrix.diagonal(chunk_size=2)
        return matrix.to_dense(chunk_size=4), matrix.diagonal(), chunked, matrix.damped(2)

    dense, diagonal, chunked, damped = compiled(run)(PARAMS)
    same(flat(diagonal), jnp.diagonal(dense))
    same(flat(chunked), jnp.diagonal(dense))
    same(flat(damped.diagonal()), jnp.diagonal(dense) + 2)


def test_is_a_matrix_of_several_arguments():
    f = lambda w, x, b: model({"w": w, "b": b}, x)
    matrix = fisher(f, "mse_loss", ("w", 2), damping=jnp.asarray(0.1))(
        PARAMS["w"], INPUTS, PARAMS["b"]
    )
    assert isinstance(matrix, CurvatureMatrix) and matrix.T is matrix and matrix.shape == (9, 9)
    whole = fisher(model, "mse_loss", damping=0.1)(PARAMS, INPUTS)
    at_w, at_b = matrix @ (V["w"], V["b"])

    def run(params, v):
        want = whole @ v
        single = ggn(lambda w: w**2, lambda y: (y**2).sum())(FLAT)
        return want, flat(cg(whole, want)[0]), single @ FLAT, single.diagonal()

    want, solved, of_single, diagonal = compiled(run)(PARAMS, V)
    same(at_w, want["w"])
    same(at_b, want["b"])
    same(solved, flat(V))
    same(of_single, 8 * FLAT**3)
    same(diagonal, 8 * FLAT**2)


def test_composes():
    def product(params, v):
        return fisher(model, "cross_entropy", damping=0.1)(params, INPUTS) @ v

    matrix = jax.jit(fisher(model, "cross_entropy", damping=0.1))(PARAMS, INPUTS)
    multiplied = compiled(lambda params, v: flat(product(params, v)))
    same(flat(jax.jit(lambda m, v: m @ v)(matrix, V)), multiplied(PARAMS, V))
    twice = jax.tree.map(lambda x: np.stack([x, 2 * x]), PARAMS)
    double = jax.tree.map(lambda x: x[1], twice)
    matrices = functx.vmap(lambda p: fisher(model, "cross_entropy")(p, INPUTS).damped(0.1))(twice)
    lanes = functx.vmap(lambda m: m @ V)(matrices)
    same(flat(jax.tree.map(lambda x: x[1], lanes)), multiplied(double, V))

    def quadratic(v, dense):
        params = UNRAVELED(v)
        if not dense:
            return flat(V) @ flat(product(params, V))
        j = jax.jacfwd(lambda v: model(UNRAVELED(v), INPUTS))(v)
        p = jax.nn.softmax(model(params, INPUTS), 1)
        moved = j @ flat(V)
        bent = (p * moved**2).sum() - ((p * moved).sum(1) ** 2).sum()
        return bent / 4 + 0.1 * flat(V) @ flat(V)

    got, want = compiled(lambda v: [jax.grad(quadratic)(v, dense) for dense in (False, True)])(FLAT)
    same(got, want)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: ggn(3, jnp.sum), TypeError, "ggn: `func` must be callable"),
        (lambda: ggn(model, 3), TypeError, "ggn: `func` must be callable"),
        (lambda: ggn(model, jnp.sum, damping=X), TypeError, "`damping` must be a real number"),
        (lambda: ggn(model, jnp.sum, damping="x"), TypeError, "`damping` must be a real number"),
        (lambda: fisher(model, "huber"), ValueError, "`likelihood` must be one of 'cross_entropy'"),
        (
            lambda: fisher(model, "mse_loss", reduction="none"),
            ValueError,
            "`reduction` must be 'mean' or 'sum'",
        ),
        (
            lambda: fisher(lambda p: (p,), "mse_loss")(X) @ X,
            ValueError,
            "`func` must return one array, got a tuple",
        ),
        (
            lambda: fisher(jnp.sum, "cross_entropy")(X) @ X,
            ValueError,
            r"must return logits of classes, got f64\[\]",
        ),
        (
            lambda: ggn(model, jnp.sum)(PARAMS, INPUTS) @ X,
            ValueError,
            "ggn: `vector` must have the structure of the parameters",
        ),
        (
            lambda: empirical_fisher(jnp.sin)(X) @ X[:2],
            ValueError,
            r"empirical_fisher: `vector\[0\]` must be like the parameters, f64\[9\], got f64\[2\]",
        ),
        (lambda: ggn(jnp.sin, jnp.sin)(X) @ X, ValueError, "`func` must return a scalar"),
        (
            lambda: fisher(lambda x: jax.lax.complex(x, x), "mse_loss")(X),
            TypeError,
            r"`func` must return real arrays, got c128\[9\]",
        ),
        (
            lambda: fisher(jnp.sin, "mse_loss")(X).diagonal(chunk_size=0),
            ValueError,
            "fisher.diagonal: `chunk_size` must be at least 1",
        ),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()

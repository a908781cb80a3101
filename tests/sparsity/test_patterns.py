"""Traced patterns beside dense derivatives at a point where no entry is zero by chance."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import sparse

import functx
from functx.sparsity import hessian_pattern, jacobian_pattern, probed_pattern, SparsityPattern
from functx.testing.checks.programs import compiled


X = jnp.asarray([0.3, 0.7, 1.1, 0.2, 0.9, 1.3])
BAND = jnp.asarray(np.diag(np.arange(1.0, 7.0)) + np.eye(6, k=1))
MASK = jnp.asarray([True, False, True, True, False, False])
PLACES = np.argwhere(BAND).astype("int32")
STORED = sparse.BCOO(  # as by `fromdense`, which compiles programs
    (jnp.asarray(np.asarray(BAND)[tuple(PLACES.T)]), jnp.asarray(PLACES)),
    shape=BAND.shape,
    indices_sorted=True,
    unique_indices=True,
)


def nonzeros(derivative, rows, columns):
    return np.asarray(derivative).reshape(rows, columns) != 0


def in_steps(step, start=0.0, **options):
    return lambda x: lax.scan(step, start, x, **options)[1]


def counted(x):
    """A loop that writes where its counter says."""
    return lax.fori_loop(0, 4, lambda i, y: y.at[i].set(y[i] * y[i + 1]), x)


def until(x):
    """A loop whose number of steps depends on values."""
    return lax.while_loop(lambda y: y.sum() > 1e-9, lambda y: y * jnp.roll(y, 1) / 9, x)


def windows(image, **options):
    return lax.conv_general_dilated(image, jnp.ones((4, 1, 2)), (2,), [(1, 0)], **options)


def grouped_in_batches(x):
    return lax.conv_general_dilated(
        x.reshape(2, 1, 3), jnp.ones((2, 1, 2)), (1,), "VALID", batch_group_count=2
    )


def at_index_of_branch(x):
    """The branches give an index, which differs, beside what depends on the input."""
    i, y = lax.cond(x[0] > 9, lambda x: (0, x[:1] ** 2), lambda x: (1, x[:1]), x)
    return jnp.stack([x[i] * y[0], x[i]])


def asking(what):
    """The identity, with a rule that asks of a tangent what to do."""
    function = jax.custom_jvp(lambda x: x * 1)
    function.defjvp(lambda xs, tangents: (xs[0] * 1, what(*tangents)))
    return function


# Functions of six numbers whose pattern is found exactly.
EXACT = {
    "elementwise": lambda x: jnp.sin(x) * x + jnp.exp(x),
    "operators": lambda x: functx.special.gammaln(x) * functx.nn.functional.logsigmoid(x),
    "two operands": lambda x: x[1:] * x[:-1] - x[0],
    "a known zero": lambda x: MASK * jnp.sin(x) + jnp.where(MASK, x**2, x[::-1]),
    "no derivative": lambda x: jnp.ceil(x) * x[0] + lax.stop_gradient(x),
    "reshaped": lambda x: jnp.transpose(x.reshape(2, 3)).ravel()[::-2] * 2,
    "padded": lambda x: jnp.sin(lax.pad(x, 0.0, [(-1, 2, 1)])),
    "padded with an input": lambda x: lax.pad(x[:2] ** 2, x[5], [(1, 1, 1)]),
    "reshaped in another order": lambda x: lax.reshape(x.reshape(2, 3), (6,), dimensions=(1, 0)),
    "joined": lambda x: jnp.concatenate([x[2:4], x[:1], jnp.ones(2)]),
    "stacked": lambda x: jnp.stack([x, x[::-1]]) @ jnp.eye(6)[:, :2],
    "tiled": lambda x: jnp.tile(x[:2], 3),
    "split": lambda x: jnp.split(x, 3)[1] * x[0],
    "summed": lambda x: x.reshape(2, 3).sum(1),
    "largest": lambda x: jax.nn.logsumexp(x.reshape(2, 3), 1),
    "running sum": lambda x: jnp.cumsum(x.reshape(2, 3), 1),
    "running sum backwards": lambda x: lax.cumsum(x, reverse=True),
    "running product": lambda x: functx.cumprod(x, 0),
    "gathered": lambda x: x[jnp.asarray([[3, 1], [5, 5]])],
    "gathered rows": lambda x: x.reshape(3, 2)[jnp.asarray([2, 0])],
    "gathered out of bounds": lambda x: x.at[jnp.asarray([2, 9])].get(mode="fill", fill_value=0),
    "written": lambda x: jnp.sin(x).at[jnp.asarray([0, 3])].set(x[5] * x[1]),
    "added": lambda x: jnp.zeros(4).at[jnp.asarray([0, 3, 0, 2, 9, 3])].add(x**2),
    "added to inputs": lambda x: jnp.sin(x).at[jnp.asarray([0, 3])].add(x[1:3] ** 2),
    "written slice": lambda x: lax.dynamic_update_slice(jnp.sin(x), x[1:3] ** 2, (9,)),
    "slice": lambda x: lax.dynamic_slice(x.reshape(2, 3), (1, 1), (1, 2)),
    "product": lambda x: BAND @ jnp.sin(x),
    "product of both": lambda x: x.reshape(2, 3) @ x.reshape(3, 2)[:, :1],
    "batched product": lambda x: jnp.einsum(
        "bij,bjk->bik", x.reshape(3, 1, 2), jnp.ones((3, 2, 1))
    ),
    "product from the right": lambda x: jnp.einsum("ij,kj->ik", BAND[:3], x.reshape(1, 6)),
    "product with several from the right": lambda x: BAND[:2, :3] @ x.reshape(3, 2),
    "stored product": lambda x: STORED @ jnp.sin(x),
    "stored product with padding": lambda x: sparse.BCOO.fromdense(BAND, nse=14) @ x**2,
    "stored values": lambda x: sparse.BCOO((x, STORED.indices[:6]), shape=(6, 6)) @ jnp.ones(6),
    "stored values with padding": lambda x: (
        sparse.BCOO((x, STORED.indices[:4].repeat(2, 0)[:6].at[4:].set(6)), shape=(6, 6))
        @ jnp.arange(1.0, 7.0)
    ),
    "operator of stored": lambda x: functx.sparse.mm(STORED, x[:, None] ** 2),
    "convolved": lambda x: jnp.convolve(x, jnp.asarray([1.0, 0.0, -1.0])),
    "convolution": lambda x: windows(x[None, None]),
    "dilated": lambda x: windows(x.reshape(2, 1, 3), lhs_dilation=(2,), rhs_dilation=(2,)),
    "groups": lambda x: windows(x.reshape(1, 2, 3), feature_group_count=2),
    "groups of batches": grouped_in_batches,
    "kernel": lambda x: lax.conv_general_dilated(
        jnp.ones((1, 1, 5)), x.reshape(2, 1, 3), (1,), "SAME"
    ),
    "convolution of functx": lambda x: functx.nn.functional.conv1d(
        x[None, None], x[None, None, :2]
    ),
    "averaged": lambda x: lax.reduce_window(x, 0.0, lax.add, (3,), (2,), "SAME"),
    "transform": lambda x: jnp.fft.fft(x.reshape(2, 3) + 0j).real,
    "solved": lambda x: lax.linalg.triangular_solve(
        jnp.ones((2, 2)), x.reshape(2, 3), left_side=True, lower=True, unit_diagonal=True
    )[1:],
    "solved from the right": lambda x: lax.linalg.triangular_solve(
        jnp.arange(1.0, 10.0).reshape(3, 3), x.reshape(2, 3), left_side=False, lower=True
    )[:, 0],
    "transform of pairs": lambda x: jnp.fft.rfft2(x.reshape(2, 3)[:, :2]).real[:, 0],
    "branches": lambda x: lax.cond(x[0] > 9, lambda x: x[:1] * 1, lambda x: x[1:2] ** 2, x) * x[:1],
    "known branch": lambda x: lax.switch(1, [lambda x: x[:2], lambda x: x[4:] ** 2], x),
    "scan": in_steps(lambda c, a: (jnp.sin(c) + a, c * a)),
    "scan backwards": in_steps(lambda c, a: (jnp.sin(c) + a, c * a), reverse=True),
    "scan backwards from an input": lambda x: lax.scan(
        lambda c, a: (jnp.sin(c) + a, c * a), x[1], x, reverse=True
    )[1],
    "scan with a counter": lambda x: lax.scan(
        lambda c, a: ((c[0] + 1, c[1].at[c[0]].set(a * c[1][c[0]])), c[1][0]),
        (0, x),
        x[:3] * 2,
    )[0][1],
    "scan of nothing": lambda x: lax.scan(lambda c, a: (c, a), x, jnp.ones((0, 2)))[0],
    "counted loop": counted,
    "checkpoint": lambda x: jax.checkpoint(lambda x: x[1:] * x[:-1])(x),
    "vmap": lambda x: jax.vmap(lambda a, b: a * b.sum())(x[:3], x.reshape(3, 2)),
    "bits": lambda x: lax.bitcast_convert_type(x, jnp.int64)[:2] * x[:2],
    "halves": lambda x: x.astype("bfloat16").astype("float64")[:2],
}
# Functions whose pattern is larger than the derivative at a point, and how many entries it has.
COARSE = {
    "sorted": (lambda x: jnp.sort(x)[:2], 12),
    "unknown choice": (lambda x: jnp.where(x > 0.5, x, x[::-1])[:2], 4),
    "unknown branch": (lambda x: lax.cond(x[0] > 9, lambda x: x[:2], lambda x: x[4:], x), 4),
    "slice of unknown start": (
        lambda x: lax.dynamic_slice(x.reshape(2, 3), ((x[0] > 9).astype(int), 0), (1, 3)),
        6,
    ),
    "slice written somewhere": (
        lambda x: lax.dynamic_update_slice(jnp.zeros(3), x[:1], ((x[0] > 9).astype(int),)),
        3,
    ),
    "gathered somewhere": (lambda x: x.reshape(2, 3)[(x[:1] > 9).astype(int)], 6),
    "written somewhere": (lambda x: jnp.zeros((2, 2)).at[(x[:1] > 9).astype(int)].set(x[:2]), 4),
    "written over somewhere": (
        lambda x: x.reshape(3, 2).at[(x[:1] > 9).astype(int)].set(x[4:], unique_indices=True),
        10,
    ),
    "slice written over somewhere": (
        lambda x: lax.dynamic_update_slice(x, x[4:] ** 2, ((x[0] > 9).astype(int),)),
        16,
    ),
    "branch by a tangent": (
        asking(lambda t: lax.cond(t[0] > 9, lambda t: t * 2, lambda t: t, t)),
        11,
    ),
    "element by a tangent": (asking(lambda t: X[jnp.argmax(t)] * t), 36),
    "slice by a tangent": (
        asking(lambda t: lax.dynamic_update_slice(t, t[:1], (jnp.argmin(t),))),
        36,
    ),
    "matrix of tangents": (
        asking(
            lambda t: (
                t * lax.linalg.triangular_solve(jnp.diag(1 + t), X[:, None], left_side=True)[:, 0]
            )
        ),
        36,
    ),
    "loop by a tangent": (
        asking(lambda t: lax.while_loop(lambda t: t[0] > 9, lambda t: t / 2, t)),
        11,
    ),
    "index from an unknown branch": (at_index_of_branch, 12),
    "loop that keeps most apart": (
        lambda x: lax.while_loop(
            lambda y: y.sum() > 1e-9, lambda y: y.at[1].set(y[0] * y[1]) / 9, x
        ),
        7,
    ),
    "loop of unknown length": (until, 36),
    "matrix": (lambda x: jnp.linalg.cholesky(x[:4].reshape(2, 2) + 9 * jnp.eye(2)), 12),
    "pooled": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2,), (2,), "VALID"), 6),
}


@pytest.fixture(autouse=True)
def plain_promotion():
    with jax.numpy_dtype_promotion("standard"):
        yield


def at_once(derivative, functions):
    """Of all functions, as one program, which costs less than a program for each."""
    return compiled(lambda x: {name: derivative(f)(x) for name, f in functions.items()})(X)


@ft.cache
def dense_jacobians():
    return at_once(jax.jacfwd, EXACT | {name: f for name, (f, _) in COARSE.items()})


@pytest.mark.parametrize("name", EXACT)
def test_a_pattern_is_that_of_the_dense_jacobian(name):
    pattern = jacobian_pattern(EXACT[name])(X)
    dense = dense_jacobians()[name]
    np.testing.assert_array_equal(pattern.to_dense(), nonzeros(dense, *pattern.shape))
    assert pattern.coarse == ()


@pytest.mark.parametrize("name", COARSE)
def test_a_pattern_is_never_too_small(name):
    f, entries = COARSE[name]
    pattern = jacobian_pattern(f)(X)
    assert pattern.nnz == entries
    assert pattern.covers(nonzeros(dense_jacobians()[name], *pattern.shape))


HESSIANS = {
    "linear": lambda x: (x[1:] - 3 * x[:-1]).sum(),
    "differences": lambda x: ((x[1:] - x[:-1]) ** 2).sum(),
    "products": lambda x: x[0] * x[1] + jnp.sin(x[2]) * x[3] + x[4],
    "linear of a nonlinear one": lambda x: BAND[0] @ jnp.exp(x),
    "nonlinear of a linear one": lambda x: jnp.exp(BAND[1] @ x),
    "operators": lambda x: functx.nn.functional.softplus(x[1:] * x[:-1]).sum(),
    "scan": lambda x: lax.scan(lambda c, a: (jnp.sin(c) * 0.5 + a, c * a), 0.0, x)[1].sum(),
    "stored product": lambda x: ((STORED @ x) ** 3).sum(),
    "gathered": lambda x: (x[jnp.asarray([0, 2])] * x[jnp.asarray([1, 1])]).sum(),
    "product of all": lambda x: jnp.prod(x),
    "constant": lambda x: jnp.sum(0 * x),
}


@ft.cache
def dense_hessians():
    return at_once(jax.hessian, HESSIANS)


@pytest.mark.parametrize("name", HESSIANS)
def test_a_hessian_pattern_is_that_of_the_dense_hessian(name):
    pattern = hessian_pattern(HESSIANS[name])(X)
    dense = dense_hessians()[name]
    np.testing.assert_array_equal(pattern.to_dense(), nonzeros(dense, 6, 6))


def test_a_row_of_zeros_in_the_first_step_of_a_scan_hides_no_other():
    """The carry begins with zeros, and the tangents that the reverse scan reads with no entry."""
    f = lambda x: lax.scan(lambda c, a: (c * a + a, jnp.sin(c)), 0.0, x)[1].sum()
    dense = jax.jit(jax.hessian(f))(X)
    assert hessian_pattern(f)(X) == SparsityPattern(dense)


def test_trees_are_laid_side_by_side():
    def f(tree, other):
        return {"y": tree["a"][:, 0] * other, "z": tree["b"]}

    tree = {"a": jnp.ones((2, 2)), "b": jnp.ones(1)}
    pattern = jacobian_pattern(f, (1, 0))(tree, jnp.ones(2))
    want = [[1, 0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1]]
    np.testing.assert_array_equal(pattern.to_dense(), np.asarray(want, bool))


def test_values_of_arguments_count_not_those_of_constants():
    mask = jnp.asarray([0.0, 1.0])
    given = jacobian_pattern(lambda x, mask: x * mask)(X[:2], mask)
    closed = jacobian_pattern(lambda x: x * mask)(X[:2])
    assert (given.nnz, closed.nnz) == (2, 1)
    # A number that is differentiated is no constant.
    assert jacobian_pattern(lambda x, y: x * y, (0, 1))(0.0, 0.0).nnz == 2


def test_a_constant_that_is_traced_is_unknown():
    seen = []

    @jax.jit
    def outer(mask):
        seen.append(jacobian_pattern(lambda x: x * mask)(X[:2]).nnz)
        return mask

    outer(jnp.zeros(2))
    assert seen == [2]


def test_a_function_without_forward_mode_may_depend_on_all():
    @jax.custom_vjp
    def f(x):
        return x[1:] * x[:-1]

    f.defvjp(lambda x: (f(x), x), lambda x, g: (jnp.pad(g * x[:-1], (1, 0)),))
    pattern = jacobian_pattern(f)(X)
    assert pattern.nnz == 30
    assert pattern.coarse


def test_a_rule_of_ones_own_is_what_counts():
    class Halved(functx.Function):
        @staticmethod
        def forward(ctx, x):
            return x + x[::-1]

        @staticmethod
        def backward(ctx, g):
            return g / 2

    assert jacobian_pattern(Halved.apply)(X) == SparsityPattern(np.eye(6))


def test_a_factorization_depends_on_its_whole_matrix():
    def f(x):
        return jax.lax.linalg.qr(x.reshape(2, 3), full_matrices=False)[1]

    pattern = jacobian_pattern(f)(X)
    assert pattern.covers(nonzeros(jax.jit(jax.jacfwd(f))(X), *pattern.shape))


def test_shapes_are_enough_and_may_be_large_or_empty():
    def laplacian(u):
        u = jnp.pad(u, 1)
        return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]

    n = 300
    pattern = jacobian_pattern(laplacian)(jax.ShapeDtypeStruct((n, n), "float32"))
    assert pattern.shape == (n * n, n * n)
    assert pattern.nnz == 5 * n * n - 4 * n
    empty = jacobian_pattern(lambda x: x * 2)(jnp.zeros((0, 3)))
    assert (empty.shape, empty.nnz, empty.density) == ((0, 0), 0, 0.0)


def test_a_pattern_that_is_too_large_is_refused():
    f = lambda x: x.sum() * jnp.ones(2**15)
    with pytest.raises(RuntimeError, match=r"sparsity.jacobian_pattern: the pattern of what `mul`"):
        jacobian_pattern(f)(jax.ShapeDtypeStruct((2**15,), "float32"))


def test_refusals():
    with pytest.raises(TypeError, match=r"`args\[0\]` must be real, got c64\[2\]"):
        jacobian_pattern(lambda x: x)(jnp.zeros(2, "complex64"))
    with pytest.raises(TypeError, match=r"`func` must return real arrays, got c128\[6\]"):
        jacobian_pattern(lambda x: x * 1j)(X)
    with pytest.raises(TypeError, match=r"`args\[0\]` must be real or complex .* i64\[2\]"):
        jacobian_pattern(lambda x: x)(jnp.zeros(2, int))
    with pytest.raises(ValueError, match="must return a scalar"):
        hessian_pattern(lambda x: x)(X)
    size = jax.export.symbolic_shape("n")
    with pytest.raises(ValueError, match=r"a pattern needs sizes that are numbers, got f32\[n\]"):
        jacobian_pattern(lambda x: x)(jax.ShapeDtypeStruct(size, "float32"))


def test_probing_finds_what_is_there_at_random_points():
    f = lambda x: jnp.sort(x)[:2] * jnp.sin(x[:1])
    probed, traced = probed_pattern(f)(X), jacobian_pattern(f)(X)
    assert traced.covers(probed)
    assert (probed & traced) == probed
    assert probed.nnz < traced.nnz
    # At the arguments themselves a square has no derivative; near them it has.
    assert probed_pattern(lambda x: x**2, points=1)(jnp.zeros(3)).nnz == 0
    assert probed_pattern(lambda x: x**2)(jnp.zeros(3)).nnz == 3
    with pytest.raises(RuntimeError, match="the Jacobian has NaN at each of the 2 points"):
        probed_pattern(lambda x: x * jnp.nan, points=2)(X)
    with pytest.raises(ValueError, match="`points` must be a positive int, got 0"):
        probed_pattern(f, points=0)
    with pytest.raises(RuntimeError, match="the arguments are being traced"):
        jax.jit(probed_pattern(f))(X)


def test_a_pattern_is_made_of_any_matrix():
    dense = np.asarray([[0.0, 2.0], [3.0, 0.0]])
    stored = sparse.BCOO.fromdense(jnp.asarray(dense), nse=4)  # two entries are padding
    kinds = [dense, jnp.asarray(dense), stored, sparse.BCSR.from_bcoo(stored), dense != 0]
    patterns = [SparsityPattern(x) for x in kinds]
    assert len(set(patterns)) == 1
    assert SparsityPattern(patterns[0].to_scipy()) == patterns[0].T
    assert repr(patterns[0]) == "SparsityPattern([2, 2], 2 entries)"
    assert (patterns[0] | SparsityPattern(np.eye(2))).density == 1.0
    assert patterns[0] != SparsityPattern(np.eye(2))
    assert patterns[0] != 3
    with pytest.raises(ValueError, match="must have two dimensions"):
        SparsityPattern(np.ones(3))
    with pytest.raises(TypeError, match="must be of numbers, got <U1"):
        SparsityPattern(np.asarray([["a"]]))
    with pytest.raises(ValueError, match=r"one shape, got \[2, 2\] and \[3, 3\]"):
        patterns[0] | SparsityPattern(np.eye(3))
    with pytest.raises(ValueError, match="BCOO or BCSR of two sparse dimensions"):
        SparsityPattern(sparse.BCOO.fromdense(jnp.ones((2, 2, 2))))

"""Gradients of small programs have the values that PyTorch is known to give them.

What single operators do at ties, kinks, zeros and NaN stands in the database, as conventions.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing.checks.programs import compiled


F = functx.nn.functional
ALL = slice(None)


def pulled(f, *primals, along=None):
    """The cotangents of `primals`, for a cotangent of ones or the one given."""

    def program(*primals):
        output, pull = functx.vjp(f, *primals)
        return pull(jax.tree.map(jnp.ones_like, output) if along is None else along)

    return [np.asarray(x) for x in compiled(program)(*primals)]


def as_index(index):
    return tuple(np.asarray(i) if isinstance(i, list) else i for i in index)


def test_second_derivatives_of_a_quadratic_form():
    z = lambda x, y: functx.sum(x**2 + y * x + y**2)
    x, y = jnp.asarray([1.0, 2.0]), jnp.asarray([3.0, -1.0])
    gx, gy = functx.grad(z, argnums=(0, 1))(x, y)
    np.testing.assert_array_equal(gx, 2 * x + y)
    np.testing.assert_array_equal(gy, x + 2 * y)
    mixed = lambda x, y: 2 * functx.grad(z, 0)(x, y).sum() + functx.grad(z, 1)(x, y).sum()
    assert [g.tolist() for g in pulled(mixed, x, y)] == [[5, 5], [4, 4]]


def test_roots_that_depend_on_each_other_sum():
    def f(x):
        y = x**2
        return y, y**3

    x, gy, gz = np.asarray([0.5, -2.0]), np.asarray([3.0, 0.1]), np.asarray([-1.0, 2.0])
    [got] = pulled(f, x, along=(gy, gz))
    np.testing.assert_allclose(got, 2 * x * gy + 6 * x**5 * gz, rtol=1e-14)


def test_an_output_returned_twice_counts_twice():
    [got] = pulled(lambda x: (x * 3, x * 3), np.ones(2), along=(np.ones(2), np.full(2, 10.0)))
    assert got.tolist() == [33, 33]


def test_a_cotangent_used_three_times_stays_what_it_was():
    def f(x, y):
        a, b, c = x + 2, y + 2, x + 2
        early = (a + b) + c
        for _ in range(4):
            a, b, c = a * 2, b * 2, c * 2
        return early + (a + b + c)

    gx, gy = pulled(f, np.ones((5, 5)), np.ones((5, 5)))
    assert (gx == 34).all() and (gy == 17).all()


def test_broadcasting_against_nothing():
    gx, gy = pulled(functx.add, np.zeros((4, 0)), np.ones((4, 1)))
    assert gx.shape == (4, 0) and (gy == np.zeros((4, 1))).all()


@pytest.mark.parametrize(
    "shape, index, counts",
    [
        ((4, 4), ([1, 1, 3, 2, 1, 2],), [[0] * 4, [3] * 4, [2] * 4, [1] * 4]),
        (
            (4, 4),
            ([[1, 2], [0, 0]], [[0, 1], [1, 1]]),
            [[0, 2, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]],
        ),
        (
            (4, 4, 4),
            ([1, 1, 3, 2, 1, 2], [0]),
            [np.zeros((4, 4)), *(np.outer([n, 0, 0, 0], np.ones(4)) for n in (3, 2, 1))],
        ),
        ((4, 4, 4), ([1, 1, 1], ALL, ALL), [n * np.ones((4, 4)) for n in (0, 3, 0, 0)]),
    ],
)
def test_rows_taken_several_times_count_as_often(shape, index, counts):
    index = as_index(index)
    [got] = pulled(lambda y: y[index], np.ones(shape))
    np.testing.assert_array_equal(got, counts)


PLACES = [
    ((5, 5), (1,)),
    ((5,), (1,)),
    ((1,), (0,)),
    ((10,), ([0, 4, 2],)),
    ((5, 5), ([0, 4], [2, 2])),
    ((5, 5, 5), (ALL, ALL, [1, 3])),
    ((5, 5, 5), (ALL, [1, 3], ALL)),
    ((5, 5, 5), ([1, 3], ALL, ALL)),
    ((5, 5, 5), (ALL, [2, 4], [1, 3])),
    ((5, 5, 5), ([1, 3], [2, 4], ALL)),
    ((5, 5), (np.eye(5, dtype=bool),)),
    ((5,), (np.arange(5) > 2,)),
]


def test_what_is_overwritten_has_no_gradient_and_what_is_written_has_it():
    masks = []
    for shape, index in PLACES:
        masks.append(np.zeros(shape))
        masks[-1][as_index(index)] = 1

    def everything():
        for (_, index), mask in zip(PLACES, masks, strict=True):
            value = np.zeros_like(mask[as_index(index)])
            at = as_index(index)
            write = lambda x, v, at=at: jnp.asarray(x).at[at].set(v)
            one = jnp.ones_like
            _, pull = functx.vjp(write, one(mask), value)
            yield *pull(one(mask)), functx.jvp(write, (mask, value), (0 * mask, value + 1))[1]

    for mask, (gx, gv, tangent) in zip(masks, compiled(lambda: [*everything()])(), strict=True):
        np.testing.assert_array_equal(gx, 1 - mask)
        assert (gv == 1).all() and (tangent == mask).all()


def test_cotangents_that_were_expanded():
    [got] = pulled(functx.diagonal, np.ones((10, 10)), along=np.broadcast_to(0.3, (10,)))
    np.testing.assert_array_equal(got, 0.3 * np.eye(10))
    rows = np.zeros((10, 10))
    rows[3:5] = 0.3
    cut = lambda x: functx.narrow(x, 0, 3, 2)
    [got] = pulled(cut, np.ones((10, 10)), along=np.broadcast_to(0.3, (2, 10)))
    np.testing.assert_array_equal(got, rows)


def test_a_product_with_one_number_expanded():
    matrix = np.arange(6.0).reshape(3, 2)
    [got] = pulled(lambda v: functx.mv(matrix, functx.expand_copy(v, (2,))), np.ones(1))
    assert got.tolist() == [matrix.sum()]


def test_pieces():
    [got] = pulled(lambda x: functx.chunk(x, 5)[2] * 4 + 2, np.ones((10, 10)))
    want = np.zeros((10, 10))
    want[4:6] = 4
    np.testing.assert_array_equal(got, want)
    each = lambda x: functx.unbind(x)[0] + 10 * functx.unbind(x)[2]
    assert pulled(each, np.ones((3, 2)))[0].tolist() == [[1, 1], [0, 0], [10, 10]]


def test_variance_and_mean_together_or_apart():
    x = np.random.default_rng(0).normal(size=(3, 4, 5, 6, 2, 3))

    def together(x):
        v, m = functx.var_mean(x, dim=[2, 4])
        return (v * v * m * m).sum()

    def apart(x):
        v, m = functx.var(x, dim=[2, 4]), functx.mean(x, dim=[2, 4])
        return (v * v * m * m).sum()

    np.testing.assert_allclose(pulled(together, x)[0], pulled(apart, x)[0], rtol=1e-10)


def test_a_product_with_a_rule_of_its_own_differentiates_twice_twice():
    product = derivative_rules(
        lambda x: jnp.prod(x, axis=(1, 2)),
        vjp=lambda primals, y, g: (g[:, None, None] * y[:, None, None] / primals[0],),
    )
    slopes = functx.grad(lambda x: product(x).sum())
    second = functx.jacrev(lambda x: slopes(x)[0, 0, 0])
    once, twice = (np.asarray(compiled(second)(np.ones((2, 4, 4)))) for _ in range(2))
    np.testing.assert_array_equal(once, twice)
    assert once[0, 0, 0] == 0 and (once[0].ravel()[1:] == 1).all() and not once[1].any()


def test_the_gradient_of_top_eigenvectors_is_that_of_a_symmetric_matrix():
    r = np.random.default_rng(1).normal(size=(9, 9))
    a = r @ r.T / 10
    start = np.random.default_rng(2).normal(size=(9, 2))

    def f(a):
        values, vectors = functx.lobpcg(a, X=start, niter=200)
        return values.sum() + (vectors**2 @ jnp.arange(2.0)).sum()

    [got] = pulled(f, a)
    np.testing.assert_allclose(got, got.T, atol=1e-9)
    assert np.abs(got).max() > 0.1


def test_where_with_broadcasting_and_numbers():
    condition = np.asarray([[True, False], [False, False]])
    x, y = np.ones((2, 1)), np.ones((1, 2))
    gx, gy = pulled(lambda x, y: functx.where(condition, x, y), x, y)
    assert gx.tolist() == [[1], [0]] and gy.tolist() == [[1, 2]]
    assert pulled(lambda x: functx.where(condition, x, 3.0), x)[0].tolist() == [[1], [0]]
    assert pulled(lambda y: functx.where(condition, 3.0, y), y)[0].tolist() == [[1, 2]]


def test_normalised_then_rectified_is_differentiable_twice_at_a_constant():
    f = lambda x: F.relu(F.instance_norm(x)).sum()
    x = np.ones((1, 1, 1, 2))
    second = compiled(lambda x: functx.vjp(functx.grad(f), x)[1](jnp.ones_like(x))[0])(x)
    assert np.isfinite(second).all() and (x == 1).all()


def test_normalising_by_given_statistics_scales():
    [got] = pulled(lambda x: 2 * F.batch_norm(x, np.zeros(3), np.ones(3)), np.ones((2, 3)))
    np.testing.assert_allclose(got, 2, atol=1e-4)
    assert (got < 2).all()


def test_complex_numbers_seen_as_pairs():
    f = lambda a: functx.transpose(functx.view_as_real(a), 0, 1) + 1
    [got] = pulled(f, np.zeros((3, 3), complex), along=np.arange(18.0).reshape(3, 3, 2))
    i, j = np.indices((3, 3))
    np.testing.assert_array_equal(got, (6 * j + 2 * i) + (6 * j + 2 * i + 1) * 1j)


def test_the_modulus_of_a_sum():
    modulus = lambda x: functx.abs(functx.view_as_complex(x).sum())
    [got] = pulled(modulus, np.ones((2, 1, 2, 2)))
    np.testing.assert_allclose(got, np.sqrt(0.5), rtol=1e-14)


def test_real_numbers_made_complex():
    modulus = lambda x: functx.abs(functx.sum(functx.asarray(x, dtype=functx.complex128)))
    assert pulled(modulus, np.asarray([3.0, -4.0]))[0].tolist() == [-1, -1]
    for order in itertools.permutations((0, 1)):
        joined = lambda x, z, order=order: functx.cat([(x, z)[i] for i in order])
        gx, gz = pulled(joined, np.ones(1), np.ones(1) + 0j, along=np.asarray([1 + 2j, 1 + 2j]))
        assert gx.tolist() == [1] and gz.tolist() == [1 + 2j]


def test_a_negative_number_to_a_complex_power():
    [got] = pulled(lambda e: functx.pow(-1.0, e).real, np.asarray(0.3 + 0.2j))
    np.testing.assert_allclose(got, -1.355914 - 0.985129j, rtol=1e-6)


def test_gathered_once_or_in_shapes_without_dimensions():
    for x, index in [((3, 4), (2, 4)), ((), (1,)), ((5,), ()), ((), ())]:
        x, index = np.ones(x), np.zeros(index, np.int64)
        dim = -1 if index.ndim < 2 else 0
        [got] = pulled(lambda x, i=index, d=dim: functx.gather(x, d, i), x)
        assert got.shape == x.shape and got.sum() == index.size


def test_a_diagonal_of_nothing_in_complex_numbers():
    x = np.zeros((0, 1), complex)
    assert pulled(functx.diagonal, x)[0].shape == (0, 1)
    assert functx.jvp(functx.diagonal, (x,), (x,))[1].shape == (0,)


@pytest.mark.parametrize(
    "f",
    [lambda x: functx.isin(x, x), functx.signbit, lambda x: functx.eq(x, x)],
    ids=["isin", "signbit", "eq"],
)
def test_truths_have_no_tangent(f):
    x = np.asarray([1.0, -2.0])
    output, tangent = functx.jvp(f, (x,), (x,))
    assert output.dtype == bool and not np.asarray(tangent).any()
    np.testing.assert_array_equal(pulled(lambda x: functx.mul(x, f(x)), x)[0], output)
    with pytest.raises(TypeError, match="floating scalar, got bool"):
        functx.grad(lambda x: f(x)[0])(x)


def test_what_stands_twice_below_an_exponential():
    """exp(x/2 + y/8) at y = 4, beside x/2: half of 1 + e."""
    w = lambda x: functx.exp(x / 2 + jnp.full(3, 4.0) / 8) + (x / 2)
    [got] = pulled(w, np.ones(3))
    np.testing.assert_allclose(got, (1 + np.e) / 2, rtol=1e-14)


def test_an_index_contributes_nothing():
    def f(x):
        chosen = functx.argmax(x)
        return (x * 2).sum() + chosen.repeat(3).astype(float).sum()

    assert pulled(f, np.asarray([1.0, 5.0, 2.0]))[0].tolist() == [2, 2, 2]

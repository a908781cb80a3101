"""Products with sparse matrices: values, derivatives in both modes, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.sparse import BCOO, BCSR

import functx
from functx import sparse
from functx.testing import gradcheck, gradgradcheck
from functx.testing.checks.programs import compiled


random = np.random.default_rng(0)


def numbers(*shape, dtype="float64"):
    """As NumPy arrays, whose arithmetic compiles nothing."""
    x = random.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * random.normal(size=shape)
    if np.dtype(dtype).kind == "i":
        x = np.round(3 * x)
    return x.astype(dtype)


def dense(*shape, dtype="float64"):
    return jnp.asarray(numbers(*shape, dtype=dtype))


def plain(dtype="float64"):
    """Unsorted indices, and a row without a value."""
    indices = jnp.asarray([[3, 1], [0, 2], [3, 0], [0, 0]])
    return BCOO((dense(4, dtype=dtype), indices), shape=(4, 3))


def twice(dtype="float64"):
    """Indices that occur twice."""
    indices = jnp.asarray([[3, 1], [0, 2], [3, 1], [0, 0], [0, 2]])
    return BCOO((dense(5, dtype=dtype), indices), shape=(4, 3))


def padded(dtype="float64"):
    """Padding, whose values are not numbers."""
    data = jnp.asarray([1, np.nan, 2, np.inf], dtype)
    indices = jnp.asarray([[0, 2], [0, 3], [3, 1], [4, 3]])
    return BCOO((data, indices), shape=(4, 3))


def empty(dtype="float64"):
    return BCOO((jnp.zeros(0, dtype), jnp.zeros((0, 2), int)), shape=(4, 3))


def no_rows(dtype="float64"):
    return BCOO((jnp.zeros(0, dtype), jnp.zeros((0, 2), int)), shape=(0, 3))


MATRICES = [plain, twice, padded, empty, no_rows]
every_matrix = pytest.mark.parametrize("make", MATRICES)


def close(got, expected):
    np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-12, atol=1e-12)


def todense(x):
    """By a loop, without padding."""
    out = np.zeros(x.shape, x.dtype)
    for value, at in zip(np.asarray(x.data), np.asarray(x.indices), strict=True):
        if all(i < n for i, n in zip(at, x.shape, strict=False)):
            out[tuple(at)] += value
    return out


@every_matrix
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_product_is_that_of_the_dense_matrix(make, dtype):
    a = make(dtype)
    b, c = numbers(3, 2, dtype=dtype), numbers(2, a.shape[0], dtype=dtype)
    m = numbers(a.shape[0], 2, dtype=dtype)

    def run(a, b, c, m, half):
        products = sparse.mm(a, b), sparse.mm(c, a), sparse.mv(a, b[:, 0])
        return *products, sparse.addmm(m, a, b, beta=2, alpha=half)

    product, from_the_left, of_vector, added = compiled(run)(a, b, c, m, 0.5)
    close(product, todense(a) @ b)
    close(from_the_left, c @ todense(a))
    close(of_vector, todense(a) @ b[:, 0])
    close(added, m * 2 + 0.5 * (todense(a) @ b))
    if dtype == "float64":
        close(sparse.mm(a, b), product)


def test_integers_have_products():
    a, b = plain("int32"), numbers(3, 2, dtype="int32")
    got = compiled(sparse.mm)(a, b)
    assert got.dtype == "int32"
    close(got, todense(a) @ b)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_added_in_single_precision(dtype):
    ones = BCOO(
        (jnp.ones(4097, dtype), jnp.stack([jnp.zeros(4097, int), jnp.arange(4097)], -1)),
        shape=(1, 4097),
    )
    got = sparse.mm(ones, jnp.ones((4097, 1), dtype))
    assert got.dtype == dtype and got[0, 0] == jnp.asarray(4097, dtype)


@every_matrix
def test_product_of_two_sparse_matrices(make):
    full = BCOO.fromdense(dense(3, 4))
    a, others = make(), [plain().T, twice().T, padded().T, full]
    together = compiled(lambda a, others: [sparse.mm(a, b) for b in others])(a, others)
    for got, b in zip(together, others, strict=True):
        close(todense(got), todense(a) @ todense(b))
        assert got.indices_sorted and got.unique_indices
    got = sparse.mm(a, others[1])
    close(todense(got), todense(together[1]))
    assert got.indices_sorted and got.unique_indices


def test_product_of_two_sparse_matrices_keeps_infinities_apart():
    a = BCOO((jnp.asarray([1.0, 2.0]), jnp.asarray([[0, 0], [1, 0]])), shape=(2, 2))
    b = BCOO((jnp.asarray([3.0, np.inf]), jnp.asarray([[0, 0], [1, 1]])), shape=(2, 2))
    gradient = compiled(functx.grad(lambda a: sparse.mm(a, b).todense().sum()))(a)
    close(gradient.data, [3, 3])


def test_derivatives_hold_against_differences():
    a, b = twice(), dense(3, 2)
    reversed = lambda a, b: sparse.mm(b.T, a.T)
    both = lambda a, b: sparse.mm(a, sparse.to_sparse(b, nse=6)).todense()
    for f in map(functx.jit, (sparse.mm, reversed, both)):
        assert gradcheck(f, (a, b), check_forward_ad=True, fast_mode=True, masked=True)
        assert gradgradcheck(f, (a, b), check_fwd_over_rev=True, fast_mode=True)
    a, b = plain("complex128"), dense(3, 2, dtype="complex128")
    options = {"check_forward_ad": True, "fast_mode": True, "masked": True}
    assert gradcheck(functx.jit(sparse.mm), (a, b), **options)


def test_gradient_has_the_indices_of_the_matrix():
    a, b = twice(), dense(3, 2)
    loss = lambda a, b: (sparse.mm(a, b) ** 2).sum()
    expected = compiled(jax.grad(lambda a, b: ((a @ b) ** 2).sum(), (0, 1)))
    expected_a, expected_b = map(np.asarray, expected(todense(a), b))
    for grad in (functx.grad(loss, argnums=(0, 1)), functx.jit(functx.grad(loss, argnums=(0, 1)))):
        of_a, of_b = grad(a, b)
        assert isinstance(of_a, BCOO) and of_a.shape == a.shape
        close(of_a.indices, a.indices)
        close(of_a.data, expected_a[tuple(np.asarray(a.indices).T)])
        close(of_b, expected_b)


def test_padding_has_no_gradient():
    a, b = padded(), dense(3, 2)
    gradient = functx.grad(lambda a, b: (sparse.mm(a, b) ** 2).sum(), argnums=(0, 1))
    of_a, of_b = compiled(gradient)(a, b)
    close(np.asarray(of_a.data)[[1, 3]], [0, 0])
    assert np.isfinite(of_a.data).all() and np.isfinite(of_b).all()


@pytest.mark.parametrize("make", [plain, twice, padded, empty])
@pytest.mark.parametrize("reduce", ["mean", "amax", "amin"])
def test_reductions_of_the_products_of_a_row(make, reduce):
    a, b = make(), numbers(3, 2)
    expected = np.zeros((4, 2))
    for row in range(4):
        terms = [
            value * b[j]
            for value, (i, j) in zip(np.asarray(a.data), np.asarray(a.indices), strict=True)
            if i == row and j < 3
        ]
        if terms:
            expected[row] = {"mean": np.mean, "amax": np.max, "amin": np.min}[reduce](terms, 0)
    f = functx.jit(lambda a, b: sparse.mm(a, b, reduce))
    close(f(a, b), expected)
    if make in (plain, twice):
        assert gradcheck(f, (a, b), check_forward_ad=True, fast_mode=True, masked=True)


def test_reductions_of_integers():
    a, b = plain("int32"), numbers(3, 2, dtype="int32")
    terms = np.asarray(a.data)[:, None] * b[np.asarray(a.indices)[:, 1]]
    expected = np.stack([terms[[1, 3]].max(0), [0, 0], [0, 0], terms[[0, 2]].max(0)])
    close(compiled(lambda a, b: sparse.mm(a, b, "amax"))(a, b), expected)


@every_matrix
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_sampled_product(make, dtype):
    x = make(dtype)
    a, b = numbers(x.shape[0], 5, dtype=dtype), numbers(5, 3, dtype=dtype)
    stored = np.zeros(x.shape, dtype)
    for at in np.asarray(x.indices):
        if at[0] < x.shape[0] and at[1] < x.shape[1]:
            stored[tuple(at)] = 1
    product = lambda x, a, b: sparse.sampled_addmm(x, a, b, beta=0.5, alpha=2.0)
    got = compiled(product)(x, a, b)
    close(got.indices, x.indices)
    close(todense(got), 2 * (a @ b) * stored + 0.5 * todense(x))
    if dtype == "float64":
        close(product(x, a, b).data, got.data)


@pytest.mark.parametrize("make", [plain, twice])
def test_derivatives_of_the_sampled_product(make):
    f = lambda x, a, b: sparse.sampled_addmm(x, a, b, beta=0.5, alpha=2.0).todense()
    f, args = functx.jit(f), (make(), dense(4, 5), dense(5, 3))
    assert gradcheck(f, args, check_forward_ad=True, fast_mode=True, masked=True)
    assert gradgradcheck(f, args, fast_mode=True)


def test_a_batch_is_mapped():
    batch, b, many = BCOO.fromdense(dense(2, 4, 3), n_batch=1), dense(3, 2), dense(5, 3, 2)
    over_sparse = functx.vmap(sparse.mm, in_dims=(0, None))
    over_dense = functx.vmap(sparse.mm, in_dims=(None, 0))
    gradients = functx.vmap(functx.grad(lambda a, b: (sparse.mm(a, b) ** 2).sum()), (0, None))

    def run(batch, a, b, many):
        stored = batch.todense()
        of_dense = jax.vmap(jax.grad(lambda a: ((a @ b) ** 2).sum()))(stored)
        got = over_sparse(batch, b), over_dense(a, many), gradients(batch, b)
        return got, (stored @ b, a.todense() @ many, of_dense)

    a = plain()
    (*got, gradient), (*want, of_dense) = compiled(run)(batch, a, b, many)
    close(gradient.todense(), of_dense)
    jax.tree.map(close, got, want)
    close(over_sparse(batch, b), want[0])
    eager = gradients(batch, b)
    assert isinstance(eager, BCOO) and eager.n_batch == gradient.n_batch == 1
    close(eager.data, gradient.data)


def test_no_dense_matrix_is_made():
    """Of the product and of both gradients."""
    n = 1000
    a = BCOO((jnp.ones(5), jnp.asarray([[i, 7 * i] for i in range(5)])), shape=(n, n))
    loss = lambda a, b: (sparse.mm(a, b) ** 2).sum()
    text = functx.jit(functx.grad(loss, argnums=(0, 1))).lower(a, jnp.ones((n, 2))).as_text()
    assert f"{n}x2xf64" in text and f"{n}x{n}x" not in text


# Written out, since `fromdense` compiles a program for each, and this is read by every process.
PAIRS = np.asarray([[0, 0], [0, 1], [1, 0], [1, 1]])
STACK = BCOO((jnp.ones((2, 4)), jnp.asarray([PAIRS, PAIRS])), shape=(2, 2, 2))
ROWS = BCOO((jnp.ones((2, 2)), jnp.asarray([[0], [1]])), shape=(2, 2))
COMPRESSED = BCSR((jnp.ones(4), jnp.asarray([0, 1, 0, 1]), jnp.asarray([0, 2, 4])), shape=(2, 2))
REFUSALS = [
    (sparse.mm, (dense(2, 3), dense(3, 2)), TypeError, "`mat1` must be a BCOO, got f64"),
    (sparse.mm, (plain(), 3.0), TypeError, "`mat2` must be an array, got 3.0"),
    (sparse.mm, (plain(), dense(3)), ValueError, "`mat2` must have 2 dimensions"),
    (sparse.mm, (plain(), dense(4, 2)), RuntimeError, r"`mat2` must have the shape \[3, 2\]"),
    (sparse.mm, (plain(), dense(3, 2, dtype="float32")), TypeError, "must have one dtype"),
    (sparse.mm, (plain(), dense(3, 2), "max"), ValueError, "`reduce` must be 'sum', 'mean'"),
    (sparse.mm, (plain(), plain().T, "mean"), ValueError, "unless `mat1` is sparse"),
    (sparse.mm, (plain("complex128"), dense(3, 2, dtype="complex128"), "amax"), TypeError, "real"),
    (
        sparse.mm,
        (STACK, dense(2, 2)),
        ValueError,
        r"n_batch=1 and n_dense=0\n  hint: functx.vmap\(functx.sparse.mm\)",
    ),
    (
        sparse.mm,
        (ROWS, dense(2, 2)),
        ValueError,
        r"hint: mat1.update_layout\(n_dense=0\)",
    ),
    (
        sparse.mm,
        (COMPRESSED, dense(2, 2)),
        TypeError,
        r"got BCSR\[2, 2\]|must be a BCOO",
    ),
    (sparse.mv, (plain(), dense(3, 1)), ValueError, "`vec` must have 1 dimensions"),
    (sparse.mv, (plain(), dense(4)), RuntimeError, r"`vec` must have the shape \[3\]"),
    (sparse.addmm, (dense(3, 2), plain(), dense(3, 2)), RuntimeError, "`mat` must broadcast"),
    (sparse.sampled_addmm, (plain(), dense(4, 2), dense(3, 3)), RuntimeError, "`mat2` must have"),
    (sparse.sampled_addmm, (plain(), dense(3, 2), dense(2, 3)), RuntimeError, "`input` must have"),
    (
        sparse.sampled_addmm,
        (plain("int32"), dense(4, 2, dtype="int32"), dense(2, 3, dtype="int32")),
        TypeError,
        "`input` must be floating or complex",
    ),
]


@pytest.mark.parametrize("function, args, error, message", REFUSALS)
def test_refuses(function, args, error, message):
    with pytest.raises(error, match=message) as caught:
        function(*args)
    assert str(caught.value).startswith("sparse.")


@pytest.mark.parametrize("product", [functx.matmul, functx.mm])
def test_dense_products_refuse_sparse_arrays_with_the_remedy(product):
    with pytest.raises(TypeError, match=r"got BCOO.*\n  hint: functx.sparse.mm"):
        product(plain(), dense(3, 2))

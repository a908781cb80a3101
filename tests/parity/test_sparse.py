"""functx.sparse against torch.sparse: values, gradients, and steps by rows."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.sparse import BCOO

import functx
from functx import sparse
from functx.testing import gradcheck


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")

random = np.random.default_rng(0)
DTYPES = ["float32", "float64", "complex128"]


def drawn(*shape, dtype="float64"):
    x = random.normal(size=shape)
    if dtype.startswith("complex"):
        x = x + 1j * random.normal(size=shape)
    return x.astype(dtype)


def pair(dtype="float64", shape=(4, 5)):
    """A sparse matrix with a row that is empty, in both libraries."""
    x = drawn(*shape, dtype=dtype) * (random.random(shape) < 0.5)
    x[1], x[0, 0] = 0, 1
    theirs = torch.tensor(x).to_sparse().coalesce()
    ours = BCOO(
        (jnp.asarray(theirs.values().numpy()), jnp.asarray(theirs.indices().numpy().T)), shape=shape
    )
    return ours, theirs


def close(ours, theirs):
    theirs = theirs.detach()
    theirs = theirs.to_dense() if theirs.layout is not torch.strided else theirs
    ours = ours.todense() if isinstance(ours, BCOO) else ours
    tolerance = 1e-5 if theirs.dtype == torch.float32 else 1e-12
    np.testing.assert_allclose(np.asarray(ours), theirs.numpy(), rtol=tolerance, atol=tolerance)


def weighted(output, weight):
    """A real loss of any output."""
    return (output * weight).real.sum() if weight.dtype.kind == "c" else (output * weight).sum()


@pytest.mark.parametrize("dtype", DTYPES)
def test_product(dtype):
    (a, their_a), b, w = pair(dtype), drawn(5, 3, dtype=dtype), drawn(4, 3, dtype=dtype)
    their_a, their_b = their_a.requires_grad_(), torch.tensor(b, requires_grad=True)
    theirs = torch.sparse.mm(their_a, their_b)
    close(sparse.mm(a, jnp.asarray(b)), theirs)
    (theirs * torch.tensor(w)).sum().real.backward()
    loss = lambda a, b: weighted(sparse.mm(a, b), w)
    of_a, of_b = functx.grad(loss, argnums=(0, 1))(a, jnp.asarray(b))
    close(of_a, their_a.grad)
    close(of_b, their_b.grad)


def test_product_of_two_sparse_matrices():
    (a, their_a), (b, their_b) = pair(), pair(shape=(5, 3))
    close(sparse.mm(a, b), torch.sparse.mm(their_a, their_b))


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_reductions(reduce):
    (a, their_a), b = pair(), drawn(5, 3)
    b[:, 0] = 1  # equal terms where values are equal
    their_a = their_a.to_sparse_csr().requires_grad_()
    their_b = torch.tensor(b, requires_grad=True)
    theirs = torch.sparse.mm(their_a, their_b, reduce)
    close(sparse.mm(a, jnp.asarray(b), reduce), theirs)
    (theirs**2).sum().backward()
    loss = lambda a, b: (sparse.mm(a, b, reduce) ** 2).sum()
    of_a, of_b = functx.grad(loss, argnums=(0, 1))(a, jnp.asarray(b))
    close(of_a, their_a.grad)
    close(of_b, their_b.grad)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sampled_product(dtype):
    (x, theirs), a, b = pair(dtype), drawn(4, 2, dtype=dtype), drawn(2, 5, dtype=dtype)
    theirs = theirs.to_sparse_csr().requires_grad_()
    their_a, their_b = (torch.tensor(m, requires_grad=True) for m in (a, b))
    out = torch.sparse.sampled_addmm(theirs, their_a, their_b, beta=0.5, alpha=2.0)
    f = lambda x, a, b: sparse.sampled_addmm(x, a, b, beta=0.5, alpha=2.0)
    close(f(x, jnp.asarray(a), jnp.asarray(b)), out)
    w = drawn(4, 5, dtype=dtype)
    (out.to_dense() * torch.tensor(w)).sum().real.backward()
    loss = lambda *args: weighted(f(*args).todense(), w)
    gradients = functx.grad(loss, argnums=(0, 1, 2))(x, jnp.asarray(a), jnp.asarray(b))
    for ours, expected in zip(gradients, (theirs.grad, their_a.grad, their_b.grad), strict=True):
        close(ours, expected)


def test_scaled_product():
    (a, their_a), b, m = pair(), drawn(5, 3), drawn(4, 3)
    theirs = torch.sparse.addmm(torch.tensor(m), their_a, torch.tensor(b), beta=0.5, alpha=2.0)
    close(sparse.addmm(jnp.asarray(m), a, jnp.asarray(b), beta=0.5, alpha=2.0), theirs)
    close(sparse.mv(a, jnp.asarray(b[:, 0])), torch.mv(their_a, torch.tensor(b[:, 0])))


def test_conversions():
    x = drawn(4, 5) * (random.random((4, 5)) < 0.5)
    for dims in (1, 2):
        ours, theirs = sparse.to_sparse(jnp.asarray(x), dims), torch.tensor(x).to_sparse(dims)
        np.testing.assert_array_equal(ours.indices, theirs.indices().numpy().T)
        np.testing.assert_array_equal(ours.data, theirs.values().numpy())
    mask, their_mask = pair()
    y = torch.tensor(x, requires_grad=True)
    theirs = y.sparse_mask(their_mask)
    close(sparse.sparse_mask(jnp.asarray(x), mask), theirs)
    (theirs.to_dense() ** 2).sum().backward()
    loss = lambda x: (sparse.sparse_mask(x, mask).todense() ** 2).sum()
    close(functx.grad(loss)(jnp.asarray(x)), y.grad)
    indices = np.array([[1, 0, 1, 3], [2, 0, 2, 4]])
    values = drawn(4)
    theirs = torch.sparse_coo_tensor(indices, values, (4, 5)).coalesce()
    ours = sparse.coalesce(BCOO((jnp.asarray(values), jnp.asarray(indices.T)), shape=(4, 5)), nse=3)
    np.testing.assert_array_equal(ours.indices, theirs.indices().numpy().T)
    np.testing.assert_allclose(ours.data, theirs.values().numpy())


TABLE = drawn(10, 3)
NUMBERS = np.array([[1, 2, 7], [2, 0, 1]])


@pytest.mark.parametrize("options", [{}, {"padding_idx": 2}, {"scale_grad_by_freq": True}], ids=str)
def test_rows_of_an_embedding(options):
    expected_sparse = "scale_grad_by_freq" not in options  # PyTorch's sparse gradient refuses it
    table = torch.tensor(TABLE, requires_grad=True)
    out = torch.nn.functional.embedding(
        torch.tensor(NUMBERS), table, sparse=expected_sparse, **options
    )
    (out**3).sum().backward()
    assert table.grad.is_sparse == expected_sparse
    embedding = functx.nn.functional.embedding
    loss = lambda table: (embedding(jnp.asarray(NUMBERS), table, **options) ** 3).sum()
    rows = sparse.row_grad(loss)(jnp.asarray(TABLE))
    close(rows, table.grad)
    close(sparse.coalesce(rows), table.grad)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_rows_of_a_bag(mode):
    table = torch.tensor(TABLE, requires_grad=True)
    bag = torch.nn.functional.embedding_bag
    (bag(torch.tensor(NUMBERS), table, mode=mode, sparse=True) ** 3).sum().backward()
    assert table.grad.is_sparse
    ours = functx.nn.functional.embedding_bag
    loss = lambda table: (ours(jnp.asarray(NUMBERS), table, mode=mode) ** 3).sum()
    close(sparse.row_grad(loss)(jnp.asarray(TABLE)), table.grad)


def test_elements_that_gather_reads():
    index = np.array([[1, 2, 0], [1, 9, 0]])
    table = torch.tensor(TABLE, requires_grad=True)
    (torch.gather(table, 0, torch.tensor(index), sparse_grad=True) ** 3).sum().backward()
    assert table.grad.is_sparse
    loss = lambda table: (functx.gather(table, 0, jnp.asarray(index)) ** 3).sum()
    close(sparse.row_grad(loss)(jnp.asarray(TABLE)), table.grad)


def sparse_adam(gradient, state, parameters):
    """The formulas of `torch.optim.SparseAdam`."""
    count, mean, square = state
    count = count + 1
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.999 * square + 0.001 * gradient**2
    steps = count.astype(mean.dtype)
    size = 0.1 * jnp.sqrt(1 - 0.999**steps) / (1 - 0.9**steps)
    return -size * mean / (jnp.sqrt(square) + 1e-8), (count, mean, square)


def sgd(gradient, state, parameters):
    return -0.1 * gradient, state


def starting(table):
    return jnp.asarray(0), jnp.zeros_like(table), jnp.zeros_like(table)


@pytest.mark.parametrize("name", ["SGD", "SparseAdam"])
def test_steps_of_a_table(name):
    update = {"SGD": sgd, "SparseAdam": sparse_adam}[name]
    theirs = torch.nn.Parameter(torch.tensor(TABLE))
    optimizer = getattr(torch.optim, name)([theirs], lr=0.1)
    table, state = jnp.asarray(TABLE), starting(jnp.asarray(TABLE))
    embedding = functx.nn.functional.embedding
    loss = lambda table, numbers: (embedding(numbers, table) ** 3).sum()
    for numbers in (NUMBERS, NUMBERS + 2, NUMBERS[:1]):
        optimizer.zero_grad()
        out = torch.nn.functional.embedding(torch.tensor(numbers), theirs, sparse=True)
        (out**3).sum().backward()
        optimizer.step()
        rows = sparse.row_grad(loss)(table, jnp.asarray(numbers))
        updates, state = sparse.lazy_update(update, rows, state, table)
        table = sparse.apply_rows(table, updates)
        close(table, theirs)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("influence", [False, True])
def test_verdicts_of_gradcheck(masked, influence):
    """Stored values alone, or all elements, of which others may have an influence."""
    a, their_a = pair()
    b = drawn(5, 3)
    if influence:
        ours = lambda a: sparse.mm(a, jnp.asarray(b))
        theirs = lambda a: torch.sparse.mm(a, torch.tensor(b))
    else:
        ours, theirs = lambda a: a.todense() ** 2, lambda a: a.to_dense() ** 2
    check = torch.autograd.gradcheck
    options = {"masked": masked, "raise_exception": False}
    verdict = gradcheck(functx.jit(ours), (a,), **options)
    assert verdict == (masked or not influence)
    their_verdict = check(theirs, (their_a.requires_grad_(),), fast_mode=False, **options)
    assert verdict == their_verdict

"""Gradients of tables as rows: those of the dense gradient, made without it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.sparse import BCOO

import functx
from functx import sparse


F = functx.nn.functional
TABLE = jnp.asarray(np.random.default_rng(0).normal(size=(10, 3)))
NUMBERS = jnp.asarray([[1, 2], [2, 0]])
OPTIONS = [
    {},
    {"padding_idx": 2},
    {"max_norm": 0.5},
    {"scale_grad_by_freq": True},
    {"padding_idx": -8, "max_norm": 1.0, "scale_grad_by_freq": True},
]


def close(got, expected):
    np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-12, atol=1e-12)


def hold(f, table=TABLE):
    """Rows give the dense gradient, and there are as many as were looked up."""
    rows, expected = functx.jit(sparse.row_grad(f))(table), jax.jit(functx.grad(f))(table)
    assert isinstance(rows, BCOO) and rows.shape == table.shape and rows.dtype == table.dtype
    close(rows.todense(), expected)
    return rows


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_rows_of_embeddings(options):
    rows = hold(lambda table: (F.embedding(NUMBERS, table, **options) ** 2).sum())
    assert rows.indices.tolist() == [[1], [2], [2], [0]] and rows.n_dense == 1
    bag = lambda table: (F.embedding_bag(NUMBERS, table, mode="mean", **options) ** 2).sum()
    hold(bag)


@pytest.mark.parametrize("mode", ["mean", "sum"])
@pytest.mark.parametrize("offsets", [None, jnp.asarray([0, 9])])
def test_rows_of_long_bags(mode, offsets):
    """These are summed without their lookups in the program where nobody looks for them."""
    numbers = jnp.tile(NUMBERS.ravel(), 5)[:18].reshape(2, 9)
    numbers = numbers if offsets is None else numbers.ravel()
    rows = hold(lambda table: (F.embedding_bag(numbers, table, offsets, mode=mode) ** 2).sum())
    assert rows.nse == 18


LOOKUPS = {
    "index": lambda table: (table[NUMBERS] ** 2).sum(),
    "negative": lambda table: (table[jnp.asarray([-1, 3])] ** 2).sum(),
    "elements": lambda table: (table[NUMBERS, NUMBERS] ** 2).sum(),
    "take": lambda table: (jnp.take(table, NUMBERS, axis=0) ** 2).sum(),
    "index_select": lambda table: (functx.index_select(table, 0, NUMBERS[0]) ** 2).sum(),
    "gather": lambda table: (functx.gather(table, 0, NUMBERS[:, :1] + jnp.arange(3)) ** 2).sum(),
    "clipped": lambda table: (table.at[jnp.asarray([99, 3])].get(mode="clip") ** 2).sum(),
    "missing": lambda table: jnp.nansum(table.at[jnp.asarray([99, 3])].get(mode="fill") ** 2),
    "twice": lambda table: (F.embedding(NUMBERS, table) * F.embedding(NUMBERS.T, table)).sum(),
    "none": lambda table: table[NUMBERS[:, :0]].sum(),
    "chained": lambda table: F.embedding(jnp.argmax(table[NUMBERS[0]], -1), table).sum(),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_rows_of_every_kind_of_lookup(name):
    hold(LOOKUPS[name])


def test_rows_of_complex_tables_are_conjugate():
    table = jax.lax.complex(TABLE, TABLE[::-1])
    hold(lambda table: (jnp.abs(table[NUMBERS]) ** 2).sum() + table[NUMBERS].imag.sum(), table)


def test_other_arguments_have_dense_gradients():
    def loss(tables, scale, numbers):
        return scale * (tables["a"][numbers] ** 2).sum(), {"seen": numbers}

    tables, scale = {"a": TABLE, "b": TABLE}, jnp.asarray(2.0)
    with_value = sparse.value_and_row_grad(loss, dense_argnums=(1,), has_aux=True)
    (value, aux), (rows, dense) = with_value(tables, scale, NUMBERS)
    of_dense = functx.value_and_grad(loss, argnums=(0, 1), has_aux=True)
    (of_loss, _), expected = functx.jit(of_dense)(tables, scale, NUMBERS)
    close(value, of_loss)
    close(aux["seen"], NUMBERS)
    close(rows["a"].todense(), expected[0]["a"])
    assert rows["b"].nse == 0  # which is not looked up
    close(dense[0], expected[1])
    named = sparse.row_grad(lambda scale, *, table: (scale * table[NUMBERS]).sum(), "table")
    close(named(scale, table=TABLE).data, jnp.full((4, 3), 2.0))


def test_lanes_have_rows_of_their_own():
    rows = functx.vmap(sparse.row_grad(lambda t, i: (t[i] ** 2).sum()), in_dims=(None, 0))(
        TABLE, NUMBERS
    )
    assert rows.n_batch == 1 and rows.shape == (2, 10, 3)
    close(rows.data, 2 * TABLE[NUMBERS])


def test_rows_have_derivatives():
    of_rows = lambda table: sparse.row_grad(lambda t: (t[NUMBERS[0]] ** 3).sum())(table).data
    along = functx.jit(lambda table: functx.jvp(of_rows, (table,), (jnp.ones_like(table),))[1])
    close(along(TABLE), 6 * TABLE[NUMBERS[0]])


REFUSED = [
    (lambda t: (t @ t.T).sum(), "'transpose'|'dot_general'"),
    (lambda t: t[NUMBERS].sum() + (t**2).sum(), "reads it in .*test_row_gradients"),
    (lambda t: t[2].sum(), "index with an array of numbers"),
    (lambda t: t[:, jnp.asarray([1])].sum(), "'gather' reads it"),
    (
        lambda t: jax.lax.scan(lambda c, i: (c + t[i].sum(), None), 0.0, NUMBERS[0])[0],
        "look the rows up before the loop",
    ),
]


@pytest.mark.parametrize("f, message", REFUSED)
def test_refuses_what_reads_every_row(f, message):
    with pytest.raises(RuntimeError, match=message) as caught:
        sparse.row_grad(f)(TABLE)
    assert str(caught.value).startswith("sparse.row_grad: `args[0]` must only be looked up")


def test_refuses_other_arguments():
    with pytest.raises(TypeError, match="tables must be dense arrays"):
        sparse.row_grad(lambda t: t.data.sum())(sparse.to_sparse(TABLE))
    with pytest.raises(TypeError, match="must be real or complex"):
        sparse.row_grad(lambda t: t[NUMBERS].sum() * 1.0)(jnp.ones((3, 2), int))
    with pytest.raises(ValueError, match="must return a scalar"):
        sparse.row_grad(lambda t: t[NUMBERS])(TABLE)
    with pytest.raises(RuntimeError, match="count by as many dimensions"):
        sparse.row_grad(lambda t: t[NUMBERS].sum() + t[NUMBERS, NUMBERS].sum())(TABLE)


@pytest.mark.parametrize("option", ["embedding", "embedding_bag"])
def test_the_option_of_embeddings_leads_here(option):
    with pytest.raises(ValueError, match="functx.sparse.row_grad"):
        getattr(F, option)(NUMBERS, TABLE, sparse=True)
    with pytest.raises(ValueError, match="functx.sparse.row_grad"):
        functx.gather(TABLE, 0, NUMBERS, sparse_grad=True)


def adam(gradient, state, parameters):
    """Adam with a learning rate of 0.1, as any optimiser has its `update`."""
    count, mean, square = state
    count = count + 1
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.999 * square + 0.001 * gradient**2
    steps = count.astype(mean.dtype)
    scaled = jnp.sqrt(square / (1 - 0.999**steps)) + 1e-12
    return -0.1 * mean / (1 - 0.9**steps) / scaled, (count, mean, square)


def start(table):
    return jnp.asarray(0), jnp.zeros_like(table), jnp.zeros_like(table)


def loss_of(table, numbers):
    return (F.embedding(numbers, table, padding_idx=0) ** 3).sum()


def test_a_lazy_step_is_the_step_of_the_rows_that_were_looked_up():
    @functx.jit
    def lazy(table, state, numbers):
        rows = sparse.row_grad(loss_of)(table, numbers)
        updates, state = sparse.lazy_update(adam, rows, state, table)
        return sparse.apply_rows(table, updates), state

    @functx.jit
    def dense(table, state, numbers):
        updates, new = adam(functx.grad(loss_of)(table, numbers), state, table)
        touched = jnp.zeros(10, bool).at[numbers.ravel()].set(True)[:, None]
        keep = lambda after, before: jnp.where(touched, after, before) if after.ndim else after
        return keep(table + updates, table), jax.tree.map(keep, new, state)

    got = expected = (TABLE, start(TABLE))
    for numbers in (NUMBERS, NUMBERS + 3, jnp.asarray([[1, 1], [1, 4]])):
        got, expected = lazy(*got, numbers), dense(*expected, numbers)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
            close(a, b)


def test_nothing_of_the_size_of_the_table_is_made():
    rows, width, batch = 20_000, 16, 32

    def step(table, state, numbers):
        rows = sparse.row_grad(loss_of)(table, numbers)
        updates, state = sparse.lazy_update(adam, rows, state, table)
        return sparse.apply_rows(table, updates), state

    table, numbers = jnp.ones((rows, width)), jnp.arange(batch)
    compiled = jax.jit(step, donate_argnums=(0, 1)).lower(table, start(table), numbers).compile()
    memory = compiled.memory_analysis()
    if memory is not None:
        assert memory.temp_size_in_bytes < table.nbytes / 10
        assert memory.alias_size_in_bytes >= 3 * table.nbytes
    gradient = jax.make_jaxpr(sparse.row_grad(loss_of))(table, numbers)
    made = [x.aval.shape for eqn in gradient.jaxpr.eqns for x in eqn.outvars]
    assert made and all(np.prod(shape) < rows for shape in made)


def test_rows_behind_the_end_are_left_out():
    rows = BCOO((jnp.ones((2, 3)), jnp.asarray([[10], [2]])), shape=(10, 3))
    close(sparse.apply_rows(TABLE, rows) - TABLE, rows.todense())
    updates, _ = sparse.lazy_update(lambda g, s, p: (g * g.size, s), rows, (), TABLE)
    assert updates.unique_indices and updates.nse == 2
    close(updates.todense(), 6 * rows.todense())


def test_refuses_updates_that_do_not_fit():
    rows = functx.jit(sparse.row_grad(lambda t: t[NUMBERS].sum()))(TABLE)
    with pytest.raises(RuntimeError, match=r"`updates` must have the shape \[9, 3\]"):
        sparse.apply_rows(TABLE[1:], rows)
    with pytest.raises(TypeError, match="must have the dtype of the table"):
        sparse.apply_rows(TABLE.astype("float32"), rows)
    with pytest.raises(TypeError, match="`updates` must be a BCOO"):
        sparse.apply_rows(TABLE, TABLE)
    with pytest.raises(ValueError, match="must have the shape of the table"):
        sparse.lazy_update(adam, rows, (jnp.zeros(10),), TABLE)
    with pytest.raises(ValueError, match="must return a state like `state`"):
        sparse.lazy_update(lambda g, s, p: (g, (s, s)), rows, TABLE, TABLE)
    with pytest.raises(TypeError, match="optimizer.update"):
        sparse.lazy_update((adam, adam), rows, TABLE, TABLE)

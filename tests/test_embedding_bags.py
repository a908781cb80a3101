"""Bags that PyTorch does not survive: its process may end where there are none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


@pytest.mark.parametrize("mode", ["max", "mean", "sum"])
def test_no_bags_have_a_gradient(mode):
    rows, offsets = jnp.asarray([0, 1]), jnp.asarray([0])

    def total(table):
        bags = functx.nn.functional.embedding_bag(
            rows, table, offsets, mode=mode, include_last_offset=True
        )
        assert bags.shape == (0, 2)
        return functx.sum(bags)

    np.testing.assert_array_equal(jax.grad(total)(jnp.ones((2, 2))), np.zeros((2, 2)))


RNG = np.random.default_rng(0)
TABLE = jnp.asarray(RNG.normal(size=(13, 5)), "float64")
LONG = jnp.asarray(RNG.integers(0, 13, (6, 11)))
PADDED = LONG.at[2].set(4).at[3, :7].set(4)
BAGS = functx.nn.functional.embedding_bag


def by_hand(index, table, mode, padding_idx):
    """Each bag by itself, from a list of arrays of row numbers."""
    out = []
    for bag in index:
        rows = [table[i] for i in np.asarray(bag) if i != padding_idx]
        total = sum(rows, jnp.zeros(table.shape[1]))
        out.append(total / max(len(rows), 1) if mode == "mean" else total)
    return jnp.stack(out)


def held_against(bags, want, table):
    """Values, both derivatives, those of second order, and lanes."""
    np.testing.assert_allclose(bags(table), want(table), rtol=1e-12, atol=1e-12)
    t, c = RNG.normal(size=table.shape), jnp.asarray(RNG.normal(size=want(table).shape))
    tangents = [jax.jvp(f, (table,), (jnp.asarray(t),))[1] for f in (bags, want)]
    np.testing.assert_allclose(*tangents, rtol=1e-12, atol=1e-12)
    slopes = [jax.vjp(f, table)[1](c)[0] for f in (bags, want)]
    np.testing.assert_allclose(*slopes, rtol=1e-12, atol=1e-12)
    loss = lambda f: lambda x: jnp.sum(c * jnp.sin(f(x)))
    for outer in jax.jvp, lambda f, x, t: (None, jax.vjp(f, *x)[1](*t)[0]):
        products = [outer(jax.grad(loss(f)), (table,), (jnp.asarray(t),))[1] for f in (bags, want)]
        np.testing.assert_allclose(*products, rtol=1e-11, atol=1e-11)
    tables = jnp.stack([table, jnp.asarray(t)])
    np.testing.assert_allclose(
        jax.vmap(bags)(tables), jnp.stack([want(x) for x in tables]), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    "size, mode, padding_idx",
    [(7, "sum", 4), (8, "sum", None), (8, "mean", -9), (11, "mean", None), (11, "sum", 4)],
)
def test_bags_of_one_size_shorter_and_longer_than_a_step(size, mode, padding_idx):
    index = PADDED[:, :size]
    at = None if padding_idx is None else padding_idx % 13
    held_against(
        lambda x: BAGS(index, x, mode=mode, padding_idx=padding_idx),
        lambda x: by_hand(index, x, mode, at),
        TABLE,
    )


@pytest.mark.parametrize(
    "sizes, last, mode, padding_idx",
    [
        ([9, 8, 12, 11], False, "mean", 4),
        ([30, 2, 0, 1], True, "sum", None),
        ([48, 0, 0, 0, 0, 0], False, "mean", 4),
        ([48, 0, 0, 0, 0, 0], True, "sum", None),
    ],
)
def test_bags_of_sizes_alike_and_one_much_longer(sizes, last, mode, padding_idx):
    index = PADDED.ravel()[: sum(sizes)]
    ends = np.cumsum([0, *sizes])
    offsets = jnp.asarray(ends if last else ends[:-1])
    bags = [index[a:b] for a, b in zip(ends[:-1], ends[1:], strict=True)]
    options = {"mode": mode, "padding_idx": padding_idx, "include_last_offset": last}
    held_against(
        lambda x: BAGS(index, x, offsets, **options),
        lambda x: by_hand(bags, x, mode, padding_idx),
        TABLE,
    )


def test_lanes_with_bags_of_their_own():
    """Among them are bags of sizes alike, and one that is much longer than the others."""
    index = jnp.stack([LONG.ravel()[:44], LONG.ravel()[22:]])
    offsets = jnp.asarray([[0, 11, 22, 33], [0, 43, 43, 44]])
    bags = lambda i, o: BAGS(i, TABLE, o, mode="sum")
    want = [bags(i, o) for i, o in zip(index, offsets, strict=True)]
    np.testing.assert_allclose(jax.vmap(bags)(index, offsets), jnp.stack(want), rtol=1e-12)
    slopes = jax.vmap(lambda i, o: jax.grad(lambda x: BAGS(i, x, o, mode="sum")[0].sum())(TABLE))
    firsts = [np.asarray(i[: o[1]]) for i, o in zip(index, offsets, strict=True)]
    counts = np.stack([np.bincount(rows, minlength=13) for rows in firsts])
    want = np.broadcast_to(counts[..., None], (2, 13, 5))
    np.testing.assert_array_equal(slopes(index, offsets), want)


@pytest.mark.parametrize("offsets", [None, jnp.asarray([0, 11])])
def test_long_bags_with_rows_that_do_not_exist(offsets):
    """They are NaN, and have no gradient."""
    index = LONG[:2].at[1, 3].set(13).at[1, 5].set(-1)
    index = index if offsets is None else index.ravel()

    @jax.jit
    def all_of(table, index):
        f = lambda x: BAGS(index, x, offsets, mode="sum")
        out, pull = jax.vjp(f, table)
        tangent = jax.jvp(f, (table,), (jnp.ones_like(table),))[1]
        return out, tangent, pull(jnp.ones_like(out))[0]

    out, tangent, slope = all_of(TABLE, index)
    sizes = [11, 9]
    assert np.isfinite(out[0]).all() and np.isnan(out[1]).all()
    np.testing.assert_array_equal(tangent, np.array(sizes)[:, None] * np.ones(5))
    assert slope.sum() == 5 * 20


@pytest.mark.parametrize("offsets", [None, jnp.asarray([0, 16])])
def test_long_bags_in_half_precision_are_summed_in_single(offsets):
    table = jnp.ones((3000, 2), "float16")
    index = jnp.zeros((2, 16), "int32") if offsets is None else jnp.zeros(32, "int32")
    out, pull = jax.vjp(lambda x: BAGS(index, 100.125 * x, offsets, mode="sum"), table)
    assert out.dtype == "float16"
    np.testing.assert_array_equal(out, np.full((2, 2), 16 * np.float16(100.125), "float16"))
    assert pull(jnp.ones((2, 2), "float16"))[0].dtype == "float16"

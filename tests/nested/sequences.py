"""Batches whose padding is full of nonsense, and loops over their sequences."""

import jax
import jax.numpy as jnp
import numpy as np

import functx
import functx.nested as fn


LENGTHS = (3, 1, 5)


class Sequences:
    """Arrays of differing lengths, and the batch of them, padded with what must not matter."""

    def __init__(self, lengths, *rest, name=None, below=None, size=None, seed=0):
        rng = np.random.default_rng([seed, *lengths, *rest])
        draw = lambda n: (
            rng.integers(0, below, (n, *rest)) if below else rng.normal(size=(n, *rest))
        )
        self.arrays = [jnp.asarray(draw(n)) for n in lengths]
        size = size or max(lengths, default=0) + 2
        nonsense = 10 * below if below else jnp.nan
        padded = fn.nested(self.arrays, buckets=[size]).padded(nonsense)
        self.batch = fn.from_padded(padded, jnp.asarray(lengths), name=name)

    @property
    def is_floating(self):
        return jnp.issubdtype(self.batch.dtype, jnp.floating)


def rows(result):
    """The results of all lanes, one by one."""
    return result.unbind() if isinstance(result, fn.Nested) else list(result)


def leaves(tree):
    return jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, fn.Nested))


def assert_equal(got, want, within=1e-12):
    assert got.shape == want.shape and got.dtype == want.dtype, f"{got!r} for {want!r}"
    np.testing.assert_allclose(got, want, rtol=within, atol=within)


def assert_like_a_loop(function, *sequences, weights=(), within=1e-12, eager=False):
    """Values and gradients of `function(*weights, *arrays)`, held against sequence by sequence.

    Values and gradients of all are one program, since to compile it is nearly all of the time; with
    `eager`, the values come from a call of its own, each of its operators compiled alone.
    """
    batches, lanes = (
        [s.batch for s in sequences],
        [*zip(*(s.arrays for s in sequences), strict=True)],
    )
    values = lambda weights, *xs: fn.vmap(lambda *xs: function(*weights, *xs))(*xs)
    gradients, gradient_of_lane = gradients_of(function, sequences)

    def every(weights, batches, lanes):
        batched = None if eager else values(weights, *batches), gradients(weights, *batches)
        return batched, [(function(*weights, *xs), gradient_of_lane(weights, *xs)) for xs in lanes]

    (got, got_gradients), want = functx.jit(every)(weights, batches, lanes)
    got = leaves(values(weights, *batches) if eager else got)
    wanted, wanted_gradients = [leaves(y) for y, _ in want], [g for _, g in want]
    assert all(len(got) == len(one) for one in wanted)
    for k, result in enumerate(got):
        for mine, one in zip(rows(result), wanted, strict=True):
            assert_equal(mine, one[k], within)
    for k, mine in enumerate(got_gradients[0]):
        assert_equal(mine, sum(lane[0][k] for lane in wanted_gradients), within)
    for k, mine in enumerate(got_gradients[1:], start=1):
        for row, lane in zip(mine.unbind(), wanted_gradients, strict=True):
            assert_equal(row, lane[k], within)


def gradients_of(function, sequences):
    """Functions of weights and batches, and of weights and the arrays of one lane."""
    moving = [i for i, s in enumerate(sequences) if s.is_floating]

    def one(weights, *xs):
        return sum(map(weighted, leaves(function(*weights, *xs))), 0.0)

    def gradients(weights, *batches):
        def all_(weights, *moved):
            given = dict(zip(moving, moved, strict=True))
            every = [given.get(i, batch) for i, batch in enumerate(batches)]
            return fn.vmap(lambda *xs: one(weights, *xs))(*every).sum()

        which = tuple(range(1 + len(moving)))
        return functx.grad(all_, which)(weights, *(batches[i] for i in moving))

    return gradients, jax.grad(one, (0, *(1 + i for i in moving)))


def weighted(y):
    """A sum of the elements of a result, each with a weight of its own."""
    if not jnp.issubdtype(y.dtype, jnp.floating):
        return 0.0
    places = jnp.arange(y.size, dtype=y.dtype).reshape(y.shape)
    return (y * jnp.cos(1.3 * places + 1)).sum()

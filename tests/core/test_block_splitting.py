"""Operators that cut an array into pieces: many of them, eagerly, in few programs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core.operators import block_splitting


X = np.arange(200, dtype="float32").reshape(100, 2)
CUTS = [
    (lambda x: functx.unbind(x), list(X)),
    (lambda x: functx.unbind(x.T, 1), list(X)),
    (lambda x: functx.split(x, 3), np.split(X, range(3, 100, 3))),
    (
        lambda x: functx.split(x, [2] * 33 + [1] * 34),
        np.split(X, [*range(2, 66, 2), *range(66, 100)]),
    ),
    (
        lambda x: functx.split(x, [0] * 50 + [2] * 50),
        np.split(X, [0] * 50 + [*range(2, 100, 2)]),
    ),
    (lambda x: functx.chunk(x, 50), np.split(X, 50)),
    (lambda x: functx.tensor_split(x, 75), np.array_split(X, 75)),
    (lambda x: functx.tensor_split(x, [5, 3] * 35), np.array_split(X, [5, 3] * 35)),
    (lambda x: functx.tensor_split(x, [], 0), [X]),
]


@pytest.mark.parametrize("cut, want", CUTS)
def test_pieces_are_the_same_in_blocks_and_in_one_program(cut, want):
    for got in (cut(X), cut(jnp.asarray(X)), jax.jit(cut)(X)):
        assert isinstance(got, tuple) and len(got) == len(want)
        assert all(
            np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(got, want, strict=True)
        )


def test_blocks_are_differentiated_and_batched():
    weights, ones = jnp.arange(100.0, dtype="float32"), jnp.ones(100, "float32")

    def total(x):
        return sum(w * y for w, y in zip(weights, functx.unbind(x), strict=True))

    assert (functx.grad(total)(ones) == weights).all()
    assert (functx.vmap(total, in_dims=1)(jnp.asarray(X)) == weights @ X).all()
    assert functx.jvp(total, (ones,), (ones,))[1] == weights.sum()


def test_many_pieces_take_few_programs(caplog):
    x = jnp.zeros(10_000)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        pieces_of = functx.unbind(x)
    compiled = [r for r in caplog.records if "Finished XLA compilation" in r.getMessage()]
    assert len(pieces_of) == 10_000 and len(compiled) <= 4


def test_more_pieces_than_a_program_or_memory_holds_are_refused():
    with pytest.raises(
        RuntimeError, match=r"^unbind: 20000 results in one program.*\n  hint: .*vmap"
    ):
        jax.jit(functx.unbind)(jnp.zeros(20_000))
    with pytest.raises(MemoryError, match=r"^tensor_split: 4611686018427387904 results are more"):
        functx.tensor_split(X, 2**62)
    with pytest.raises(MemoryError, match=r"^chunk: "):
        functx.chunk(jnp.zeros(0), 2**62)
    assert block_splitting.BLOCK < 34  # the arrays above are long enough

"""What draws are distributed as: laws and dependence that means and deviations do not show."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

import functx
from functx.testing import call, op_db, run_cell
from functx.testing.mutants import hunt, mutants_of


ENTRIES = {info.id: info for info in op_db}


def drawing(draw):
    """The entry of `randn`, of numbers that `draw` gives."""

    def op(*size, key=None, **options):
        return draw(key, jnp.shape(functx.randn(*size, key=key)))

    op.spec = functx.randn.spec
    samples = lambda make: iter([call(2, 3)])
    return dataclasses.replace(ENTRIES["randn"], op=op, samples=samples)


def all_equal(key, shape):
    return jnp.broadcast_to(jax.random.normal(key), shape)


def in_pairs(key, shape):
    z = jax.random.normal(key, shape)
    return z.at[..., 1].set(-z[..., 0])


def uniform(key, shape):
    return jax.random.uniform(key, shape, minval=-(3**0.5), maxval=3**0.5)


@pytest.mark.parametrize("draw", [all_equal, in_pairs, uniform])
def test_means_and_deviations_alone_show_neither_dependence_nor_tails(draw):
    run_cell(drawing(draw), "float32", "moments")


def test_independent_normal_numbers_are_those_of_the_sampler():
    run_cell(drawing(jax.random.normal), "float32", "distribution")


@pytest.mark.parametrize(
    "draw, said",
    [
        (all_equal, "elements 0 and 1 have the rank correlation 1, the sampler's"),
        (in_pairs, "elements 0 and 1 have the rank correlation -1, the sampler's"),
        (uniform, "shares of draws up to a bound differ by 0.0[4-9]"),
    ],
)
def test_dependent_elements_and_another_law_fail(draw, said):
    with pytest.raises(AssertionError, match=said):
        run_cell(drawing(draw), "float32", "distribution")


def test_elements_that_the_sampler_has_dependent_must_be():
    entry = dataclasses.replace(
        drawing(jax.random.normal), sampler=lambda rng, n, *size: rng.normal(size=(n, 1, 1)) * ONES
    )
    with pytest.raises(AssertionError, match=r"rank correlation -?0\.0.*, the sampler's 1"):
        run_cell(entry, "float32", "distribution")


ONES = jnp.ones((2, 3))


@pytest.mark.parametrize("name", ["randn", "nn.functional.dropout1d", "randint"])
def test_planted_laws_and_equal_elements_are_caught(name):
    info = ENTRIES[name]
    mutants = [m for m in mutants_of(info) if m.kind in ("elements all equal", "another law")]
    caught = {v.kind: v.check for v in hunt(mutants, info)}
    assert caught == {"elements all equal": "distribution", "another law": "distribution"}

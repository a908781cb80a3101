"""Colourings, and the sparse derivatives that they make cheap, against dense ones."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import functx
from functx import sparsity
from functx.testing.checks.programs import compiled


X = jnp.linspace(0.3, 1.7, 7)
TRIDIAGONAL = np.abs(np.subtract.outer(np.arange(9), np.arange(9))) <= 1
ARROW = np.eye(9, dtype=bool) | (np.arange(9) == 0) | (np.arange(9) == 0)[:, None]
_NEAR = np.abs(np.subtract.outer(np.arange(20), np.arange(20))) <= 1
NINE_POINTS = np.kron(_NEAR, _NEAR)
FIVE_POINTS = np.kron(_NEAR, np.eye(20, dtype=bool)) | np.kron(np.eye(20, dtype=bool), _NEAR)


def neighbours(x):
    return jnp.sin(x[1:]) * x[:-1] ** 2


def coupled(x):
    return (x[1:] * x[:-1] ** 3).sum() + jnp.cos(x).sum() + x[0] * x[-1]


@pytest.mark.parametrize("matrix", [TRIDIAGONAL, ARROW], ids=["tridiagonal", "arrow"])
@pytest.mark.parametrize("kind", ["column", "row"])
def test_what_shares_a_colour_shares_no_entry(matrix, kind):
    colors = np.asarray(sparsity.color(matrix, kind).colors)
    rows = matrix if kind == "column" else matrix.T
    for color in range(colors.max() + 1):
        assert rows[:, colors == color].sum(1).max() <= 1


@pytest.mark.parametrize("order", ["natural", "largest_first", "smallest_last", "random"])
def test_a_star_colouring_has_no_path_of_four_in_two_colours(order):
    for matrix in (TRIDIAGONAL, ARROW, FIVE_POINTS[:45, :45]):
        colors = np.asarray(sparsity.color(matrix, "star", order).colors)
        edges = matrix & ~np.eye(len(matrix), dtype=bool)
        for b, c in np.argwhere(edges):
            assert colors[b] != colors[c]
            for a, d in np.argwhere(np.outer(edges[:, b], edges[c])):
                if len({a, b, c, d}) == 4:
                    assert len(set(colors[[a, b, c, d]])) > 2


def test_the_numbers_of_colours_are_the_published_ones_for_bands_and_arrows():
    kinds = "column", "row", "star", "acyclic"
    found = [[sparsity.color(m, kind).count for kind in kinds] for m in (TRIDIAGONAL, ARROW)]
    assert found == [[3, 3, 3, 2], [9, 9, 2, 2]]


def test_stencils_take_the_fewest_colours_there_are():
    """A star colouring of a grid takes 5 (Fertin, Raspaud and Reed, Star coloring of graphs, 2004).

    For an acyclic one 3 suffice (Fertin, Godard and Raspaud, 2003); the greedy one takes 4.
    """
    kinds = "column", "row", "star", "acyclic"
    found = [[sparsity.color(m, kind).count for kind in kinds] for m in (FIVE_POINTS, NINE_POINTS)]
    assert found == [[5, 5, 5, 4], [9, 9, 10, 6]]


@pytest.mark.parametrize("order", ["natural", "largest_first", "smallest_last", "random"])
@pytest.mark.parametrize("matrix", [FIVE_POINTS, NINE_POINTS, ARROW])
def test_two_colours_of_an_acyclic_colouring_form_trees(matrix, order):
    colors = np.asarray(sparsity.color(matrix, "acyclic", order).colors)
    edges = matrix & ~np.eye(len(matrix), dtype=bool)
    assert not (edges & (colors[:, None] == colors)).any()
    for pair in itertools.combinations(range(colors.max() + 1), 2):
        of_pair = np.isin(colors, pair)
        graph = edges[of_pair][:, of_pair]
        trees, _ = connected_components(graph)
        assert graph.sum() // 2 == of_pair.sum() - trees


@pytest.mark.parametrize("transform", ["jacfwd", "jacrev", "jacobian"])
def test_jacobians_are_the_dense_ones(transform):
    jacobian = getattr(sparsity, transform)(neighbours)
    dense = compiled(functx.jacrev(neighbours))(X)
    np.testing.assert_allclose(jacobian(X).todense(), dense, rtol=1e-12)
    np.testing.assert_allclose(jax.jit(jacobian)(X).todense(), dense, rtol=1e-12)
    assert jacobian.plan(X).products == 2


@pytest.mark.parametrize("recovery", ["direct", "substitution"])
def test_hessians_are_the_dense_ones(recovery):
    hessian = sparsity.hessian(coupled, recovery=recovery)
    np.testing.assert_allclose(
        hessian(X).todense(), compiled(functx.hessian(coupled))(X), rtol=1e-10
    )
    assert hessian.plan(X).products < len(X)


def test_dense_results_are_arrays_and_batches_map():
    jacobian = sparsity.jacfwd(neighbours, dense=True)
    batch = jnp.stack([X, 2 * X])
    expected = compiled(functx.vmap(functx.jacfwd(neighbours)))(batch)
    np.testing.assert_allclose(functx.vmap(jacobian)(batch), expected, rtol=1e-12)


def test_a_pattern_and_a_colouring_are_taken_again():
    plan = sparsity.jacfwd(neighbours).plan(X)
    jacobian = sparsity.jacfwd(neighbours, pattern=plan.pattern, coloring=plan.coloring)
    assert jacobian.plan(2 * X).coloring is plan.coloring
    dense = compiled(functx.jacrev(neighbours))(X)
    np.testing.assert_allclose(jacobian(X).todense(), dense, rtol=1e-12)


def test_a_pattern_that_leaves_entries_out_is_refused_on_request():
    wrong = sparsity.SparsityPattern(np.eye(6, 7))
    with pytest.raises(RuntimeError, match="jacfwd: the pattern lacks entries"):
        sparsity.jacfwd(neighbours, pattern=wrong, check=True)(X)


def test_functions_without_entries_and_empty_arguments():
    assert (
        sparsity.jacfwd(lambda x: jnp.zeros(3))(X).todense().tolist() == np.zeros((3, 7)).tolist()
    )
    assert sparsity.jacfwd(jnp.sin)(jnp.zeros(0)).shape == (0, 0)

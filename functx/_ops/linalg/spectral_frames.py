r"""How matrices are seen from eigenvectors, in which derivatives of functions of them are sums.

Of $F(A) = V f(\lambda) V^H$ the derivative in the directions $E_1, \dots, E_n$ is, with
$M = V^H E V$,

$$L_n(A; E_1, \dots, E_n) = V \Big[ \sum_\pi \sum_{k_1 \dots k_{n-1}}
f[\lambda_i, \lambda_{k_1}, \dots, \lambda_j] \, M^{\pi_1}_{i k_1} M^{\pi_2}_{k_1 k_2} \cdots
M^{\pi_n}_{k_{n-1} j} \Big]_{ij} V^H$$

over all orders $\pi$ of the directions (Daleckii and Krein, 1965; Higham, "Functions of Matrices",
2008, section 3). Divided differences stay finite where eigenvalues meet. $L_n$ is symmetric in its
directions, and $\operatorname{tr}(C L_n(A; E, \dots)) = \operatorname{tr}(E L_n(A; C, \dots))$.

Singular values are eigenvalues too: those of $\begin{pmatrix} 0 & A \\ A^H & 0 \end{pmatrix}$ are
$\pm s_i$, with eigenvectors $(u_i, \pm v_i) / \sqrt 2$, and zeros for the rest of the longer side
(Jordan and Wielandt). For an odd $f$, $U f(S) V^H$ is the upper right block of $f$ of it (see
Noferini, "A formula for the Frechet derivative of a generalized matrix function", 2017).
"""

from __future__ import annotations

import functools as ft
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core.devices.manual_axes import varying_like

from .full_precision import product
from .matrix_arguments import adjoint


Matrix: TypeAlias = Any  # an array, or a tree of the blocks of one
Vectors: TypeAlias = Any
Spectrum: TypeAlias = Any  # a tree of arrays with an element for each eigenvalue, last


class Frame(NamedTuple):
    """Matrices of one kind, in the basis of their eigenvectors and back."""

    #: the vectors that directions reach, the directions $V^H E V$ among these, and what makes of
    #: an array of the values that are known, an odd function of them, one of all
    inside: Callable[
        [Vectors, Sequence[Matrix]], tuple[Vectors, list[Array], Callable[[Array], Array]]
    ]
    outside: Callable[[Vectors, Vectors], Matrix]  #: $V X V^H$, of $V X$ and $V$
    transposed: Callable[[Matrix], Matrix]
    share: float  #: of the trace, what the known values have of it


def _inside(vectors: Array, directions: Sequence[Array]) -> Any:
    back = adjoint(vectors)
    return vectors, [product(back, E, vectors) for E in directions], lambda x: x


HERMITIAN = Frame(
    _inside, lambda left, vectors: product(left, adjoint(vectors)), lambda C: C.mT, share=1.0
)


class OffDiagonalBlocks(NamedTuple):
    """A matrix with two blocks of zeros on its diagonal.

    As a function of both of the others, of which one may move alone, what is complex is linear.
    """

    upper: Array  # [..., m, n]
    lower: Array  # [..., n, m]


class RowsAndColumns(NamedTuple):
    """The parts of vectors that meet the rows and the columns of the upper block."""

    rows: Array  # [..., m, k]
    columns: Array  # [..., n, k]


def _inside_blocks(vectors: RowsAndColumns, directions: Sequence[OffDiagonalBlocks]) -> Any:
    """Both eigenvectors of each pair of singular vectors, and of the others what is reached."""
    rows, columns = vectors
    more_rows = _reached(rows, [x for E in directions for x in (E.upper, adjoint(E.lower))])
    more_columns = _reached(columns, [x for E in directions for x in (E.lower, adjoint(E.upper))])
    half, first, last = 0.5**0.5, more_rows.shape[-1], more_columns.shape[-1]
    nothing = [(0, 0)] * (rows.ndim - 1)
    more_rows = jnp.pad(more_rows, [*nothing, (0, last)])
    more_columns = jnp.pad(more_columns, [*nothing, (first, 0)])
    every = RowsAndColumns(
        jnp.concatenate([half * rows, half * rows, more_rows], -1),
        jnp.concatenate([half * columns, -half * columns, more_columns], -1),
    )
    moved = [
        product(adjoint(every.rows), E.upper, every.columns)
        + product(adjoint(every.columns), E.lower, every.rows)
        for E in directions
    ]

    def whole(x: Array) -> Array:
        return jnp.concatenate([x, -x, jnp.zeros((*x.shape[:-1], first + last), x.dtype)], -1)

    return every, moved, whole


def _reached(vectors: Array, images: Sequence[Array]) -> Array:
    """Columns that complete these to a basis of a space in which the `images` lie too."""
    m, k = vectors.shape[-2:]
    if m == k:
        return vectors[..., :0]
    together = jnp.concatenate([vectors, *images], -1)
    return lax.linalg.qr(together, full_matrices=False)[0][..., k:]


def _outside_blocks(left: RowsAndColumns, vectors: RowsAndColumns) -> OffDiagonalBlocks:
    return OffDiagonalBlocks(
        product(left.rows, adjoint(vectors.columns)), product(left.columns, adjoint(vectors.rows))
    )


BLOCKS = Frame(
    _inside_blocks, _outside_blocks, lambda C: OffDiagonalBlocks(C.lower.mT, C.upper.mT), share=0.5
)


def inner(first: Matrix, second: Matrix) -> Array:
    """The sum of products of elements, without conjugation."""
    products = jax.tree.map(lambda x, y: jnp.sum(x * y), first, second)
    return ft.reduce(jnp.add, jax.tree.leaves(products))


def like_primal(x: Array, cotangent: Array) -> Array:
    """The part of the cotangent that belongs to `x`: the real part, if `x` is real."""
    real = not jnp.iscomplexobj(x)
    return (jnp.real(cotangent) if real else cotangent).astype(x.dtype)


def summed(difference: Callable[..., Array], spectrum: Spectrum, moved: Sequence[Array]) -> Array:
    """The bracket of $L_n$, of at least one direction.

    `difference` gives the divided difference at points of the spectrum.
    """
    dtype, n = moved[0].dtype, moved[0].shape[-1]

    def term(middle: Sequence[Any]) -> Array:
        """Over all orders of the directions, what passes through these eigenvectors."""
        at = lambda *place: jax.tree.map(lambda x: x[(..., *place)], spectrum)
        between = [at(k, None, None) for k in middle]
        weights = difference(at(slice(None), None), *between, at(None, slice(None)))
        return weights.astype(dtype) * ft.reduce(
            jnp.add, (_chain(order, middle) for order in itertools.permutations(moved))
        )

    free = len(moved) - 1
    if not free:
        return term(())
    if n == 0:
        return moved[0]

    def add(i: Any, total: Array) -> Array:
        return total + term([i // n**place % n for place in range(free)])

    start = varying_like(jnp.zeros_like(moved[0]), moved[0])
    return lax.fori_loop(0, n**free, add, start)


def _chain(matrices: Sequence[Array], middle: Sequence[Any]) -> Array:
    if not middle:
        return matrices[0]
    out = matrices[0][..., :, middle[0], None]
    for matrix, (i, j) in zip(matrices[1:-1], itertools.pairwise(middle), strict=True):
        out = out * matrix[..., i, j, None, None]
    return out * matrices[-1][..., middle[-1], None, :]

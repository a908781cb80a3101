"""Which entries of a matrix may be other than zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from functx._core import describe, fail
from functx._transforms.sparse_arrays import is_sparse


class SparsityPattern:
    """Which entries of a matrix may be other than zero, such as a Jacobian's.

    A row stands for an element of the output, a column for one of the input, both in the order of
    `jax.tree.leaves`, each leaf's elements in row-major order. Patterns never change. They are
    compared by their entries, pickled and copied.

    - `matrix`: a matrix of two dimensions: an array of NumPy or JAX, a sparse array of SciPy or of
      `jax.experimental.sparse`, or a pattern. What it stores is an entry of a sparse one; what is
      not zero is one of a dense one.
    - `coarse`: where it was traced, what the equations are called of which nothing was known, so
      that all of their results were taken to depend on all of their operands.

    Errors: TypeError for what is no matrix of numbers, ValueError for another rank.

    >>> pattern = functx.sparsity.SparsityPattern(jnp.eye(3))
    >>> pattern, pattern.columns
    (SparsityPattern([3, 3], 3 entries), array([0, 1, 2], dtype=int32))
    """

    def __init__(self, matrix: Any, *, coarse: tuple[str, ...] = ()):
        self._matrix = _as_csr(matrix)
        self.coarse = tuple(coarse)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        rows, columns = self._matrix.shape
        return int(rows), int(columns)

    @property
    def nnz(self) -> int:
        """How many entries there are."""
        return int(self._matrix.nnz)

    @property
    def density(self) -> float:
        """The share of all places that are entries; 0 of an empty matrix."""
        size = self.shape[0] * self.shape[1]
        return self.nnz / size if size else 0.0

    @property
    def rows(self) -> np.ndarray:
        """The row of each entry, `[nnz]`, ascending."""
        starts = self._matrix.indptr
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(starts))

    @property
    def columns(self) -> np.ndarray:
        """The column of each entry, `[nnz]`, ascending in each row."""
        return self._matrix.indices.astype(np.int32)

    @property
    def T(self) -> SparsityPattern:
        """The pattern of the transposed matrix."""
        return SparsityPattern(self._matrix.T, coarse=self.coarse)

    def to_scipy(self) -> Any:
        """A `scipy.sparse.csr_array` of bools."""
        return self._matrix.copy()

    def to_dense(self) -> np.ndarray:
        """A NumPy array of bools, `[rows, columns]`."""
        return self._matrix.toarray()

    def covers(self, other: SparsityPattern | Any) -> bool:
        """Whether each entry of `other`, a pattern or a matrix, is one of this pattern."""
        other = other if isinstance(other, SparsityPattern) else SparsityPattern(other)
        return self.shape == other.shape and (self | other).nnz == self.nnz

    def __or__(self, other: SparsityPattern) -> SparsityPattern:
        return SparsityPattern(self._matrix + _of_shape(self, other), coarse=_names(self, other))

    def __and__(self, other: SparsityPattern) -> SparsityPattern:
        return SparsityPattern(self._matrix * _of_shape(self, other), coarse=_names(self, other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparsityPattern):
            return NotImplemented
        return self.shape == other.shape and self.nnz == other.nnz == (self & other).nnz

    def __hash__(self) -> int:
        return hash((self.shape, self._matrix.indices.tobytes(), self._matrix.indptr.tobytes()))

    def __repr__(self) -> str:
        return f"SparsityPattern({list(self.shape)}, {self.nnz} entries)"


def _as_csr(matrix: Any) -> Any:
    if isinstance(matrix, SparsityPattern):
        return matrix.to_scipy()
    if is_sparse(matrix):
        matrix = _of_jax(matrix)
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
        if matrix.dtype.kind not in "biufcV":
            fail(
                "sparsity.SparsityPattern",
                f"`matrix` must be of numbers, got {matrix.dtype}",
                error=TypeError,
            )
        matrix = matrix != 0
    if matrix.ndim != 2:
        got = describe(matrix) if isinstance(matrix, np.ndarray) else f"rank {matrix.ndim}"
        fail(
            "sparsity.SparsityPattern",
            f"`matrix` must have two dimensions, got {got}",
            error=ValueError,
        )
    csr = sp.csr_array(matrix, dtype=bool, copy=True)
    csr.data[:] = True  # what is stored is an entry, even a zero
    csr.sum_duplicates()
    csr.data[:] = True
    return csr


def _of_jax(matrix: Any) -> Any:
    """A sparse array of JAX in SciPy's words; padding, with indices out of bounds, left out."""
    bcoo = matrix if hasattr(matrix, "n_sparse") and hasattr(matrix, "indices") else None
    if bcoo is None or not hasattr(bcoo, "n_batch") or hasattr(bcoo, "indptr"):
        bcoo = matrix.to_bcoo() if hasattr(matrix, "to_bcoo") else None
    if bcoo is None or bcoo.n_sparse != 2 or bcoo.n_batch or bcoo.n_dense:
        fail(
            "sparsity.SparsityPattern",
            f"`matrix` must be a BCOO or BCSR of two sparse dimensions, got {type(matrix).__name__}"
            f"{list(matrix.shape)}",
            error=ValueError,
        )
    rows, columns = np.asarray(bcoo.indices).T
    inside = (rows < bcoo.shape[0]) & (columns < bcoo.shape[1])
    at = rows[inside], columns[inside]
    return sp.coo_array((np.ones(inside.sum(), bool), at), shape=tuple(bcoo.shape))


def _of_shape(pattern: SparsityPattern, other: SparsityPattern) -> Any:
    if pattern.shape != other.shape:
        fail(
            "sparsity.SparsityPattern",
            f"both patterns must have one shape, got {list(pattern.shape)} and {list(other.shape)}",
            error=ValueError,
        )
    return other.to_scipy()


def _names(*patterns: SparsityPattern) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for pattern in patterns for name in pattern.coarse))

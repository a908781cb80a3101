"""Sets of inputs, one for each element of an array: the rows of sparse boolean matrices."""

from __future__ import annotations

import functools as ft
import math
import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp


# A `csr_array` of bools, `[elements, inputs]`. SciPy's stubs know little of it.
Rows: TypeAlias = Any

MOST = 2**29  # entries of a pattern: 2.5 GB


class TooManyEntries(Exception):
    """Raised where a pattern would be too large to hold."""


def no_rows(elements: int, inputs: int) -> Rows:
    """Empty sets."""
    return sp.csr_array((elements, inputs), dtype=bool)


def identity_rows(first: int, elements: int, inputs: int) -> Rows:
    """Sets of one input each: element `i` depends on input `first + i`."""
    columns = np.arange(first, first + elements, dtype=np.int32)
    starts = np.arange(elements + 1, dtype=np.int32)
    return sp.csr_array((np.ones(elements, bool), columns, starts), shape=(elements, inputs))


def numbers(shape: Sequence[int]) -> np.ndarray:
    """The number of each element in an array of this shape."""
    return np.arange(math.prod(shape), dtype=np.int64).reshape(shape)


def taken(rows: Rows, index: np.ndarray) -> Rows:
    """The sets number `index`; a negative number stands for an empty one."""
    index = index.ravel()
    lacking = index < 0
    _require_few(np.where(lacking, 0, np.diff(rows.indptr)[index]) if rows.shape[0] else index * 0)
    if lacking.any():
        rows = sp.vstack([rows, no_rows(1, rows.shape[1])], format="csr")
        index = np.where(lacking, rows.shape[0] - 1, index)
    return rows[index]


def mapped(rows: Rows, to: np.ndarray, of: np.ndarray, elements: int) -> Rows:
    """For each of `elements`, the union of the sets `of[k]` for which `to[k]` is it."""
    of, to = of.ravel(), to.ravel()
    if rows.nnz == 0 or of.size == 0:
        return no_rows(elements, rows.shape[1])
    if int(np.diff(rows.indptr).max()) > 1:
        _require_few(np.bincount(to, np.diff(rows.indptr)[of], elements).clip(0, rows.shape[1]))
    ones = np.ones(of.size, bool)
    return sp.csr_array((ones, (to, of)), shape=(elements, rows.shape[0])) @ rows


def united(parts: Sequence[Rows]) -> Rows:
    """The unions of the sets of equal numbers."""
    return ft.reduce(operator.add, parts)


def where(rows: Rows, kept: np.ndarray) -> Rows:
    """The sets, emptied where `kept` is False."""
    if kept.all():
        return rows
    return sp.diags_array(kept.ravel().astype(bool), format="csr", dtype=bool) @ rows


def along(rows: Rows, shape: Sequence[int], dims: Sequence[int]) -> Rows:
    """For each element, the union over all that differ from it in `dims` alone."""
    if not dims or rows.nnz == 0:
        return rows
    group = groups(shape, dims)
    count = int(group.max(initial=-1)) + 1
    return taken(mapped(rows, group, np.arange(group.size), count), group)


def groups(shape: Sequence[int], dims: Sequence[int]) -> np.ndarray:
    """The number of each element's group, where those that differ in `dims` alone are one."""
    kept = [1 if i in dims else n for i, n in enumerate(shape)]
    return np.broadcast_to(numbers(kept), shape).ravel()


def everything(parts: Sequence[Rows], elements: int) -> Rows:
    """For each of `elements`, the union of all sets."""
    one = [mapped(x, np.zeros(x.shape[0], int), np.arange(x.shape[0]), 1) for x in parts]
    return taken(united(one), np.zeros(elements, np.int64))


def _require_few(counts: np.ndarray) -> None:
    if (total := int(counts.sum())) > MOST:
        raise TooManyEntries(total)

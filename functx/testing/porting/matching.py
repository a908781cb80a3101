"""Which of PyTorch's calls a step of functx's side stands for: in order, by values and by names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from functx.testing.opchecking.target import is_inexact

from .steps import OperatorStep


_MOST = 200_000  # pairs whose values are held against each other; beyond, names decide

Close = Callable[[Any, Any], bool]


class StepPair(NamedTuple):
    """A call of PyTorch's and a step of functx's, by number, and whether they give the same."""

    theirs: int
    ours: int
    same: bool


def paired(
    theirs: Sequence[OperatorStep], ours: Sequence[OperatorStep], close: Close
) -> list[StepPair]:
    """The alignment of both in which most agrees: names and values, else values, else names."""
    m, n = len(theirs), len(ours)
    by_value = m * n <= _MOST
    same = np.zeros((m, n), bool)
    worth = np.zeros((m, n), int)
    for i, t in enumerate(theirs):
        for j, f in enumerate(ours):
            named = t.key == f.key
            if by_value or named:
                same[i, j] = _same(t, f, close)
            telling = any(is_inexact(y) for y in t.outputs)
            worth[i, j] = (4 if named else 2 * telling) if same[i, j] else int(named)
    best = np.zeros((m + 1, n + 1), int)
    for i in range(m - 1, -1, -1):
        for j in range(n - 1, -1, -1):
            with_both = best[i + 1, j + 1] + worth[i, j]
            best[i, j] = max(with_both, best[i + 1, j], best[i, j + 1])
    pairs, i, j = [], 0, 0
    while i < m and j < n:
        if worth[i, j] and best[i, j] == best[i + 1, j + 1] + worth[i, j]:
            pairs.append(StepPair(i, j, bool(same[i, j])))
            i, j = i + 1, j + 1
        elif best[i, j] == best[i + 1, j]:
            i += 1
        else:
            j += 1
    return pairs


def _same(t: OperatorStep, f: OperatorStep, close: Close) -> bool:
    """Whether all that PyTorch's call returns is what the step returns; JAX's may return more."""
    if len(t.outputs) > len(f.outputs) or not any(math.prod(y.shape) for y in t.outputs):
        return False
    outputs = zip(t.outputs, f.outputs, strict=False)
    return all(y is not None and close(y, x) for x, y in outputs)

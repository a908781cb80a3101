"""Which elements of a result some elements of a call's arrays reach: seen by PyTorch's results."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from functx._core import category

from .arrays import ordinary
from .draws import Call, replaced
from .outcomes import as_numpy, by_pytorch


Chosen: TypeAlias = Callable[[np.ndarray], Any]  # which elements of a floating array
Results: TypeAlias = Callable[[Call], "list[np.ndarray] | None"]  # of a call, or its gradients
Reached: TypeAlias = Callable[[Chosen], Any]  # which elements of one result

FILLS = (np.nan, 1, 2)
DRAWS = 3


def reached(call: Call, chosen: Chosen, results: Results) -> list[np.ndarray]:
    """Where results are others with NaN for the chosen elements, or with other numbers."""
    if not any(np.any(chosen(x)) for x in call.arrays if category(x.dtype) >= 2):
        return []
    rng = np.random.default_rng(call.seed)
    fills = [ft.partial(np.full_like, fill_value=fill) for fill in FILLS]
    others = [*fills, *[ft.partial(ordinary, rng)] * DRAWS]
    found = [results(replaced(call, chosen, other)) for other in others]
    first, *rest = [each for each in found if each is not None] or [[]]
    shapes = [y.shape for y in first]
    rest = [each for each in rest if [y.shape for y in each] == shapes]
    return [
        np.logical_or.reduce([_other(each[i], y) for each in rest], initial=False)
        for i, y in enumerate(first)
    ]


def _other(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x != y) & ~(np.isnan(x) & np.isnan(y))


def values(call: Call) -> list[np.ndarray] | None:
    """PyTorch's results, if it takes the call."""
    found = by_pytorch(call)
    return None if found.error is not None else list(map(as_numpy, found.arrays))

"""A value as a truncated Taylor series, and the arithmetic of such series."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
from jax import lax


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class TaylorSeries:
    """A curve $x(t) = c_0 + c_1 t + ... + c_K t^K$: `value` is $c_0$, `terms` are the others."""

    value: Any
    terms: tuple[Any, ...]

    @property
    def coefficients(self) -> Coefficients:
        return [self.value, *self.terms]

    def truncated(self, order: int) -> Any:
        """The series to a lower order, of order 0 its value."""
        return TaylorSeries(self.value, self.terms[:order]) if order else self.value


Coefficients: TypeAlias = list[Any]
SeriesProduct: TypeAlias = Callable[[Any, Any], Any]


def total(terms: Sequence[Any]) -> Any:
    """The sum of at least one array."""
    first, *others = terms
    for x in others:
        first = lax.add(first, x)
    return first


def convolved(product: SeriesProduct, x: Coefficients, y: Coefficients) -> Coefficients:
    """The series of a product: $z_k = \\sum_j x_j y_{k-j}$ (Griewank and Walther, table 13.1)."""
    return [total([product(x[j], y[k - j]) for j in range(k + 1)]) for k in range(len(x))]


def integrated(x: Coefficients, slope: Coefficients, k: int) -> Any:
    """Coefficient `k` of the curve with $z' = s x'$, where `slope` has those of $s$ before it."""
    return total([j * x[j] * slope[k - j] for j in range(1, k + 1)]) / k

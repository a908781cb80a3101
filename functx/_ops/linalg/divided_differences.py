r"""Divided differences of functions of a number, also where points meet.

$f[x_0] = f(x_0)$ and $f[x_0, \dots, x_n] = (f[x_1, \dots, x_n] - f[x_0, \dots, x_{n-1}]) /
(x_n - x_0)$, of which rounding errors leave nothing where points are close. There they are means
of a derivative, $\int f^{(n)}(t_0 x_0 + \dots + t_n x_n)\, dt$ over the simplex (Hermite and
Genocchi; see de Boor, "Divided differences", 2005).
"""

from __future__ import annotations

import functools as ft
import itertools
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


def divided_difference(function: Callable[[Array], Array], *points: Array) -> Array:
    """`function[x_0, ..., x_n]` of real points, elementwise; they broadcast, in any order.

    JAX must be able to differentiate `function` n + 1 times.
    """
    x = jnp.sort(jnp.stack(jnp.broadcast_arrays(*points)), axis=0)
    derivatives = [function]
    for _ in points:
        derivatives.append(_derivative(derivatives[-1]))
    sizes = [_finite(f(x)) / math.factorial(k) for k, f in enumerate(derivatives)]
    table = function(x)
    for order in range(1, len(points)):
        last = len(x) - order
        corners = jnp.stack([x[i : last + i] for i in range(order + 1)])
        width, rise = x[order:] - x[:last], table[1:] - table[:-1]
        mean, coarser = (_mean(derivatives[order], corners, nodes) for nodes in (_NODES, _FEWER))
        # The mean is taken where it is better than the quotient: off by less than rounding errors
        # of what is subtracted, divided by the width. What jumps in between, no derivative sees.
        scale = _scale(sizes, x, order)
        better = jnp.abs(mean - coarser) * width <= 4 * _eps(x) * scale
        missing = jnp.abs(mean * width.astype(mean.dtype) - rise)
        smooth = (width == 0) | (better & (missing <= _eps(x) ** 0.5 * scale))
        divisor = jnp.where(smooth, 1, width)
        table = jnp.where(smooth, mean, rise / divisor.astype(rise.dtype))
    return table[0]


def _scale(sizes: Sequence[Array], x: Array, order: int) -> Array:
    r"""The size of divided differences of one order less, of which points that are `order` apart
    are taken.

    That is the largest $|f^{(k)}| x^{k - n} / k!$ at both: what rounding errors are the last digits
    of, also where the derivative of order n is near 0, as terms of it cancel.
    """
    last = len(x) - order
    reach = jnp.maximum(jnp.abs(x[:last]), jnp.abs(x[order:]))
    reach = jnp.where(reach == 0, 1, reach)
    each = [(s[:last] + s[order:]) * reach ** (k - order + 1) for k, s in enumerate(sizes)]
    return ft.reduce(jnp.maximum, map(_finite, each))


def _finite(x: Array) -> Array:
    size = jnp.abs(x)
    return jnp.where(jnp.isfinite(size), size, 0)


def _eps(x: Array) -> float:
    return float(jnp.finfo(x.dtype).eps)


def _derivative(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: jax.jvp(function, (x,), (jnp.ones_like(x),))[1]


def _mean(function: Callable[[Array], Array], corners: Array, nodes: int) -> Array:
    """The integral of `function` over the simplex with these corners, which lead."""
    places, weights = _simplex(len(corners) - 1, nodes)
    x = jnp.tensordot(jnp.asarray(places, corners.dtype), corners, 1, precision="highest")
    values = function(x)
    return jnp.tensordot(jnp.asarray(weights, values.dtype), values, 1, precision="highest")


_NODES, _FEWER = 6, 4  # exact for polynomials of degree 11, and of 7


@ft.cache
def _simplex(dimensions: int, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Places as means of the corners, and their weights, which sum to the simplex's volume."""
    at, lengths = np.polynomial.legendre.leggauss(nodes)
    at, lengths = (at + 1) / 2, lengths / 2
    places: list[np.ndarray] = []
    volumes: list[float] = []
    for chosen in itertools.product(range(nodes), repeat=dimensions):
        # The rest of 1 shrinks by a factor for each further corner (Duffy's coordinates).
        left = np.cumprod([1.0, *at[list(chosen)]])
        places.append(-np.diff([*left, 0.0]))
        volumes.append(float(np.prod(lengths[list(chosen)]) * np.prod(left[1:-1])))
    return np.asarray(places), np.asarray(volumes)

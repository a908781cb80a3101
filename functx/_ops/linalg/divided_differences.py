r"""Divided differences of functions of a number, also where points meet.

$f[x_0] = f(x_0)$ and $f[x_0, \dots, x_n] = (f[x_1, \dots, x_n] - f[x_0, \dots, x_{n-1}]) /
(x_n - x_0)$, of which rounding errors leave nothing where points are close. There they are means
of a derivative, $\int f^{(n)}(t_0 x_0 + \dots + t_n x_n)\, dt$ over the simplex (Hermite and
Genocchi; see de Boor, "Divided differences", 2005).
"""

from __future__ import annotations

import functools as ft
import itertools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


Function = Callable[[Array], Array]


def divided_difference(function: Function, *points: Array) -> Array:
    """`function[x_0, ..., x_n]` of real points, elementwise; they broadcast, in any order."""
    x = jnp.sort(jnp.stack(jnp.broadcast_arrays(*points)), axis=0)
    eps = jnp.finfo(x.dtype).eps
    table = function(x)
    doubt = eps * jnp.abs(x) * jnp.abs(_derivative(function)(x))
    doubt = eps * jnp.abs(table) + jnp.where(jnp.isfinite(doubt), doubt, 0)
    derivative = function
    for order in range(1, len(points)):
        derivative = _derivative(derivative)
        last = len(x) - order
        width, rise = x[order:] - x[:last], table[1:] - table[:-1]
        mean = _mean(derivative, jnp.stack([x[i : last + i] for i in range(order + 1)]))
        # The mean is better wherever it is right, of which the quotient's errors leave a doubt.
        doubt = doubt[1:] + doubt[:-1]
        error = jnp.abs(mean * width.astype(mean.dtype) - rise)
        smooth = (width == 0) | (error <= 4 * doubt)
        divisor = jnp.where(smooth, 1, width)
        table = jnp.where(smooth, mean, rise / divisor.astype(rise.dtype))
        doubt = eps * jnp.abs(table) + jnp.where(smooth, 0, doubt / divisor)
    return table[0]


def _derivative(function: Function) -> Function:
    return lambda x: jax.jvp(function, (x,), (jnp.ones_like(x),))[1]


def _mean(function: Function, corners: Array) -> Array:
    """The integral of `function` over the simplex with these corners, which lead."""
    places, weights = _simplex(len(corners) - 1)
    x = jnp.tensordot(jnp.asarray(places, corners.dtype), corners, 1, precision="highest")
    values = function(x)
    return jnp.tensordot(jnp.asarray(weights, values.dtype), values, 1, precision="highest")


_NODES = 6  # exact for polynomials of degree 11


@ft.cache
def _simplex(dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Places as means of the corners, and their weights, which sum to the simplex's volume."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    nodes, weights = (nodes + 1) / 2, weights / 2
    places: list[np.ndarray] = []
    volumes: list[float] = []
    for chosen in itertools.product(range(_NODES), repeat=dimensions):
        # What is left of 1 shrinks by a factor for each further corner (Duffy's coordinates).
        left = np.cumprod([1.0, *nodes[list(chosen)]])
        places.append(-np.diff([*left, 0.0]))
        volumes.append(float(np.prod(weights[list(chosen)]) * np.prod(left[1:-1])))
    return np.asarray(places), np.asarray(volumes)

"""Covariances and correlations of variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    as_dtype,
    category,
    compute_and_result,
    describe,
    LONG,
    operator,
    Promote,
    refuse,
    Requirement,
    result_dtype,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import at_least_zero
from functx._ops.quotients import mean, quotient


__all__ = ["corrcoef", "cov"]


def _weights_fit(*, fweights: Any, aweights: Any, **_: Any) -> Iterator[Requirement]:
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            ok = at_least_zero(weights)
            yield Requirement(ok, f"`{name}` must not be negative, got {{got}}", got=weights)
    if fweights is not None or aweights is not None:
        together = jnp.sum(_weights(fweights, aweights))
        yield Requirement(together != 0, "the weights must not sum to 0")


# The rule promotes, since the dtype of `aweights` takes part and that of `fweights` does not.
@operator(promote=Promote.NONE, accepts=Accepts.NUMBER, requires=_weights_fit)
def cov(
    input: ArrayOnly,
    *,
    correction: UnpromotedArray = 1,
    fweights: UnpromotedArray | None = None,
    aweights: UnpromotedArray | None = None,
) -> Array:
    r"""Covariances of the variables in the rows of `input`, whose columns are observations.

    $$C_{ij} = \frac{\sum_k w_k (x_{ik} - \mu_i) \overline{(x_{jk} - \mu_j)}}{\max(0, N)}, \quad
    \mu_i = \frac{\sum_k w_k x_{ik}}{W}, \quad N = W - c \frac{\sum_k w_k a_k}{W}$$

    $w = f a$, and $W$ is the sum of $w$.

    - `correction`: $c$, an integer; 1 by default.
    - `fweights`: $f$, how often each observation was made, integers; 1 each if it is `None`.
    - `aweights`: $a$, how much each observation counts, floating; 1 each if it is `None`.

    Shapes: `[n, m] -> [n, n]`, weights `[m]`; one variable, `[1, m]`, `[m]` or `[]`, gives a
    number.
    Dtypes: integers give the default dtype; `aweights` take part in promotion.
    Errors: RuntimeError for weights that are negative, or sum to 0; TypeError for bools.

    >>> functx.cov(jnp.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], "float32"))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    rows = _rows(input)
    correction = jnp.asarray(correction)
    if correction.ndim or category(correction.dtype) != 1:
        refuse(f"`correction` must be an integer, got {describe(correction)}", error=TypeError)
    if fweights is not None:
        fweights = _checked("fweights", jnp.asarray(fweights), rows, 1, "integers")
    if aweights is not None:
        aweights = _checked("aweights", jnp.asarray(aweights), rows, 2, "floating")
    common = result_dtype([rows] if aweights is None else [rows, aweights])
    compute, result = compute_and_result(Promote.INT_TO_FLOAT, common)
    if aweights is not None:
        real = jnp.finfo(compute).dtype
        aweights = aweights.astype(real)
    rows = rows.astype(compute)
    return _covariance(rows, correction, fweights, aweights).astype(result)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.NUMBER)
def corrcoef(input: ArrayOnly) -> Array:
    r"""Correlation coefficients of the variables in the rows of `input`.

    They are $C_{ij} / \sqrt{C_{ii} C_{jj}}$, where $C$ is `functx.cov(input)`. Each part is clipped
    to [-1, 1]; beside a constant row it is NaN.

    Shapes: `[n, m] -> [n, n]`; one variable, `[1, m]`, `[m]` or `[]`, gives a number.
    Dtypes: integers give the default dtype. Errors: TypeError for bools.

    >>> functx.corrcoef(jnp.asarray([[0.0, 1.0, 2.0], [6.0, 4.0, 2.0]], "float32"))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    covariance = _covariance(_rows(input), jnp.asarray(1), None, None)
    if covariance.ndim == 0:
        return quotient(covariance, covariance)
    variance = jnp.real(jnp.diagonal(covariance))
    constant = variance == 0
    deviation = lax.sqrt(jnp.where(constant, 1, variance))  # no factor in other derivatives
    for dims in ((0,), (1,)):
        by = lax.broadcast_in_dim(deviation, covariance.shape, dims)
        covariance = quotient(covariance, by)
    covariance = jnp.where(constant | constant[:, None], jnp.nan, covariance)
    if category(covariance.dtype) == 3:
        return lax.complex(_clipped(lax.real(covariance)), _clipped(lax.imag(covariance)))
    return _clipped(covariance)


def _rows(input: Array) -> Array:
    if input.ndim > 2:
        refuse(f"`input` must have at most 2 dimensions, got {describe(input)}")
    return input if input.ndim == 2 else input.reshape(1, -1)


def _checked(name: str, weights: Array, rows: Array, kind: int, words: str) -> Array:
    if category(weights.dtype) != kind:
        refuse(f"`{name}` must be {words}, got {describe(weights)}", error=TypeError)
    if weights.ndim > 1 or weights.size != rows.shape[1]:
        refuse(f"`{name}` must have shape [{rows.shape[1]}], got {describe(weights)}")
    return weights.reshape(-1)


def _weights(fweights: Any, aweights: Any) -> Array:
    """The product of those weights that are given."""
    if aweights is None:
        return fweights.astype(as_dtype(LONG))
    return aweights if fweights is None else fweights.astype(aweights.dtype) * aweights


def _covariance(rows: Array, correction: Array, fweights: Any, aweights: Any) -> Array:
    if fweights is None and aweights is None:
        off = rows - mean(rows, (1,), keepdims=True)
        count, weighted = jnp.asarray(rows.shape[1]), off
    else:
        weights = _weights(fweights, aweights)
        count, weights = jnp.sum(weights), weights.astype(rows.dtype)[None]
        off = rows - quotient(jnp.sum(rows * weights, 1, keepdims=True), count)
        weighted = off * weights
    real = jnp.finfo(rows.dtype).dtype
    left = count.astype(real)
    lost = correction.astype(real)
    if aweights is not None:
        share = jnp.sum(_weights(fweights, aweights) * aweights)
        lost = lost * quotient(share.astype(real), left)
    left = left - lost
    products = jnp.matmul(off, jnp.conj(weighted).T)
    out = quotient(products, jnp.where(left > 0, left, 0))
    return jnp.squeeze(out) if rows.shape[0] == 1 else out


def _clipped(x: Array) -> Array:
    """`x` clipped to [-1, 1], with the slope of the inside at the ends."""
    return jnp.where(x > 1, 1, jnp.where(x < -1, -1, x)).astype(x.dtype)

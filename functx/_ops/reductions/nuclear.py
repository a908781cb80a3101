"""The nuclear norm, differentiable to any order wherever it is smooth.

The derivative of singular vectors is infinite where singular values are equal, that of the norm is
not. With the polar decomposition $A = P H$ the latter is the inner product with $P$, and $P$
changes by the solution of a Lyapunov equation (Higham, Functions of Matrices, section 8.2).
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category, known
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.linalg.full_precision import product
from functx._ops.linalg.matrix_arguments import nan_beside_infinities


def nuclear_norm(matrix: Array) -> Array:
    """Sum of the singular values. Shapes: `[..., m, n] -> [...]`."""
    if 0 in matrix.shape[-2:]:
        return jnp.sum(jnp.abs(matrix), axis=(-2, -1))
    if not known(*matrix.shape[-2:]):
        # Rows of zeros do not change the norm, and make the matrix tall.
        more = [(0, 0)] * (matrix.ndim - 2) + [(0, matrix.shape[-1]), (0, 0)]
        return _nuclear_norm(jnp.pad(matrix, more))
    tall = matrix.shape[-2] >= matrix.shape[-1]
    return _nuclear_norm(matrix if tall else _adjoint(matrix))


def _adjoint(x: Array) -> Array:
    x = jnp.swapaxes(x, -1, -2)
    return lax.conj(x) if category(x.dtype) == 3 else x


def _hermitian(x: Array) -> Array:
    return (x + _adjoint(x)) / 2


def _inner(x: Array, y: Array) -> Array:
    if category(x.dtype) == 3:
        return jnp.sum(lax.real(x) * lax.real(y) + lax.imag(x) * lax.imag(y), axis=(-2, -1))
    return jnp.sum(x * y, axis=(-2, -1))


def _singular_value_sum(matrix: Array) -> Array:
    return jnp.sum(jnp.linalg.svd(nan_beside_infinities(matrix), compute_uv=False), axis=-1)


def _unitary_factor(matrix: Array) -> Array:
    u, _, vh = jnp.linalg.svd(nan_beside_infinities(matrix), full_matrices=False)
    return product(u, vh)


def _lyapunov_solution(a: Array, c: Array) -> Array:
    """The Hermitian `x` with `a x + x a = c`, for a positive `a`; 0 in the kernel of `a`."""
    values, vectors = jnp.linalg.eigh(a, symmetrize_input=False)
    sums = values[..., :, None] + values[..., None, :]
    least = jnp.finfo(values.dtype).eps * a.shape[-1] * jnp.max(jnp.abs(values), -1)
    kernel = sums <= least[..., None, None]
    inside = product(_adjoint(vectors), c, vectors) / jnp.where(kernel, 1, sums).astype(c.dtype)
    return product(vectors, jnp.where(kernel, 0, inside), _adjoint(vectors))


def _lyapunov_jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
    (a, _), (da, dc) = primals, tangents
    return _lyapunov(a, dc - product(da, output) - product(output, da))


def _lyapunov_vjp(primals: tuple, output: Array, cotangent: Array) -> tuple[Array, Array]:
    y, x = _lyapunov(primals[0], jnp.conj(cotangent)), _adjoint(output)
    return -jnp.conj(product(y, x) + product(x, y)), jnp.conj(y)


def _inverse_on_range(h: Array) -> Array:
    """The inverse of a positive matrix on its range; 0 in its kernel."""
    eye = jnp.eye(h.shape[-1], dtype=h.dtype)
    return _lyapunov_solution(h, jnp.broadcast_to(2 * eye, h.shape))


def _inverse_change(inverse: Array, direction: Array) -> Array:
    return -product(inverse, direction, inverse)


def _polar_change(matrix: Array, polar: Array, direction: Array) -> Array:
    """The derivative of the polar factor along `direction`, a self-adjoint map."""
    h = _hermitian(product(_adjoint(polar), matrix))
    inner = product(_adjoint(polar), direction)
    change = product(polar, _lyapunov(h, inner - _adjoint(inner)))
    if matrix.shape[-2] > matrix.shape[-1]:
        change += product(direction - product(polar, inner), _inverse(h))
    return change


_lyapunov = derivative_rules(_lyapunov_solution, jvp=_lyapunov_jvp, vjp=_lyapunov_vjp)

_inverse = derivative_rules(
    _inverse_on_range,
    jvp=lambda primals, output, tangents: _inverse_change(output, tangents[0]),
    vjp=lambda primals, output, cotangent: (
        jnp.conj(_inverse_change(output, jnp.conj(cotangent))),
    ),
)

_polar = derivative_rules(
    _unitary_factor,
    jvp=lambda primals, output, tangents: _polar_change(primals[0], output, tangents[0]),
    vjp=lambda primals, output, cotangent: (
        jnp.conj(_polar_change(primals[0], output, jnp.conj(cotangent))),
    ),
)

_nuclear_norm = derivative_rules(
    _singular_value_sum,
    jvp=lambda primals, output, tangents: _inner(_polar(primals[0]), tangents[0]),
    vjp=lambda primals, output, cotangent: (
        jnp.conj(_polar(primals[0])) * cotangent[..., None, None].astype(primals[0].dtype),
    ),
)

"""JAX's own functions for what operators mean, whose derivatives are JAX's.

Each takes all arguments of its operator by name, as the operator's rule does, and returns the
results that have derivatives, or None where JAX has nothing that means the same.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.scipy import special

from functx._core import available


JaxRule = Callable[..., Any]


def _of_one(f: Callable[[Any], Any]) -> JaxRule:
    """Of an operator whose other arguments are options without influence, as `inplace`."""

    def rule(**given: Any) -> Any:
        first = next(iter(given))
        return None if given.get("eps") is not None else f(given[first])

    return rule


def _of_two(f: Callable[[Any, Any], Any]) -> JaxRule:
    def rule(**given: Any) -> Any:
        x, y, *_ = given.values()
        return None if given.get("rounding_mode") is not None else f(x, y)

    return rule


def _extreme(reduced: Callable[..., Any], input: Any, dim: Any, keepdim: bool) -> Any:
    return reduced(input, axis=None if dim in (None, ()) else dim, keepdims=keepdim)


def _largest(input: Any, dim: Any, keepdim: bool, other: Any = None) -> Any:
    return (
        jnp.maximum(input, other) if other is not None else _extreme(jnp.max, input, dim, keepdim)
    )


def _smallest(input: Any, dim: Any, keepdim: bool, other: Any = None) -> Any:
    return (
        jnp.minimum(input, other) if other is not None else _extreme(jnp.min, input, dim, keepdim)
    )


def _aminmax(input: Any, dim: Any, keepdim: bool) -> Any:
    return [_extreme(f, input, dim, keepdim) for f in (jnp.min, jnp.max)]


def _sort(input: Any, dim: Any, descending: bool, stable: bool) -> Any:
    return jnp.sort(input, axis=dim, descending=descending) if input.ndim else None


def _topk(input: Any, k: int, dim: Any, largest: bool, sorted: bool) -> Any:
    if not input.ndim:
        return None
    at = -1 if dim is None else dim
    moved = jnp.moveaxis(input if largest else -input, at, -1)
    values = jnp.moveaxis(lax.top_k(moved, k)[0], -1, at)
    return values if largest else -values


def _kthvalue(input: Any, k: int, dim: Any, keepdim: bool) -> Any:
    if not input.ndim:
        return None
    values = jnp.take(jnp.sort(input, axis=dim), k - 1, axis=dim)
    return jnp.expand_dims(values, dim) if keepdim else values


def _median(input: Any, dim: Any, keepdim: bool) -> Any:
    q = jnp.asarray(0.5, input.dtype)
    return jnp.quantile(input, q, axis=dim, keepdims=keepdim, method="lower")


def _norm(x: Any, ord: Any, dims: Any, keepdim: bool) -> Any:
    """A norm of the elements along `dims`, by JAX's vector norm."""
    axes = range(x.ndim) if dims in (None, ()) else [dims] if isinstance(dims, int) else dims
    kept = [i for i in range(x.ndim) if i not in axes]
    flat = x.transpose(*kept, *axes).reshape(*(x.shape[i] for i in kept), -1)
    result = jnp.linalg.norm(flat, ord=ord, axis=-1)
    return jnp.expand_dims(result, tuple(axes)) if keepdim else result


def _vector_norm(x: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    return None if dtype is not None else _norm(x, ord, dim, keepdim)


def _matrix_norm(A: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if dtype is not None:
        return None
    if ord == "fro":
        return _norm(A, 2, dim, keepdim)
    return jnp.linalg.norm(A, ord=ord, axis=tuple(dim), keepdims=keepdim)


def _linalg_norm(A: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if dtype is not None:
        return None
    if ord is None:
        return _norm(A, 2, dim, keepdim)
    axes = tuple(range(A.ndim)) if dim in (None, ()) else (dim,) if isinstance(dim, int) else dim
    if len(axes) == 2:
        return _matrix_norm(A, ord, axes, keepdim, dtype)
    return None if isinstance(ord, str) else _norm(A, ord, axes, keepdim)


def _early_norm(input: Any, p: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if dtype is not None or p == "nuc":
        return None
    return _norm(input, 2 if p in ("fro", None) else p, dim, keepdim)


def _cdist(x1: Any, x2: Any, p: float, compute_mode: str) -> Any:
    return _norm(x1[..., :, None, :] - x2[..., None, :, :], p, -1 % (x1.ndim + 1), False)


def _pairwise_distance(x1: Any, x2: Any, p: float, eps: Any, keepdim: bool) -> Any:
    difference = x1 - x2 + eps
    return _norm(difference, p, difference.ndim - 1, keepdim)


def _std(input: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    ddof = 1 if correction is None else correction
    return _extreme(ft.partial(jnp.std, ddof=ddof), input, dim, keepdim)


def _std_mean(input: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    return [_std(input, dim, correction, keepdim), _extreme(jnp.mean, input, dim, keepdim)]


def _float_power(x: Any, y: Any) -> Any:
    wide = jnp.result_type(x, y, available("float64"))
    return jnp.power(x.astype(wide), y.astype(wide))


def _prod(input: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    return _extreme(jnp.prod, input, dim, keepdim) if dtype is None else None


def _cumprod(input: Any, dim: int, dtype: Any) -> Any:
    return jnp.cumprod(input, axis=dim) if dtype is None and input.ndim else None


def _scan(f: Callable[..., Any]) -> JaxRule:
    return lambda input, dim: f(input, axis=dim) if input.ndim else None


def _clamp(input: Any, min: Any, max: Any) -> Any:
    return jnp.clip(input, min, max)


def _hardtanh(input: Any, min_val: Any, max_val: Any, inplace: bool) -> Any:
    """As `jax.nn.hard_tanh`, which has no bounds to choose."""
    return jnp.where(input > max_val, max_val, jnp.where(input < min_val, min_val, input))


def _l1_loss(input: Any, target: Any, reduction: str, weight: Any, **earlier: Any) -> Any:
    if weight is not None or any(x is not None for x in earlier.values()):
        return None
    distances = jnp.abs(input - target)
    return {"mean": jnp.mean, "sum": jnp.sum, "none": lambda x: x}[reduction](distances)


def _hermitian(A: Array, UPLO: str) -> Array:
    """The matrix that one triangle stands for; as its derivative, JAX takes that of the whole."""
    half = jnp.tril(A, -1) if UPLO == "L" else jnp.triu(A, 1)
    diagonal = jnp.real(jnp.diagonal(A, axis1=-2, axis2=-1))[..., None] * jnp.eye(A.shape[-1])
    whole = half + jnp.conj(jnp.swapaxes(half, -2, -1)) + diagonal.astype(A.dtype)
    return A + lax.stop_gradient(whole - A)


def _eigh(A: Any, UPLO: str) -> Any:
    return list(jnp.linalg.eigh(_hermitian(A, UPLO)))


def _svd(A: Any, full_matrices: bool, driver: Any) -> Any:
    return list(jnp.linalg.svd(A, full_matrices=full_matrices))


def _early_svd(input: Any, some: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        return None
    U, S, Vh = jnp.linalg.svd(input, full_matrices=not some)
    return [U, S, jnp.conj(jnp.swapaxes(Vh, -2, -1))]


def _pinv(A: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    return None if atol is not None or rtol is not None or hermitian else jnp.linalg.pinv(A)


def _softplus(input: Any, beta: Any, threshold: Any) -> Any:
    return jnp.where(input * beta > threshold, input, jax.nn.softplus(input * beta) / beta)


_OF_ONE: dict[str, Callable[[Any], Any]] = {
    "abs": jnp.abs,
    "acos": jnp.arccos,
    "acosh": jnp.arccosh,
    "angle": jnp.angle,
    "asin": jnp.arcsin,
    "atanh": jnp.arctanh,
    "linalg.det": jnp.linalg.det,
    "linalg.eig": lambda A: list(jnp.linalg.eig(A)),
    "linalg.eigvals": jnp.linalg.eigvals,
    "linalg.slogdet": lambda A: list(jnp.linalg.slogdet(A)),
    "linalg.svdvals": lambda A: jnp.linalg.svd(A, compute_uv=False),
    "log": jnp.log,
    "log10": jnp.log10,
    "log1p": jnp.log1p,
    "log2": jnp.log2,
    "logdet": lambda A: jnp.linalg.slogdet(A)[1],
    "logit": special.logit,
    "msort": lambda x: jnp.sort(x, axis=0),
    "nn.functional.hardsigmoid": jax.nn.hard_sigmoid,
    "nn.functional.hardswish": jax.nn.hard_swish,
    "nn.functional.logsigmoid": jax.nn.log_sigmoid,
    "nn.functional.relu": jax.nn.relu,
    "nn.functional.relu6": jax.nn.relu6,
    "nn.functional.selu": jax.nn.selu,
    "nn.functional.softsign": jax.nn.soft_sign,
    "reciprocal": jnp.reciprocal,
    "rsqrt": lax.rsqrt,
    "sgn": jnp.sign,
    "sign": jnp.sign,
    "sinc": jnp.sinc,
    "special.entr": special.entr,
    "sqrt": jnp.sqrt,
    "square": jnp.square,
}
_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "atan2": jnp.arctan2,
    "clamp_max": jnp.minimum,
    "clamp_min": jnp.maximum,
    "div": jnp.divide,
    "float_power": _float_power,
    "fmax": jnp.fmax,
    "fmin": jnp.fmin,
    "fmod": jnp.fmod,
    "hypot": jnp.hypot,
    "logaddexp": jnp.logaddexp,
    "logaddexp2": jnp.logaddexp2,
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "pow": jnp.power,
    "remainder": jnp.remainder,
    "special.xlog1py": special.xlog1py,
    "xlogy": special.xlogy,
}
JAX_RULES: dict[str, JaxRule] = {
    **{name: _of_one(f) for name, f in _OF_ONE.items()},
    **{name: _of_two(f) for name, f in _OF_TWO.items()},
    "amax": _largest,
    "amin": _smallest,
    "aminmax": _aminmax,
    "cdist": _cdist,
    "clamp": _clamp,
    "cummax": _scan(lax.cummax),
    "cummin": _scan(lax.cummin),
    "cumprod": _cumprod,
    "dist": lambda input, other, p: _norm(input - other, p, None, False),
    "kthvalue": _kthvalue,
    "linalg.eigh": _eigh,
    "linalg.eigvalsh": lambda A, UPLO: jnp.linalg.eigh(_hermitian(A, UPLO))[0],
    "linalg.matrix_norm": _matrix_norm,
    "linalg.norm": _linalg_norm,
    "linalg.pinv": _pinv,
    "linalg.svd": _svd,
    "linalg.vector_norm": _vector_norm,
    "logsumexp": ft.partial(_extreme, jax.nn.logsumexp),
    "max": _largest,
    "median": _median,
    "min": _smallest,
    "nn.functional.celu": lambda input, alpha, inplace: jax.nn.celu(input, alpha),
    "nn.functional.elu": lambda input, alpha, inplace: jax.nn.elu(input, alpha),
    "nn.functional.hardtanh": _hardtanh,
    "nn.functional.l1_loss": _l1_loss,
    "nn.functional.leaky_relu": lambda input, negative_slope, inplace: jax.nn.leaky_relu(
        input, negative_slope
    ),
    "nn.functional.pairwise_distance": _pairwise_distance,
    "nn.functional.softplus": _softplus,
    "norm": _early_norm,
    "prod": _prod,
    "sort": _sort,
    "std": _std,
    "std_mean": _std_mean,
    "svd": _early_svd,
    "topk": _topk,
}

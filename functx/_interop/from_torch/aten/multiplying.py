"""Products, norms, transforms and decompositions under ATen's signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import OPERATORS

from .copying import cast


def einsum(equation: str, tensors: Sequence[Array], path: Any = None) -> Array:
    """A sum of products; XLA orders the products itself."""
    return OPERATORS["einsum"](equation, *tensors)


def tensordot(input: Array, other: Array, dims_self: Any, dims_other: Any) -> Array:
    """A product over pairs of dimensions."""
    return OPERATORS["tensordot"](input, other, (tuple(dims_self), tuple(dims_other)))


def mm_to(input: Array, mat2: Array, out_dtype: str) -> Array:
    """A product of matrices in a wider dtype."""
    return OPERATORS["matmul"](cast(input, out_dtype), cast(mat2, out_dtype))


def addmm_to(
    input: Array, mat1: Array, mat2: Array, out_dtype: str, beta: Any = 1, alpha: Any = 1
) -> Array:
    """A product of matrices in a wider dtype, added to `input`."""
    given = [cast(x, out_dtype) for x in (input, mat1, mat2)]
    return OPERATORS["addmm"](*given, beta=beta, alpha=alpha)


def baddbmm_to(
    input: Array, batch1: Array, batch2: Array, out_dtype: str, beta: Any = 1, alpha: Any = 1
) -> Array:
    """Products of matrices in a wider dtype, added to `input`."""
    given = [cast(x, out_dtype) for x in (input, batch1, batch2)]
    return OPERATORS["baddbmm"](*given, beta=beta, alpha=alpha)


def addmm_activation(
    input: Array, mat1: Array, mat2: Array, beta: Any = 1, alpha: Any = 1, use_gelu: bool = False
) -> Array:
    """A product added to `input`, and ReLU or GELU of it."""
    out = OPERATORS["addmm"](input, mat1, mat2, beta=beta, alpha=alpha)
    if use_gelu:
        return OPERATORS["nn.functional.gelu"](out, "tanh")
    return OPERATORS["nn.functional.relu"](out)


def add_relu(input: Array, other: Any, alpha: Any = 1) -> Array:
    """ReLU of a sum."""
    return OPERATORS["nn.functional.relu"](OPERATORS["add"](input, other, alpha=alpha))


def trilinear(
    i1: Array,
    i2: Array,
    i3: Array,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Array:
    """The product of three arrays with new dimensions, summed."""
    expanded = []
    for x, dims in ((i1, expand1), (i2, expand2), (i3, expand3)):
        for dim in sorted(dims):
            x = OPERATORS["unsqueeze"](x, dim)
        expanded.append(x)
    product = OPERATORS["mul"](OPERATORS["mul"](expanded[0], expanded[1]), expanded[2])
    return OPERATORS["sum"](product, tuple(sumdim)) if sumdim else product


def grouped_mm(
    input: Array,
    mat2: Array,
    offs: Array | None = None,
    bias: Array | None = None,
    out_dtype: str | None = None,
) -> Array:
    """Products of groups of rows."""
    return OPERATORS["nn.functional.grouped_mm"](
        input, mat2, offs=offs, bias=bias, out_dtype=out_dtype
    )


def frobenius_norm(input: Array, dim: Sequence[int] = (), keepdim: bool = False) -> Array:
    """The root of the sum of squares."""
    return OPERATORS["linalg.vector_norm"](input, 2, tuple(dim) or None, keepdim)


def nuclear_norm(input: Array, dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Array:
    """The sum of singular values."""
    return OPERATORS["linalg.matrix_norm"](input, "nuc", tuple(dim), keepdim)


def vector_norm(
    input: Array,
    p: Any = 2,
    dim: Sequence[int] = (),
    keepdim: bool = False,
    dtype: str | None = None,
) -> Array:
    """The norm of all elements, or along dimensions."""
    p = 2 if p is None else p
    return OPERATORS["linalg.vector_norm"](input, p, tuple(dim) or None, keepdim, dtype=dtype)


def power_sum(
    input: Array,
    ord: Any = 2,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> Array:
    """The sum of powers of absolute values."""
    powers = OPERATORS["pow"](OPERATORS["abs"](input), ord)
    return OPERATORS["sum"](powers, None if dim is None else tuple(dim), keepdim, dtype=dtype)


def matrix_rank(input: Array, tol: Any, hermitian: bool = False) -> Array:
    """The rank of matrices by an absolute tolerance."""
    return OPERATORS["linalg.matrix_rank"](input, atol=tol, rtol=0.0, hermitian=hermitian)


def variance(name: str, input: Array, unbiased: bool, dim: Any, keepdim: bool) -> Any:
    """A variance or deviation by the older option."""
    dim = None if dim is None else tuple(dim) or None
    return OPERATORS[name](input, dim, correction=int(unbiased), keepdim=keepdim)


def var(input: Array, unbiased: bool = True, dim: Any = None, keepdim: bool = False) -> Array:
    """The variance by the older option."""
    return variance("var", input, unbiased, dim, keepdim)


def std(input: Array, unbiased: bool = True, dim: Any = None, keepdim: bool = False) -> Array:
    """The standard deviation by the older option."""
    return variance("std", input, unbiased, dim, keepdim)


def var_mean(input: Array, unbiased: bool = True, dim: Any = None, keepdim: bool = False) -> Any:
    """The variance by the older option, and the mean."""
    return variance("var_mean", input, unbiased, dim, keepdim)


def std_mean(input: Array, unbiased: bool = True, dim: Any = None, keepdim: bool = False) -> Any:
    """The standard deviation by the older option, and the mean."""
    return variance("std_mean", input, unbiased, dim, keepdim)


def distances(x1: Array, x2: Array, p: float = 2.0, compute_mode: int | None = None) -> Array:
    """Distances of all pairs; how they are computed is functx's choice."""
    return OPERATORS["cdist"](x1, x2, p)


def distances_of_rows(input: Array, p: float = 2.0) -> Array:
    """Distances of all pairs of rows."""
    return OPERATORS["pdist"](input, p)


_NORMS = {0: ("backward", "forward"), 1: ("ortho", "ortho"), 2: ("forward", "backward")}


def fft_of_real(input: Array, dim: Any, normalization: int, onesided: bool) -> Array:
    """The Fourier transform of real numbers; 0, 1 and 2 are scalings by 1, root n and n."""
    operator = OPERATORS["fft.rfftn" if onesided else "fft.fftn"]
    return operator(input, dim=tuple(dim), norm=_NORMS[normalization][0])


def fft_to_real(input: Array, dim: Any, normalization: int, last_dim_size: Any) -> Array:
    """The inverse transform to real numbers."""
    sizes = [input.shape[d] for d in dim[:-1]] + [last_dim_size]
    norm = _NORMS[normalization][1]
    return OPERATORS["fft.irfftn"](input, tuple(sizes), tuple(dim), norm)


def fft_of_complex(input: Array, dim: Any, normalization: int, forward: bool) -> Array:
    """The Fourier transform, or its inverse."""
    norm = _NORMS[normalization][0 if forward else 1]
    return OPERATORS["fft.fftn" if forward else "fft.ifftn"](input, dim=tuple(dim), norm=norm)


def short_time(input: Array, n_fft: int, **options: Any) -> Array:
    """The Fourier transforms of windows, none of which reaches beyond the ends."""
    return OPERATORS["stft"](input, n_fft, center=False, **options)


def svd(
    A: Array, full_matrices: bool = False, compute_uv: bool = True, driver: str | None = None
) -> tuple[Array, Array, Array]:
    """Singular values and vectors."""
    return OPERATORS["linalg.svd"](A, full_matrices)


def eigh(A: Array, UPLO: str = "L", compute_v: bool = True) -> tuple[Array, Array | None]:
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    if not compute_v:
        return OPERATORS["linalg.eigvalsh"](A, UPLO), None
    return OPERATORS["linalg.eigh"](A, UPLO)


def det(A: Array) -> tuple[Array, None, None]:
    """The determinant."""
    return OPERATORS["linalg.det"](A), None, None


def slogdet(A: Array) -> tuple[Array, Array, None, None]:
    """The sign and the logarithm of the determinant."""
    return (*OPERATORS["linalg.slogdet"](A), None, None)


def solve(
    A: Array, B: Array, left: bool = True, check_errors: bool = False
) -> tuple[Array, None, None, Array]:
    """The solution of linear systems, and where there is none."""
    result, info = OPERATORS["linalg.solve_ex"](A, B, left=left, check_errors=check_errors)
    return result, None, None, info


def lu_and_info(
    input: Array, pivot: bool = True, check_errors: bool = True
) -> tuple[Array, Array, Array]:
    """The LU factors, packed."""
    return OPERATORS["linalg.lu_factor_ex"](input, pivot=pivot, check_errors=check_errors)


def cholesky_solve(input: Array, A: Array, upper: bool) -> Array:
    """The solution of a system of which there is the Cholesky factor."""
    return OPERATORS["cholesky_solve"](input, A, upper)


def linear_combination(input: Array, coefficients: Array) -> Array:
    """Sums of `input`'s slices by rows of coefficients."""
    return jnp.tensordot(coefficients, input, 1)

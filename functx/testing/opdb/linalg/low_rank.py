"""Samples of singular value decompositions of low rank.

The matrices have the rank that is asked for, or less: what is found then depends on no draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, FixedSizes, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import FACTORED

from .orthonormal import gram


def of_rank(make: Make, rank: int, *shape: int, centered: bool = False) -> np.ndarray:
    """Matrices with distinct singular values, `rank` of them; centered, columns have mean 0."""
    A = np.asarray(make.matrix(*shape)).astype(np.result_type(make.dtype, np.float64))
    A = A - A.mean(-2, keepdims=True) if centered else A
    U, S, Vh = np.linalg.svd(A, full_matrices=False)
    return (U[..., :rank] * S[..., None, :rank]) @ Vh[..., :rank, :]


def svd_samples(make: Make) -> Iterator[Sample]:
    mean = np.asarray(make(4))
    yield call(make.put(of_rank(make, 2, 3, 4) + mean), q=2, niter=0, M=make.put(mean))
    yield call(make.matrix(2, 3))
    yield call(make.put(of_rank(make, 2, 4, 3)), 2, 1)
    yield call(make.put(of_rank(make, 6, 8, 7)))
    yield edge(make.put(of_rank(make, 6, 2, 7, 8)), None, None)
    yield call(make.matrix(3, 2), 0)
    yield call(make.matrix(0, 2))


def pca_samples(make: Make) -> Iterator[Sample]:
    yield call(make.put(of_rank(make, 2, 3, 4, centered=True) + np.asarray(make(4))), 2, niter=0)
    yield call(make.matrix(3, 2), center=False)
    yield call(make.put(of_rank(make, 1, 3, 2, centered=True) + np.asarray(make(2))), 1, True, 1)
    yield call(make.put(of_rank(make, 6, 7, 8, centered=True) + np.asarray(make(8))))
    yield edge(make.put(of_rank(make, 4, 7, 8, centered=True) + np.asarray(make(8))))
    yield edge(make.put(of_rank(make, 1, 2, 3, 2)), q=1, center=False)
    yield call(make.matrix(3, 2), 0)
    yield call(make.matrix(0, 2))


def svd_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    yield Refusal(call(make(4, 3), -1), "`q` must not be negative, got -1", ValueError)
    for shape in [(4,), (1, 4, 3), (2, 3)]:
        yield Refusal(call(make(4, 3), M=make(*shape)), r"`M` must broadcast to f\d\d\[4,3\]")
    at = call(make(4, 3, dtype="float32"), M=make(4, 3, dtype="float64"))
    yield Refusal(at, "must have the same dtype", TypeError)


def pca_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    for q in (-1, 4):
        words = rf"`q` must be between 0 and 3, as `A` is f\d\d\[4,3\], got {q}"
        yield Refusal(call(make(4, 3), q), words, ValueError)
    at = call(make(4, 3), niter=-1)
    yield Refusal(at, "`niter` must not be negative, got -1", ValueError)


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., m, n\], got f\d\d\[3\]")
    for dtype in ("bfloat16", "int32"):
        at = call(make(4, 3, dtype=dtype))
        yield Refusal(at, "expected float32, float64, complex64 or complex128 arrays", TypeError)
    at = call(make(4, 3), 1, niter=2**31)
    yield Refusal(at, r"`niter` must be less than 2\*\*31, got 2147483648", ValueError)
    yield Refusal(call(make(4, 3), 2.0), "`q` must be an int or None, got 2.0", TypeError)
    yield Refusal(call(make(4, 3), key=0), "`key` must be a PRNG key, got", TypeError)


def np_svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:
    U, S, Vh = np.linalg.svd(A if M is None else A - M, full_matrices=False)
    k = min(6 if q is None else q, *A.shape[-2:])
    return U[..., :k], S[..., :k], np.swapaxes(Vh, -1, -2).conj()[..., :k]


def np_pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    return np_svd_lowrank(A, q, M=A.mean(-2, keepdims=True) if center else None)


def spanned(out: Any) -> Any:
    """What is determined: singular values, and products in which phases and null vectors cancel."""
    U, S, V = out
    scaled = U * S.astype(U.dtype)[..., None, :]
    return scaled @ V.conj().mT, S, scaled @ U.conj().mT, gram(U), gram(V)


def of_the_draw(A: Any, q: int, niter: int) -> Any:
    """The singular values that are found with a known key in a tall matrix."""
    draw = np.asarray(jax.random.normal(jax.random.key(7), (A.shape[-1], q), A.dtype))
    Q = np.linalg.qr(np.linalg.matrix_power(A @ A.T, niter) @ A @ draw)[0]
    return np.linalg.svd(Q.T @ A, compute_uv=False)


def svd_conventions(make: Make) -> Iterator[Convention]:
    A = np.asarray([[2, 1, 0], [1, 3, 1], [0, 1, 1], [1, 0, 2]], np.float64)
    for niter in (0, 1, 2):
        found = (None, of_the_draw(A, 2, niter), None)
        at = call(make.put(A), 2, niter)
        yield Convention(f"the subspace after {niter} steps", at, value=found, ulps=64)
    yield from leading_values(make)
    u, v = np.asarray([[0.6], [0], [0.8]]), np.asarray([0.8, -0.6])
    slope = 1e-4 * u * v
    at = call(make.put(slope + 2e-5), 1, 0, make.put(np.full((3, 2), 2e-5)))
    small = "small numbers, equal ones in `M`"
    yield Convention(
        small,
        at,
        value=(None, [1e-4], None),
        through=lambda out: out.S,
        gradient=(u * v, -u * v),
        floor=1e-11,
    )
    yield infinite(make)


def pca_conventions(make: Make) -> Iterator[Convention]:
    A = np.asarray([[2, 1, 0], [1, 3, 1], [0, 1, 1], [1, 0, 2]], np.float64)
    for center in (True, False):
        found = (None, of_the_draw(A - center * A.mean(0), 1, 0), None)
        at = call(make.put(A), 1, center, 0)
        yield Convention(f"the subspace, center={center}", at, value=found, ulps=64)
    u, v = np.asarray([[-1], [1]]) / 2**0.5, np.asarray([1, -0.5]) / 1.25**0.5
    yield Convention(
        "small numbers, equal ones",
        call(make.put([[1e-4, 2e-4], [3e-4, 1e-4]]), 1, niter=0),
        value=(None, [2.5**0.5 * 1e-4], None),
        through=lambda out: out.S,
        gradient=u * v,
        floor=1e-11,
    )
    yield infinite(make)


def leading_values(make: Make) -> Iterator[Convention]:
    """Their derivative is u v^H, whatever the rest of the sample is."""
    for what, A, U, V in [
        (
            "one row many times",
            np.outer([2, 4, 4], [3, 0, 4, 0]),
            [1 / 3, 2 / 3, 2 / 3],
            [0.6, 0, 0.8, 0],
        ),
        ("one element", np.diag([3, 0, 0]), [1, 0, 0], [1, 0, 0]),
    ]:
        yield Convention(
            f"the rank is less than `q`, {what}",
            call(make.put(A), 2, 1),
            through=lambda out: out.S[0],
            gradient=np.outer(U, V),
            floor=1e-14,
            departure="PyTorch divides by what is 0 or rounding alone",
        )


def infinite(make: Make) -> Convention:
    at = call(make.put([[1, np.inf, 2], [0, 1, 0], [1, 1, 1]]), 2)
    return Convention(
        "infinities", at, holds=lambda out: jnp.isnan(out.S), departure="PyTorch refuses"
    )


SIDES = FixedSizes(
    "A",
    "the smaller side is sampled, unless there is nothing to leave out: the order of m, n and q "
    "decides what is drawn, and the results' sizes",
    dims=(-2, -1),
)

OPS = [
    OpInfo(
        functx.svd_lowrank,
        svd_samples,
        np_svd_lowrank,
        svd_refusals,
        gauge=spanned,
        tolerances=(FACTORED,),
        conventions=svd_conventions,
        fixed_sizes=(SIDES,),
        kinked=True,
    ),
    OpInfo(
        functx.pca_lowrank,
        pca_samples,
        np_pca_lowrank,
        pca_refusals,
        gauge=spanned,
        tolerances=(FACTORED,),
        conventions=pca_conventions,
        fixed_sizes=(SIDES,),
        kinked=True,
    ),
]

"""Samples of eigenvalues and eigenvectors of matrices that are not Hermitian."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.linalg import LinAlgError
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED

from .square_matrices import square_refusals


def near(make: Make, matrix: Any, *batch: int) -> jax.Array:
    """Matrices whose eigenvalues are far apart, as those of `matrix` are."""
    n = len(matrix)
    return make(*batch, n, n, low=-0.3, high=0.3) + make.put(matrix)


def samples(make: Make) -> Iterator[Sample]:
    yield call(near(make, np.diag([1, 3, -4])))
    yield call(near(make, [[1, -2], [2, 1]]))  # real matrices have a conjugate pair
    yield call(near(make, [[2, 3, 0], [-3, 2, 0], [0, 0, -1]], 2))
    yield call(near(make, [[2]]))
    yield call(make(0, 0))
    yield call(make(2, 0, 0))
    yield call(make(0, 2, 2))


def in_order(values: jax.Array) -> jax.Array:
    """Positions of eigenvalues by size; of a conjugate pair, the upper one first."""
    return jnp.argsort(values.real - values.imag / 3, axis=-1)


def ordered(values: jax.Array) -> jax.Array:
    return jnp.take_along_axis(values, in_order(values), -1)


def projectors(out: Any) -> Any:
    """Eigenvalues in order, and for each what projects onto its vector, of which no phase is."""
    values, vectors = out
    vectors = jnp.take_along_axis(vectors, in_order(values)[..., None, :], -1)
    return ordered(values), jnp.einsum("...ik,...jk->...kij", vectors, vectors.conj())


def np_eig(A: Any) -> Any:
    return tuple(np.linalg.eig(A.astype(np.result_type(A, "complex64"))))


def np_eigvals(A: Any) -> Any:
    return np.linalg.eigvals(A.astype(np.result_type(A, "complex64")))


def refusals(make: Make) -> Iterator[Refusal]:
    yield from square_refusals(make)
    for value in (np.nan, np.inf):
        at = call(make.put([np.eye(2), [[1, value], [0, 1]]]))
        yield Refusal(at, "`A` must be finite, which matrix 1 is not", LinAlgError)


def eig_conventions(make: Make) -> Iterator[Convention]:
    twice = call(make.put(np.eye(2)))
    values = lambda out: out[0].real
    yield Convention("values that coincide", twice, through=values, gradient=np.eye(2))
    sizes = lambda out: abs(out[1])[0, 0]
    nowhere = np.full((2, 2), np.nan)
    yield Convention("their vectors", twice, through=sizes, gradient=nowhere)
    lengths = lambda out: (abs(out[1]) ** 2).sum()
    at = call(make.put([[1, 2], [3, 5]]))
    yield Convention("lengths are 1", at, through=lengths, gradient=np.zeros((2, 2)), floor=1e-13)


def eigvals_conventions(make: Make) -> Iterator[Convention]:
    at, real = call(make.put(np.eye(2))), lambda values: values.real
    yield Convention("values that coincide", at, through=real, gradient=np.eye(2))
    at = call(make.put([[1, 2], [3, 5]]))
    yield Convention("their sum", at, through=real, gradient=np.eye(2), floor=1e-13)


_REASON = "XLA decomposes matrices that need not be Hermitian on CPUs and GPUs, not on TPUs"
ON_TPUS = tuple(Gap(check, _REASON) for check in ("lowers_tpu", "composed_lowers_tpu"))

OPS = [
    OpInfo(
        functx.linalg.eig,
        samples,
        np_eig,
        refusals,
        gauge=projectors,
        tolerances=(FACTORED,),
        conventions=eig_conventions,
        gaps=ON_TPUS,
    ),
    OpInfo(
        functx.linalg.eigvals,
        samples,
        np_eigvals,
        refusals,
        gauge=ordered,
        tolerances=(FACTORED,),
        conventions=eigvals_conventions,
        gaps=ON_TPUS,
    ),
]

"""Samples of eigenpairs at one end of the spectrum.

Where a step's subspace is not the whole space, there are so many that nothing is left to be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import FACTORED

from .square_matrices import square_refusals


VALUES = [9, 5, 2, -1, -4, -8, 0]
UNTIL_FOUND: dict[str, Any] = {"tol": 0.0, "niter": 60}


def near(make: Make, values: Any, *batch: int) -> jax.Array:
    """Hermitian matrices with eigenvalues near these."""
    n = len(values)
    off = make(*batch, n, n, low=-0.3, high=0.3)
    return off + off.conj().mT + make.put(np.diag(values))


def samples(make: Make) -> Iterator[Sample]:
    yield call(near(make, VALUES[:3]))
    yield call(near(make, VALUES, 2), 2, near(make, [3] * 7, 2), largest=False, **UNTIL_FOUND)
    yield call(near(make, VALUES[:6]), 1, n=2, method="basic")
    yield call(make(0, 3, 3))


def samples_with_start(make: Make) -> Iterator[Sample]:
    yield call(near(make, VALUES[:3]), X=make(3, 1))
    A, B, inverse = (near(make, values, 2) for values in (VALUES, [3] * 7, [4] * 7))
    yield call(A, 1, B, make(2, 7, 2), 5, inverse, 60, 0.0, False, "ortho")
    yield edge(near(make, VALUES[:3]), X=make(3, 1), iK=near(make, [4, 6, 5]), niter=2)


def np_lobpcg(A: Any, k: Any = None, B: Any = None, X: Any = None, *args: Any, **options: Any):
    """Exact, but after two subspaces where there are no more; `largest` is the ninth parameter."""
    k = (1 if X is None else X.shape[-1]) if k is None else k
    largest = options.get("largest", args[4] if len(args) > 4 else None) is not False
    B = np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype) if B is None else B, A.shape)
    if options.get("niter") == 2:
        return np_second_step(A, X, options["iK"])
    real = np.zeros((), A.dtype).real.dtype
    values = np.zeros((*A.shape[:-2], k), real)
    vectors = np.zeros((*A.shape[:-1], k), A.dtype)
    for i in np.ndindex(A.shape[:-2]):
        w, V = scipy.linalg.eigh(*((M[i] + M[i].conj().T) / 2 for M in (A, B)))
        order = np.argsort(-w if largest else w)[:k]
        values[i], vectors[i] = w[order], V[:, order]
    return values, vectors


def np_second_step(A: Any, X: Any, iK: Any) -> Any:
    """The greatest Ritz pair between a vector and its residual, preconditioned."""
    x = X / np.linalg.norm(X)
    residual = A @ x - x * (x.conj().T @ A @ x)
    basis = np.linalg.qr(np.concatenate([x, iK @ residual], 1))[0]
    w, C = np.linalg.eigh(basis.conj().T @ A @ basis)
    return w[-1:], basis @ C[:, -1:]


def projectors(out: Any) -> Any:
    """Eigenvalues, and for each what projects onto its vector, of which no phase is."""
    values, vectors = out
    return values, jnp.einsum("...ik,...jk->...kij", vectors, vectors.conj())


def refusals(make: Make) -> Iterator[Refusal]:
    yield from square_refusals(make)
    A = make(6, 6)
    few = "`k` must be between 1 and n, and `A` have 3 n rows or more, got "
    yield Refusal(call(make(2, 2)), few + r"k=1, n=1 and f\d\d\[2,2\]", ValueError)
    yield Refusal(call(A, 3), few + "k=3, n=3", ValueError)
    yield Refusal(call(A, 0), few + "k=0, n=0", ValueError)
    yield Refusal(call(A, 2, n=1), few + "k=2, n=1", ValueError)
    yield Refusal(call(A, 3, X=make(6, 2)), few + "k=3, n=2", ValueError)
    wrong = ("B", make(5, 5)), ("iK", make(6)), ("X", make(5, 2)), ("B", make(2, 6, 6))
    for name, given in wrong:
        at = call(A, **{name: given})
        yield Refusal(at, rf"`{name}` must fit \[6, \d\], got f\d\d\[")
    for niter in (-2, 2**31):
        yield Refusal(call(A, niter=niter), "`niter` must lie between -1 and", ValueError)
    at = call(A, method="power")
    yield Refusal(at, '`method` must be "ortho", "basic" or None, got \'power\'', ValueError)
    yield Refusal(call(A, tracker=print), "`tracker` must be None", TypeError)
    yield Refusal(call(A, ortho_iparams={}), "`ortho_iparams` must be None", TypeError)
    yield Refusal(call(A, ortho_fparams={}), "`ortho_fparams` must be None", TypeError)
    yield Refusal(call(A, ortho_bparams={}), "`ortho_bparams` must be None", TypeError)


def conventions(make: Make) -> Iterator[Convention]:
    draw = np.asarray(jax.random.normal(jax.random.key(7), (3, 1), "float64"))
    A = np.diag([4.0, 1.0, 0.0])
    found = float((draw.T @ A @ draw)[0, 0] / (draw.T @ draw)[0, 0])
    at = call(make.put(A), niter=0)
    yield Convention("what is drawn", at, value=([found], None), ulps=64)
    A = 1e-4 * np.asarray([[4.0, 1, 2], [1, -3, 1], [2, 1, 2]])
    B = 1e-4 * np.asarray([[5.0, 1, 1], [1, 3, 2], [1, 2, 4]])
    greatest = scipy.linalg.eigh(A, B)[0][-1:]
    at = call(make.put(A), None, make.put(B))
    yield Convention("small numbers", at, value=(greatest, None), ulps=64)


def start_conventions(make: Make) -> Iterator[Convention]:
    A, start = make.put(np.diag([4.0, 1.0, 0.0])), make.put([[1.0], [1.0], [0.0]])
    at = call(A, X=start, niter=-1, tol=1e-12)
    yield Convention("no bound", at, value=([4], None), ulps=64)
    for what, options, departure in (
        ("no step", {"niter": 0}, "PyTorch counts from there past 0, and has no bound"),
        ("a loose tolerance", {"tol": 0.5}, "PyTorch first looks with eigenvalues of 0"),
    ):
        at = call(A, X=start, **options)
        yield Convention(what, at, value=([2.5], None), departure=departure)
    inverse = make.put([[0.0, 0, 0], [0, 0, 0], [0, 1, 0]])
    at = call(make.put([[4.0, 0, 1], [0, 1, 0], [1, 0, 0]]), X=start, iK=inverse, niter=2)
    found = (2.5 + 8.25**0.5) / 2
    unheard = "PyTorch's default method takes no heed of `iK`"
    what = "a step along what `iK` gives"
    yield Convention(what, at, value=([found], None), departure=unheard)
    yield from coinciding(make)
    skewed = make.put([[4.0, 2, 0], [0, 1, 0], [0, 0, 0]])
    twice = make.put([[2.0, 1, 0], [-1, 2, 0], [0, 0, 2]])
    at = call(skewed, None, twice, start)
    found = (2.5 + 13**0.5 / 2) / 2
    yield Convention("of halves that differ, the mean", at, value=([found], None), ulps=64)


def coinciding(make: Make) -> Iterator[Convention]:
    twice = call(make.put(np.diag([5.0, 5, 1, 0, 2, 3])), X=make.put(np.eye(6)[:, :2]))
    first = np.diag([1.0, 1, 0, 0, 0, 0])
    values = lambda out: out[0]
    gradient, nan = (first, None), "PyTorch divides by differences of eigenvalues"
    what = "values that coincide"
    yield Convention(what, twice, through=values, gradient=gradient, departure=nan)


REAL = "PyTorch's eigenvalues of complex matrices are complex, or it refuses"
OWN = (
    Departure("dtype", REAL, answer="f32+c64", dtypes=frozenset({"complex64"})),
    Departure("dtype", REAL, answer="f64+c128", dtypes=frozenset({"complex128"})),
    Departure(
        "dtype",
        "PyTorch's basis breaks down at tolerance 0",
        answer="*",
        match="tol=float|int, float, False",
    ),
)


def departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "one `B` may go with several matrices",
        call(make.put(np.zeros((0, 3, 3)), "float64"), B=make.put(np.eye(3), "float64")),
        "A and B must have same shape",
    )


def start_departures(make: Make) -> Iterator[Departure]:
    A = make.put([[3.4, 0.0, -0.2], [0.0, 6.5, 0.0], [-0.2, 0.0, 9.5]], "float64")
    X = make.put([[2.6], [-0.2], [0.6]], "float64")
    iK = make.put(np.diag([2.5, 6.2, 9.3]), "float64")
    yield Departure(
        "value",
        "the first step is preconditioned like the others, in PyTorch it is not",
        call(A, X=X, iK=iK, niter=2),
        r"\biK=.*\bniter=[2-9]\b",
    )


OPS = [
    OpInfo(
        functx.lobpcg,
        samples,
        np_lobpcg,
        refusals,
        gauge=projectors,
        tolerances=(FACTORED,),
        conventions=conventions,
        departures=(*OWN, departures),
        kinked=True,
    ),
    OpInfo(
        functx.lobpcg,
        samples_with_start,
        np_lobpcg,
        variant="start",
        gauge=projectors,
        tolerances=(FACTORED,),
        conventions=start_conventions,
        departures=(*OWN, start_departures),
    ),
]

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2))
    yield call(make(2, 3), 0.5, eps=0.5, dim=-2)
    yield call(make(2), make(low=0.5, high=2))
    yield call(make(0, 2))
    yield call(make(2, 0), hard=True)
    yield edge(make(3, 2), hard=True)
    yield edge(make(2, 2), 2.0, True, 0.5, 0)


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), dim=2), r"`dim` must lie in \[-2, 1\]", IndexError)
    yield Refusal(call(make(2, dtype="int32")), "expected floating arrays", TypeError)
    yield Refusal(call(make(2), 1j), "`tau`", TypeError)


def of_two(logits: Any, tau: Any = 1.0, hard: bool = False, eps: Any = 1e-10, dim: int = -1):
    """Mean and deviation of the share of each of two categories, by quadrature.

    The difference of two Gumbel variables is logistic.
    """
    x = np.asarray(logits, "float64")
    gap = x - np.flip(x, dim)
    u = (np.arange(20000) + 0.5) / 20000
    noise = np.log(u) - np.log1p(-u)
    shares = 1 / (1 + np.exp(-(gap[..., None] + noise) / np.asarray(tau, "float64")))
    shares = shares > 0.5 if hard else shares
    return shares.mean(-1), shares.std(-1)


def sampler(rng, n, logits, tau=1.0, hard=False, eps=1e-10, dim=-1):
    if np.ndim(logits) == 0:
        return np.ones(n)
    dim = dim % np.ndim(logits) + 1
    powers = (logits + rng.gumbel(size=(n, *np.shape(logits)))) / tau
    if hard:
        return powers == powers.max(dim, keepdims=True, initial=-np.inf)
    return scipy.special.softmax(powers, dim) if powers.size else powers


def conventions(make: Make) -> Iterator[Convention]:
    x = make.put(np.zeros((4, 3)))
    for tau in (0.5, 2.0):
        sums = lambda y: jnp.abs(jnp.sum(y, -1) - 1) < 1e-6
        yield Convention(f"shares sum to 1, tau={tau}", call(x, tau), holds=sums)
    single = lambda y: jnp.abs(jnp.sum(y, -1) - 1) < 5e-7
    yield Convention("float32", call(make.put(np.zeros((4, 3)), "float32")), holds=single)
    never = call(make.put([-np.inf, 0.0]))
    yield Convention("a category that is never drawn", never, value=[0, 1])
    yield Convention("a single number", call(make.put(2.0)), value=1, gradient=0)
    near = lambda y: jnp.all(jnp.abs(jnp.sort(y, -1) - jnp.asarray([[0.0, 0.0, 1.0]])) < 1e-6)
    yield Convention("one category", call(x, hard=True), holds=near)
    noise = np.asarray(jax.random.gumbel(jax.random.key(7), (2,), "float64"))
    odds = lambda x: np.exp(x) / np.exp(x).sum()
    few = np.asarray([1e-4, 9e-4])
    yield Convention("small logits", call(make.put(few)), value=odds(few + noise))
    at = call(make.put(few - noise), make.put(5e-4))
    yield Convention("a small temperature", at, value=odds(few / 5e-4), floor=1e-11)
    warm, first = call(make.put([0.0, 0.0]), 1e4, True), lambda y: y[0]
    gradient = [2.5e-5, -2.5e-5]
    yield Convention("that of the softmax", warm, through=first, gradient=gradient, floor=1e-10)


OPS = [
    OpInfo(
        F.gumbel_softmax,
        samples,
        refusals=refusals,
        moments=of_two,
        sampler=sampler,
        conventions=conventions,
    ),
]

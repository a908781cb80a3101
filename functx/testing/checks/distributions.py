"""Draws beside those of a NumPy sampler: each element's law, and which elements go together."""

from __future__ import annotations

import functools as ft

import jax
import numpy as np
import scipy.stats

from functx.testing.opinfo import OpInfo, Sample

from .forward import expected
from .programs import CheckSteps
from .randomness import columns, DRAWS, draws_of, errors, SIGMAS


# How far two empirical distributions of so many draws may part, by the inequality of Dvoretzky,
# Kiefer, Wolfowitz and Massart for two samples: right samplers part farther once in 1e9.
APART = float(np.sqrt(np.log(2e9) / DRAWS))


def check_distribution(info: OpInfo, sample: Sample) -> CheckSteps:
    """Elements, alone and in pairs, are distributed as those of a NumPy sampler."""
    assert info.sampler is not None
    [drawn] = yield [draws_of(info, sample)]
    sampler = ft.partial(info.sampler, np.random.default_rng(1), DRAWS)
    got, want = columns(drawn), columns(expected(info, sampler, sample))
    what = f"{info.id}{sample!r}"
    assert got.shape == want.shape, f"{what}: {got.shape} numbers, the sampler's {want.shape}"
    # Where sums cancel, an element is off by ulps of the largest.
    twice = lambda e, x: e * (1 + 1j) if np.iscomplexobj(x) else e
    off = columns(jax.tree.map(twice, errors(info, sample, drawn), drawn))
    off = off + off.max(0, initial=0)
    apart = np.asarray([_apart(*each) for each in zip(got.T, want.T, off.T, strict=True)])
    assert (apart <= APART).all(), (
        f"{what}: the shares of draws up to a bound differ by {apart.max():.3g} from the "
        f"sampler's, in element {apart.argmax()} of {len(apart)}; {APART:.3g} allowed"
    )
    varies = (want.std(0) > 100 * off.max(0, initial=0)).nonzero()[0]
    (mine, spread), (theirs, their_spread) = (_correlations(x[:, varies]) for x in (got, want))
    allowed = SIGMAS * np.sqrt((spread + their_spread) / DRAWS)
    wrong = np.argwhere(np.abs(mine - theirs) > allowed)
    for i, j in wrong[:1]:
        raise AssertionError(
            f"{what}: elements {varies[i]} and {varies[j]} have the rank correlation "
            f"{mine[i, j]:.3g}, the sampler's {theirs[i, j]:.3g}"
        )


def _apart(got: np.ndarray, want: np.ndarray, off: np.ndarray) -> float:
    """The distance of Kolmogorov and Smirnov, where draws may be `off` by so much."""
    order = got.argsort()
    got, off, want = got[order], off[order], np.sort(want)
    above = got.searchsorted(got, "right") - want.searchsorted(got + off, "right")
    below = want.searchsorted(got - off, "left") - got.searchsorted(got, "left")
    return max(above.max(), below.max(), 0) / len(got)


def _correlations(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those of ranks, which every law has, and the mean squares of what they are means of."""
    ranks = scipy.stats.rankdata(draws, axis=0) - (len(draws) + 1) / 2
    deviation = ranks.std(0)
    ranks = ranks / np.where(deviation > 0, deviation, 1)
    return ranks.T @ ranks / len(ranks), (ranks**2).T @ ranks**2 / len(ranks)

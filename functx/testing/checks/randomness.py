"""Random operators: equal under equal keys, distributed as promised, mapped by key."""

from __future__ import annotations

import functools as ft
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx._core import category
from functx.testing.opinfo import OpInfo, Sample

from .compare import assert_close, closeness
from .forward import expected
from .programs import CheckProgram, CheckSteps, ProgramCall


DRAWS = 20_000
SIGMAS = 6.0  # a right sampler fails one in 5e8 elements


def check_keys(info: OpInfo, sample: Sample) -> CheckSteps:
    """Equal keys give equal numbers; `jit` and `vmap` over keys change none."""

    def draw(key: Any) -> Any:
        return info.determined(info.with_key(key)(*sample.args, **sample.kwargs))

    def ambient(key: Any) -> Any:
        with functx.random.scope(key):
            return info.determined(info.op(*sample.args, **sample.kwargs))

    what, seeds = f"{info.id}{sample!r}", np.arange(3, 6)
    seeded = lambda f: CheckProgram(lambda seed: f(jax.random.key(seed)))
    mapped = CheckProgram(lambda seeds: functx.vmap(draw)(jax.vmap(jax.random.key)(seeds)))
    one = seeded(draw)
    again = [seeded(ambient)(seeds[0]) for _ in "ab"]
    *rows, lanes, first, second = yield [*map(one, seeds), mapped(seeds), *again]
    eager = draw(jax.random.key(int(seeds[0])))
    close = closeness(info, sample)
    assert_close(rows[0], eager, what=f"jit({what})", close=close)
    want = jax.tree.map(lambda *ys: np.stack([np.asarray(y) for y in ys]), *rows)
    assert_close(lanes, want, what=f"vmap({what})", close=close)
    assert_close(second, first, what=f"{what} from the same generator", close=close)


def check_lanes(info: OpInfo, sample: Sample) -> CheckSteps:
    """`vmap(randomness=)` governs ambient draws, and chunking changes nothing."""
    what = f"{info.id}{sample!r}"

    def mapped(
        randomness: Literal["error", "different", "same"], chunk_size: int | None = None
    ) -> Any:
        def program(seed: Any) -> Any:
            draw = lambda _: info.determined(info.op(*sample.args, **sample.kwargs))
            with functx.random.scope(jax.random.key(seed)):
                lanes = functx.vmap(draw, randomness=randomness, chunk_size=chunk_size)
                return lanes(jnp.zeros(3))

        return CheckProgram(program)(np.asarray(5))

    same, different, chunked = yield [mapped("same"), mapped("different"), mapped("different", 2)]
    same = np.asarray(jax.tree.leaves(same)[0])
    close = closeness(info, sample)
    assert_close(same, np.stack([same[0]] * 3), what=f"{what}, same in each lane", close=close)
    assert_close(chunked, different, what=f"{what}, in chunks of 2", close=close)
    draws = info.draws(sample)
    try:
        yield [mapped("error")]
    except RuntimeError as error:
        assert draws, f'{what}: draws nothing, and vmap(randomness="error") says {error}'
        assert 'randomness="error"' in str(error), f"{what}: {error}"
    else:
        assert not draws, f'{what}: drew inside vmap(randomness="error")'


def check_moments(info: OpInfo, sample: Sample) -> CheckSteps:
    """Means and standard deviations of many draws are those of the distribution."""
    assert info.moments is not None
    [drawn] = yield [draws_of(info, sample)]
    draws, off = _joined(drawn, 1), _joined(errors(info, sample, drawn), 1)
    base = draws[0]  # so that large numbers keep their differences
    draws = draws - base
    mean, std = (_joined(m, 0) for m in expected(info, info.moments, sample))
    what, error = f"{info.id}{sample!r}", SIGMAS / np.sqrt(DRAWS)
    # What each draw is off by moves a mean by its mean, and a spread by its root mean square.
    got = draws.mean(0) + base
    allowed = error * std + off.mean(0)
    assert (np.abs(draws.mean(0) - (mean - base)) <= allowed).all(), (
        f"{what}: mean {got}, not {mean}"
    )
    allowed = error * std * np.sqrt(_excess(draws)) / 2 + np.sqrt((off**2).mean(0))
    assert (np.abs(draws.std(0) - std) <= allowed).all(), (
        f"{what}: standard deviation {draws.std(0)}, not {std}"
    )


def draws_of(info: OpInfo, sample: Sample) -> ProgramCall:
    """A request for many draws, along a new first dimension."""
    return _drawing(info, sample)(np.asarray(1))


@ft.lru_cache(maxsize=32)  # one for all checks that look at a sample: it is compiled once
def _drawing(info: OpInfo, sample: Sample) -> CheckProgram:
    draw = lambda key: info.with_key(key)(*sample.args, **sample.kwargs)
    return CheckProgram(lambda seed: jax.vmap(draw)(jax.random.split(jax.random.key(seed), DRAWS)))


def errors(info: OpInfo, sample: Sample, drawn: Any) -> Any:
    """What each number may be off by: what its entry allows a value of its dtype."""
    close = closeness(info, sample, computed=False)
    scale = np.max(close.scale)

    def error(x: Any) -> np.ndarray:
        ulp = float(jnp.finfo(x.dtype).eps) if category(x.dtype) >= 2 else 0.0
        return ulp * (close.ulps * np.abs(np.asarray(x, _wide(x))) + close.floor * scale)

    return jax.tree.map(error, drawn)


def columns(drawn: Any) -> np.ndarray:
    """Draws as a matrix with a column for each real number in one of them."""
    parts = [x.reshape(DRAWS, -1) for x in map(np.asarray, jax.tree.leaves(drawn))]
    real = lambda x: [x.real, x.imag] if category(x.dtype) == 3 else [x]
    return np.concatenate([y.astype(np.float64) for x in parts for y in real(x)], axis=-1)


def _wide(x: Any) -> Any:
    return np.complex128 if category(x.dtype) == 3 else np.float64


def _joined(output: Any, batch: int) -> np.ndarray:
    """An array, or several in one, with so many dimensions of a batch."""
    several = [np.asarray(x, _wide(x)) for x in jax.tree.leaves(output)]
    if len(several) == 1:
        return several[0]
    return np.concatenate([x.reshape(*x.shape[:batch], -1) for x in several], axis=-1)


def _excess(draws: np.ndarray) -> np.ndarray:
    """The kurtosis less 1: over 4 n, the relative variance of a standard deviation."""
    squares = np.abs(draws - draws.mean(0)) ** 2
    variance = squares.mean(0)
    kurtosis = (squares**2).mean(0) / np.where(variance > 0, variance, 1) ** 2
    return np.maximum(kurtosis - 1, 0)  # of a constant 0, and where rounding goes below

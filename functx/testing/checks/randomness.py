"""Random operators: equal under equal keys, distributed as promised, mapped by key."""

from __future__ import annotations

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.opinfo import OpInfo, Sample

from .compare import assert_close, closeness
from .programs import compiled


DRAWS = 4000
SIGMAS = 6.0  # a right sampler fails one in 5e8 elements


def check_keys(info: OpInfo, sample: Sample) -> None:
    """Equal keys give equal numbers, other keys others; `vmap` over keys equals a loop."""

    def draw(key: Any) -> Any:
        return info.with_key(key)(*sample.args, **sample.kwargs)

    what, keys = f"{info.id}{sample!r}", jax.random.split(jax.random.key(3), 3)
    close = closeness(info, sample)
    loop = [draw(key) for key in keys]
    assert_close(compiled(draw)(keys[0]), loop[0], what=f"jit({what})", close=close)
    want = jax.tree.map(lambda *ys: jnp.stack(ys), *loop)
    assert_close(functx.vmap(draw)(keys), want, what=f"vmap({what})", close=close)
    with functx.random.scope(jax.random.key(5)):
        first = info.op(*sample.args, **sample.kwargs)
    with functx.random.scope(jax.random.key(5)):
        again = info.op(*sample.args, **sample.kwargs)
    assert_close(again, first, what=f"{what} from the same generator")


def check_lanes(info: OpInfo, sample: Sample) -> None:
    """`vmap(randomness=)` governs ambient draws, and chunking changes nothing."""
    what = f"{info.id}{sample!r}"

    def mapped(
        randomness: Literal["error", "different", "same"], chunk_size: int | None = None
    ) -> Any:
        with functx.random.scope(jax.random.key(5)):
            draw = lambda _: info.op(*sample.args, **sample.kwargs)
            return functx.vmap(draw, randomness=randomness, chunk_size=chunk_size)(jnp.zeros(3))

    same = jax.tree.leaves(mapped("same"))[0]
    assert_close(same, jnp.stack([same[0]] * 3), what=f"{what}, same in each lane")
    different = mapped("different")
    assert_close(mapped("different", chunk_size=2), different, what=f"{what}, in chunks of 2")
    try:
        mapped("error")
    except RuntimeError as error:
        assert 'randomness="error"' in str(error), f"{what}: {error}"
    else:
        raise AssertionError(f'{what}: drew inside vmap(randomness="error")')


def check_moments(info: OpInfo, sample: Sample) -> None:
    """Means and standard deviations of many draws are those of the distribution."""
    assert info.moments is not None
    draw = lambda key: info.with_key(key)(*sample.args, **sample.kwargs)
    draws = np.asarray(compiled(jax.vmap(draw))(jax.random.split(jax.random.key(1), DRAWS)))
    if not np.iscomplexobj(draws):
        draws = draws.astype(np.float64)
    mean, std = (
        np.asarray(m)
        for m in sample.over_arrays(info.moments)(*(np.asarray(x) for x in sample.arrays()))
    )
    what, error = f"{info.id}{sample!r}", SIGMAS / np.sqrt(DRAWS)
    off = np.abs(draws.mean(0) - mean) - error * std
    assert (off <= 1e-3 * (1 + np.abs(mean))).all(), f"{what}: mean {draws.mean(0)}, not {mean}"
    spread = np.abs(draws.std(0) - std)  # kurtosis of what PyTorch offers is at most 9
    assert (spread <= 3 * error * std + 1e-3 * (1 + std)).all(), (
        f"{what}: standard deviation {draws.std(0)}, not {std}"
    )

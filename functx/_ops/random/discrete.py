"""Random integers, permutations, coin flips and categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayOnly,
    as_dtype,
    available,
    category,
    decided,
    describe,
    Device,
    DType,
    Generator,
    highest,
    is_probability,
    Key,
    known,
    LONG,
    lowest,
    operator,
    Promote,
    refuse,
    Requirement,
    Shape,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import at_least_zero
from functx._ops.creation.sizes import non_negative
from functx._ops.reductions.scanning import running_maximum, running_sum
from functx._ops.sorting.bisection import insertion_points


__all__ = ["bernoulli", "multinomial", "randint", "randint_like", "randperm"]

_MOST_CATEGORIES = 2**24


def _randint_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Reads `randint(high, size)` as `randint(0, high, size)`."""
    if len(args) == 2 and "high" not in kwargs and "size" not in kwargs:
        return (0, *args), kwargs
    if len(args) == 1 and "high" not in kwargs:
        return (0, *args), kwargs
    if not args and "low" not in kwargs:
        return args, kwargs | {"low": 0}
    return args, kwargs


@overload
def randint(
    high: int,
    size: int | Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@overload
def randint(
    low: int,
    high: int,
    size: int | Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@operator(
    accepts=Accepts.REAL_NUMBER, other_signatures=_randint_form, random=True, differentiable=False
)
def randint(
    low: int,
    high: int,
    size: Shape,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Uniform random integers from [low, high). `randint(high, size)` starts at 0.

    - `low`, `high`: the bounds, integers; `high` itself does not occur.
    - `size`: the sizes of the dimensions, a tuple.
    - `dtype`: the dtype of the result, int64 by default; it must not be complex.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes: `size`.
    Errors: RuntimeError for an empty range and for one that the dtype does not hold, TypeError for
    a complex `dtype`.

    >>> x = functx.randint(3, (2, 2), key=jax.random.key(0))
    >>> x.shape, bool((x >= 0).all() and (x < 3).all())
    ((2, 2), True)
    """
    return _integers(key, non_negative(size), low, high, as_dtype(dtype or LONG))


def _integers(key: Array, shape: tuple[int, ...], low: int, high: int, dtype: np.dtype) -> Array:
    for name, bound in (("low", low), ("high", high)):
        if not isinstance(bound, int):
            refuse(f"`{name}` must be an int, got {describe(bound)}", error=TypeError)
    if low >= high:
        refuse(f"`low` must be less than `high`, got {low} and {high}")
    if category(dtype) == 3:
        refuse(f"`dtype` must not be complex, got {dtype.name}", error=TypeError)
    floating = category(dtype) == 2
    least = float(jnp.finfo(dtype).min) if floating else int(lowest(dtype))
    most = float(jnp.finfo(dtype).max) if floating else int(highest(dtype))
    if low < least or high - 1 > most:
        hint = "functx.enable_x64() gives 64-bit integers" if dtype == np.int32 else ""
        refuse(f"`low` and `high` must fit {dtype.name}, got {low} and {high}", hint=hint)
    # 32 bits are drawn where they suffice, so that enabling 64 bit does not change the numbers.
    narrow = np.iinfo(np.int32)
    draw_in = np.int32 if narrow.min <= low and high <= narrow.max else available(LONG)
    least, most = int(lowest(draw_in)), int(highest(draw_in))
    if low < least or high - 1 > most:
        refuse(
            f"`low` and `high` must fit {np.dtype(draw_in).name}, got {low} and {high}",
            hint="functx.enable_x64() gives 64-bit integers",
        )
    return jax.random.randint(key, shape, low, high, draw_in).astype(dtype)


def _randint_like_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Reads `randint_like(input, high)` as `randint_like(input, 0, high)`."""
    if len(args) == 2 and "high" not in kwargs:
        return (args[0], 0, args[1]), kwargs
    if len(args) < 2 and "low" not in kwargs:
        return args, kwargs | {"low": 0}
    return args, kwargs


@overload
def randint_like(
    input: ArrayOnly,
    high: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@overload
def randint_like(
    input: ArrayOnly,
    low: int,
    high: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array: ...
@operator(
    promote=Promote.NONE, other_signatures=_randint_like_form, random=True, differentiable=False
)
def randint_like(
    input: ArrayOnly,
    low: int,
    high: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Uniform random integers from [low, high) in the shape of `input`.

    `randint_like(input, high)` starts at 0.

    - `low`, `high`: the bounds, integers; `high` itself does not occur.
    - `dtype`: the dtype of the result, by default that of `input`; it must not be complex.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: RuntimeError for an empty range and for one that the dtype does not hold, TypeError for
    complex dtypes.

    >>> functx.randint_like(jnp.zeros((2, 3), "float32"), 4, key=jax.random.key(0)).dtype
    dtype('float32')
    """
    return _integers(key, input.shape, low, high, as_dtype(dtype or input.dtype))


@operator(accepts=Accepts.REAL_NUMBER, random=True, differentiable=False)
def randperm(
    n: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """The integers from 0 to `n` - 1 in random order; all orders have the same chance.

    - `n`: the number of integers.
    - `dtype`: the dtype of the result, int64 by default; any real one that holds `n` integers
      apart.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes: `[n]`.
    Errors: RuntimeError for an `n` that is too large for the dtype, TypeError for bool and complex
    ones.

    >>> functx.sum(functx.randperm(5, key=jax.random.key(0))).item()
    10
    """
    non_negative((n,), "n")
    dtype = as_dtype(dtype or LONG)
    if category(dtype) not in (1, 2):
        refuse(f"`dtype` must be integer or floating, got {dtype.name}", error=TypeError)
    floating = category(dtype) == 2
    most = 2 ** (jnp.finfo(dtype).nmant + 1) if floating else int(highest(dtype))
    if n - 1 > most:
        refuse(f"`n` must not exceed what {dtype.name} tells apart, got {n}")
    return jax.random.permutation(key, lax.iota(np.int32, n)).astype(dtype)


def _are_probabilities(*, input: Any, p: Any, **_: Any) -> Iterator[Requirement]:
    name, x = ("input", input) if p is None else ("p", p)
    if category(x.dtype) < 3:
        yield is_probability(x, name)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    requires=_are_probabilities,
    random=True,
    differentiable=False,
)
def bernoulli(
    input: UnpromotedArray,
    p: UnpromotedArray | None = None,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """1 at random, with the probabilities `input` or with the one probability `p`, and 0 otherwise.

    - `input`: probabilities in [0, 1]; beside `p`, an array whose values do not matter.
    - `p`: a probability, a number or a 0-d array; by default `input` holds the probabilities.
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes and dtypes: those of `input`, which is floating unless `p` is given.
    Errors: RuntimeError for numbers outside of [0, 1], TypeError for other dtypes.

    >>> functx.bernoulli(jnp.asarray([0.0, 1.0], "float32"), key=jax.random.key(0))
    Array([0., 1.], dtype=float32)
    """
    input = jnp.asarray(input)
    if category(input.dtype) == 3 or (p is None and category(input.dtype) < 2):
        refuse(f"`input` must be floating, got {describe(input)}", error=TypeError)
    chance = input if p is None else jnp.asarray(p)
    if p is not None and (chance.ndim or category(chance.dtype) == 3):
        refuse(f"`p` must be a real number or 0-d, got {describe(chance)}", error=TypeError)
    wide = np.dtype("float64" if chance.dtype == np.float64 and p is None else "float32")
    uniform = jax.random.uniform(key, input.shape, wide)
    return (uniform < chance.astype(wide)).astype(input.dtype)


def _is_distribution(*, input: Any, **_: Any) -> Iterator[Requirement]:
    x = input
    if category(x.dtype) == 2 and x.ndim:
        ok = at_least_zero(x) & (x < np.inf)
        yield Requirement(ok, "`input` must be finite and not negative, got {got}", got=x)
        total = x.sum(-1)
        yield Requirement(total > 0, "`input` must have a positive sum, got {got}", got=total)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    requires=_is_distribution,
    random=True,
    differentiable=False,
)
def multinomial(
    input: UnpromotedArray,
    num_samples: int,
    replacement: bool = False,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Random positions, drawn with the weights `input`, which need not add up to 1.

    - `input`: weights, a vector or a matrix whose rows are drawn from separately.
    - `num_samples`: how many positions to draw from each row.
    - `replacement`: whether a position may be drawn again. Otherwise the positions of a row differ,
      and stand in the order drawn; where fewer have a positive weight than are asked for, positions
      of weight zero come last (PyTorch refuses to draw them).
    - `key`: a JAX PRNG key; without it, the ambient generator is drawn from.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes: `[n] -> [num_samples]`, `[m, n] -> [m, num_samples]`. Dtypes: int64.
    Errors: RuntimeError for weights that are negative, not finite, or all zero, and for more
    samples than positions without `replacement`.

    >>> functx.multinomial(jnp.asarray([0.0, 3.0, 0.0]), 2, True, key=jax.random.key(0)).tolist()
    [1, 1]
    """
    weights = jnp.asarray(input)
    if category(weights.dtype) != 2:
        refuse(f"`input` must be floating, got {describe(weights)}", error=TypeError)
    if weights.ndim not in (1, 2):
        refuse(f"`input` must have 1 or 2 dimensions, got {describe(weights)}")
    n = weights.shape[-1]
    if not isinstance(num_samples, int):
        refuse(f"`num_samples` must be an int, got {describe(num_samples)}", error=TypeError)
    if num_samples <= 0:
        refuse(f"`num_samples` must be positive, got {num_samples}")
    if not replacement and decided(lambda: num_samples > n, otherwise=False):
        refuse(f"`num_samples` must not exceed {n} without replacement, got {num_samples}")
    if decided(lambda: n > _MOST_CATEGORIES, otherwise=False):
        refuse(f"`input` must have at most 2^24 categories, got {n}")
    weights = weights.astype(accumulator(weights.dtype))
    draw = _with_replacement if replacement else _without_replacement
    return draw(key, weights, num_samples).astype(available(LONG))


def _without_replacement(key: Array, weights: Array, k: int) -> Array:
    # The largest of log w + Gumbel noise is drawn with the weights w; the next largest with
    # the weights that remain (Vieira, "Gumbel-max trick and weighted reservoir sampling").
    noise = jax.random.gumbel(key, weights.shape, weights.dtype)
    return lax.top_k(jnp.log(weights) + noise, k)[1]


def _with_replacement(key: Array, weights: Array, k: int) -> Array:
    n = weights.shape[-1]
    if not weights.size:
        return jnp.zeros((*weights.shape[:-1], k), np.int32)
    if 2 * k * _COLUMN > n:  # a key draws one or the other: sizes that leave it open are refused
        return _inverted(key, weights, k)
    # First columns are drawn, with their sums as weights, then one element in each.
    of_columns, inside = jax.random.split(key)
    filled = [(0, 0)] * (weights.ndim - 1) + [(0, -n % _COLUMN)]
    columns = jnp.pad(weights, filled).reshape(*weights.shape[:-1], _COLUMN, -1)
    which = _inverted(of_columns, jnp.sum(columns, axis=-2), k)
    drawn = jnp.take_along_axis(columns, which[..., None, :], axis=-1)
    at = _inverted(inside, jnp.swapaxes(drawn, -1, -2), 1)[..., 0]
    return at * columns.shape[-1] + which


_COLUMN = 128


def _inverted(key: Array, weights: Array, k: int) -> Array:
    """Draws by inversion of the cumulative sum, which makes no array of the size k times n."""
    lanes = weights.reshape(-1, weights.shape[-1])
    uniform = jax.random.uniform(key, (lanes.shape[0], k), weights.dtype)
    # Sums of blocks round otherwise than sums within blocks: they may fall, or rise at a weight 0.
    sums = jnp.where(lanes > 0, running_sum(lanes, 1), 0)
    sums = running_maximum(sums, 1)
    total = sums[:, -1:]
    at, last = _found(sums, uniform * total, "right"), _found(sums, total, "left")
    return jnp.minimum(at, last).astype(np.int32).reshape(*weights.shape[:-1], k)


def _found(sums: Array, values: Array, side: str) -> Array:
    if not known(sums.shape[-1]):
        return insertion_points(sums, values, right=side == "right")
    return jax.vmap(jnp.searchsorted, in_axes=(0, 0, None))(sums, values, side)

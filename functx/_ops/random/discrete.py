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
    highest,
    is_probability,
    Key,
    known,
    LONG,
    lowest,
    operator,
    Other,
    Promote,
    refuse,
    Requirement,
    Shape,
)
from functx._core.numbers.bitwise_comparison import at_least_zero
from functx._ops.creation.sizes import non_negative
from functx._ops.reductions.scanning import running_maximum, running_sum
from functx._ops.sorting.bisection import insertion_points


__all__ = ["bernoulli", "multinomial", "randint", "randint_like", "randperm"]

_MOST_CATEGORIES = 2**24


def _randint_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """`randint(high, size)`."""
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
) -> Array: ...
@operator(accepts=Accepts.REAL_NUMBER, form=_randint_form, random=True, differentiable=False)
def randint(
    low: int,
    high: int,
    size: Shape,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
) -> Array:
    """Integers from [low, high), each as likely. `randint(high, size)` starts at 0.

    Dtypes: int64, or any but complex ones. A range that does not fit is refused.

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
    # In 32 bits where they suffice, so that enabling 64 does not change the numbers.
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
    """`randint_like(input, high)`."""
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
) -> Array: ...
@operator(promote=Promote.NONE, form=_randint_like_form, random=True, differentiable=False)
def randint_like(
    input: ArrayOnly,
    low: int,
    high: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    key: Key = None,
) -> Array:
    """Integers from [low, high), as from `randint`, in the shape of an array.

    `randint_like(input, high)` starts at 0.
    Dtypes: that of `input` unless `dtype` is given; any but complex ones. A range that does not
    fit is refused.

    >>> functx.randint_like(jnp.zeros((2, 3), "float32"), 4, key=jax.random.key(0)).dtype
    dtype('float32')
    """
    return _integers(key, input.shape, low, high, as_dtype(dtype or input.dtype))


@operator(accepts=Accepts.REAL_NUMBER, random=True, differentiable=False)
def randperm(
    n: int, *, dtype: DType | None = None, device: Device | None = None, key: Key = None
) -> Array:
    """The integers from 0 to n - 1 in random order, every order as likely.

    Dtypes: int64, or any real one that holds `n` integers apart.

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
def bernoulli(input: Other, p: Other | None = None, *, key: Key = None) -> Array:
    """1 with the probabilities `input` and 0 otherwise; or with the one probability `p`.

    Shapes and dtypes: those of `input`, which is floating unless `p` is given.

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
    input: Other, num_samples: int, replacement: bool = False, *, key: Key = None
) -> Array:
    """Positions drawn with the weights `input`, which need not add up to 1.

    Shapes: `[n] -> [num_samples]`, `[m, n] -> [m, num_samples]`: each row on its own.
    Without replacement the positions of a row differ, in the order drawn; where fewer have a
    positive weight than are asked for, those of weight zero come last (PyTorch
    refuses to draw them).

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
    """Draws by inverting the cumulative sum: there is no array of the size k times n."""
    lanes = weights.reshape(-1, weights.shape[-1])
    uniform = jax.random.uniform(key, (lanes.shape[0], k), weights.dtype)
    # Sums of blocks are rounded otherwise than those within: they may fall, or rise at a weight 0.
    sums = jnp.where(lanes > 0, running_sum(lanes, 1), 0)
    sums = running_maximum(sums, 1)
    total = sums[:, -1:]
    at, last = _found(sums, uniform * total, "right"), _found(sums, total, "left")
    return jnp.minimum(at, last).astype(np.int32).reshape(*weights.shape[:-1], k)


def _found(sums: Array, values: Array, side: str) -> Array:
    if not known(sums.shape[-1]):
        return insertion_points(sums, values, right=side == "right")
    return jax.vmap(jnp.searchsorted, in_axes=(0, 0, None))(sums, values, side)

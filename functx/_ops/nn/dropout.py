"""Dropout of elements and of whole channels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    category,
    ComputeDtypeScalar,
    converted,
    describe,
    Generator,
    is_probability,
    Key,
    operator,
    peek,
    Promote,
    RealScalar,
    refuse,
    Requirement,
)


__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]


def _drops(p: Any, training: bool, **_: Any) -> bool:
    known = peek(p)
    return bool(training) and (known is None or bool(((0 < known) & (known < 1)).any()))


def _options_fit(*, p: Any, **_: Any) -> Iterator[Requirement]:
    yield is_probability(p, "p", error=ValueError)


@operator(
    accepts=Accepts.INEXACT,
    requires=_options_fit,
    random=True,
    needs_key=_drops,
    synonyms={"train": "training"},
    aliases=("dropout",),
)
def dropout(
    input: ArrayLike,
    p: RealScalar = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """Zeroes each element with probability `p` and multiplies the others by $1 / (1 - p)$.

    - `input`: an array of any shape; the result has its shape and dtype.
    - `p`: the probability that an element becomes 0, from [0, 1].
    - `training`: if false, the result is the input as it is.
    - `inplace` has no effect: arrays are immutable.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: ValueError for a `p` outside of [0, 1], TypeError for dtypes that are not floating or
    complex.
    Source: Srivastava et al., *Dropout*, 2014.

    >>> functx.nn.functional.dropout(jnp.ones(2, "float32"), training=False)
    Array([1., 1.], dtype=float32)
    """
    return _scaled(input, input.shape, p, training, key)


@operator(accepts=Accepts.INEXACT, requires=_options_fit, random=True, needs_key=_drops)
def dropout1d(
    input: ArrayLike,
    p: RealScalar = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """`dropout` of whole channels: each is zeroed with probability `p`, or multiplied by
    $1 / (1 - p)$.

    Shapes: `input: [N, C, L]` or `[C, L]`; the result has the same.

    - `p`: the probability that a channel becomes 0, from [0, 1].
    - `training`: if false, the result is the input as it is.
    - `inplace` has no effect: arrays are immutable.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: RuntimeError for another number of dimensions, ValueError for a `p` outside of [0, 1],
    TypeError for dtypes that are not floating or complex.
    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2015.

    >>> x = jnp.ones((1, 4, 2), "float32")
    >>> y = functx.nn.functional.dropout1d(x, key=jax.random.key(0))
    >>> bool((y[..., 0] == y[..., 1]).all())
    True
    """
    if input.ndim not in (2, 3):
        refuse(f"`input` must have 2 dimensions, or 3 with a batch, got {describe(input)}")
    return _scaled(input, (*input.shape[:-1], 1), p, training, key)


@operator(
    accepts=Accepts.INEXACT,
    requires=_options_fit,
    random=True,
    needs_key=_drops,
    synonyms={"train": "training"},
    aliases=("feature_dropout",),
)
def dropout2d(
    input: ArrayLike,
    p: RealScalar = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """`dropout` of whole channels: each is zeroed with probability `p`, or multiplied by
    $1 / (1 - p)$.

    Shapes: `input: [N, C, *]`; the result has the same. Dimension 0 is always a batch, as in
    PyTorch.

    - `p`: the probability that a channel becomes 0, from [0, 1].
    - `training`: if false, the result is the input as it is.
    - `inplace` has no effect: arrays are immutable.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: RuntimeError for fewer than 2 dimensions, ValueError for a `p` outside of [0, 1],
    TypeError for dtypes that are not floating or complex.
    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2015.

    >>> x = jnp.ones((1, 4, 2, 2), "float32")
    >>> y = functx.nn.functional.dropout2d(x, key=jax.random.key(0))
    >>> bool((y[..., :1, :1] == y).all())
    True
    """
    return _scaled(input, _of_channels(input), p, training, key)


@operator(accepts=Accepts.INEXACT, requires=_options_fit, random=True, needs_key=_drops)
def dropout3d(
    input: ArrayLike,
    p: RealScalar = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """`dropout` of whole channels: each is zeroed with probability `p`, or multiplied by
    $1 / (1 - p)$.

    Shapes: `input: [C, D, H, W]`, or `[N, C, *]` with another number of dimensions than 4; the
    result has the same.

    - `p`: the probability that a channel becomes 0, from [0, 1].
    - `training`: if false, the result is the input as it is.
    - `inplace` has no effect: arrays are immutable.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: RuntimeError for fewer than 2 dimensions, ValueError for a `p` outside of [0, 1],
    TypeError for dtypes that are not floating or complex.
    Source: Tompson et al., *Efficient object localization using convolutional networks*, 2015.

    >>> x = jnp.ones((4, 2, 2, 2), "float32")
    >>> y = functx.nn.functional.dropout3d(x, key=jax.random.key(0))
    >>> bool((y[:, :1, :1, :1] == y).all())
    True
    """
    kept = (input.shape[0], 1, 1, 1) if input.ndim == 4 else _of_channels(input)
    return _scaled(input, kept, p, training, key)


@operator(
    accepts=Accepts.FLOATING,
    requires=_options_fit,
    random=True,
    needs_key=_drops,
    synonyms={"train": "training"},
    aliases=("alpha_dropout",),
)
def alpha_dropout(
    input: ArrayLike,
    p: RealScalar = 0.5,
    training: bool = False,
    inplace: bool = False,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    r"""Dropout that keeps a mean of 0 and a variance of 1, for `selu` (Klambauer et al., 2017).

    Each element becomes $\alpha' = -1.758$, the least value of `selu`, with probability `p`. Then
    all become $a x + b$ with $a = ((1 - p)(1 + p \alpha'^2))^{-1/2}$ and $b = -a \alpha' p$. With
    `p=1` the result is zeros.

    - `input`: an array of any shape; the result has its shape and dtype.
    - `p`: the probability that an element becomes $\alpha'$, from [0, 1].
    - `training`: if false, as by default, the result is the input as it is.
    - `inplace` has no effect: arrays are immutable.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Errors: ValueError for a `p` outside of [0, 1], TypeError for dtypes that are not floating.

    >>> functx.nn.functional.alpha_dropout(jnp.ones(2, "float32"))
    Array([1., 1.], dtype=float32)
    """
    return _self_normalizing(input, input.shape, p, training, key)


@operator(
    promote=Promote.NONE,
    requires=_options_fit,
    random=True,
    needs_key=_drops,
    synonyms={"train": "training"},
    aliases=("feature_alpha_dropout",),
)
def feature_alpha_dropout(
    input: ArrayLike,
    p: ComputeDtypeScalar = 0.5,  # floating beside integers too
    training: bool = False,
    inplace: bool = False,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> Array:
    """`alpha_dropout` of whole channels: all elements of a channel become the least value of `selu`
    with probability `p`, and mean and variance are restored (Klambauer et al., 2017).

    Shapes: `input: [N, C, *]`; the result has the same. Dimension 0 is always a batch.

    - `p`: the probability that a channel is replaced, from [0, 1].
    - `training`: if false, as by default, the result is the input as it is.
    - `inplace` has no effect: arrays are immutable.
    - `key`: a JAX PRNG key; if left out, the ambient generator gives one (`functx.random.scope`).
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Dtypes: any without `training`, floating with it.
    Errors: RuntimeError for fewer than 2 dimensions, ValueError for a `p` outside of [0, 1],
    TypeError for dtypes.

    >>> x = jnp.ones((1, 4, 2), "float32")
    >>> y = functx.nn.functional.feature_alpha_dropout(x, training=True, key=jax.random.key(0))
    >>> bool((y[..., 0] == y[..., 1]).all())
    True
    """
    if training and category(input.dtype) != 2:
        refuse(f"`training` needs a floating array, got {describe(input)}", error=TypeError)
    if not training:
        return input
    x = input.astype(accumulator(input.dtype))
    return _self_normalizing(x, _of_channels(input), p, training, key).astype(input.dtype)


def _of_channels(input: Array) -> tuple[int, ...]:
    """The shape of an array with one number for each channel."""
    if input.ndim < 2:
        refuse(f"`input` must be [N, C, ...], got {describe(input)}")
    return (*input.shape[:2], *[1] * (input.ndim - 2))


def _kept(shape: tuple[int, ...], p: Any, dtype: Any, key: Array) -> Array:
    """1 with probability $1 - p$, else 0."""
    kept = jax.random.bernoulli(key, jnp.asarray(1 - p, "float32"), shape)
    return converted(kept, dtype)


def _scaled(input: Array, shape: tuple[int, ...], p: Any, training: bool, key: Any) -> Array:
    if not training:
        return input
    if key is None:  # nothing is drawn where p is 0 or 1
        return jnp.where(p == 0, input, input * (1 - p))
    return input * (_kept(shape, p, input.dtype, key) / jnp.where(p == 1, 1, 1 - p))


_LEAST = -1.7580993408473766  # the least value of selu: minus scale times alpha


def _self_normalizing(
    input: Array, shape: tuple[int, ...], p: Any, training: bool, key: Any
) -> Array:
    if not training:
        return input
    if key is None:  # nothing is drawn where p is 0 or 1
        return jnp.where(p == 0, input, input * (1 - p))
    kept = _kept(shape, p, input.dtype, key)
    a = jnp.where(p == 1, 0, ((1 - jnp.where(p == 1, 0, p)) * (1 + p * _LEAST**2)) ** -0.5)
    return a * (input * kept + (_LEAST * (1 - kept) - _LEAST * p))

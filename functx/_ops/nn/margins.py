"""Losses that ask for a margin between what belongs together and what does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, overload

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    ArrayOnly,
    category,
    converted,
    describe,
    operator,
    Other,
    OtherOrOthers,
    Promote,
    Real,
    refuse,
    Requirement,
    result_dtype,
    Scalar,
)
from functx._core.order import positive
from functx._ops.quotients import quotient

from .log_sigmoids import log_sigmoid
from .reduction import reduced, reduction_of
from .vector_distances import distance


__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


@operator(accepts=Accepts.FLOATING)
def hinge_embedding_loss(
    input: ArrayOnly,
    target: Other,
    margin: Scalar = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$x$ where the target is 1, $\max(\mathrm{margin} - x, 0)$ where it is -1, else their sum.

    Shapes: `input` and `target` broadcast. The derivative where $x$ is the margin is -1.

    >>> x = jnp.asarray([0.5, 0.5], "float32")
    >>> functx.nn.functional.hinge_embedding_loss(x, jnp.asarray([1, -1], "int32"))
    Array(0.5, dtype=float32)
    """
    target = _fitting(input, target)
    apart = jnp.where(_is(target, 1), 0, _not_below_0(margin - input))
    loss = apart + jnp.where(_is(target, -1), 0, input)
    return reduced(loss, reduction_of(size_average, reduce, reduction))


@operator(accepts=Accepts.REAL_NUMBER, promote=Promote.INT_TO_FLOAT)
def margin_ranking_loss(
    input1: ArrayOnly,
    input2: ArrayOnly,
    target: ArrayOnly,
    margin: Scalar = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$\max(-t (x_1 - x_2) + \mathrm{margin}, 0)$: a target $t = 1$ ranks $x_1$ first.

    Shapes: all have the same number of dimensions, and broadcast. Where the loss begins to be 0
    its derivative is that of the part that is not.

    >>> F, x = functx.nn.functional, jnp.asarray([0.5, 2.0], "float32")
    >>> F.margin_ranking_loss(x, x - 1, jnp.ones(2, "float32"), margin=3)
    Array(2., dtype=float32)
    """
    _same_rank(input1=input1, input2=input2, target=target)
    loss = _not_below_0(margin - target * (input1 - input2))
    return reduced(loss, reduction_of(size_average, reduce, reduction))


@operator(accepts=Accepts.FLOATING)
def soft_margin_loss(
    input: ArrayOnly,
    target: Other,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$\log(1 + e^{-t x})$ of targets $t$ that are 1 or -1, without overflow.

    Shapes: `input` and `target` broadcast. Dtypes: that of `input`.

    >>> x = jnp.asarray([0.0, -1000.0], "float32")
    >>> functx.nn.functional.soft_margin_loss(x, jnp.ones(2, "float32"), reduction="none")
    Array([6.931472e-01, 1.000000e+03], dtype=float32)
    """
    target = _fitting(input, target)
    if category(target.dtype) == 3:
        refuse(f"`target` must hold real numbers, got {describe(target)}", error=TypeError)
    loss = -log_sigmoid(converted(target, input.dtype) * input)
    return reduced(loss, reduction_of(size_average, reduce, reduction))


@operator(accepts=Accepts.REAL)
def multilabel_soft_margin_loss(
    input: ArrayOnly,
    target: ArrayLike,
    weight: ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""Cross entropy of each class on its own, $-t \log \sigma(x) - (1 - t) \log(1 - \sigma(x))$.

    It is the mean over classes, which are the last dimension, of which `weight` has a factor each.
    Shapes: `[..., c]`; `input`, `target` and `weight` broadcast.

    >>> F, one = functx.nn.functional, jnp.ones((1, 2), "float32")
    >>> F.multilabel_soft_margin_loss(0 * one, one)
    Array(0.6931472, dtype=float32)
    """
    if category(input.dtype) != 2:
        refuse(f"expected a floating common dtype, got {input.dtype.name}", error=TypeError)
    if not input.ndim:
        refuse(f"`input` must have a dimension of classes, got {describe(input)}")
    loss = (1 - target) * input - log_sigmoid(input)
    loss = loss if weight is None else loss * weight
    total = jnp.sum(loss, axis=-1)
    classes = jnp.asarray(input.shape[-1], total.dtype)
    return reduced(quotient(total, classes), reduction_of(size_average, reduce, reduction))


@operator(accepts=Accepts.REAL_NUMBER, promote=Promote.INT_TO_FLOAT)
def cosine_embedding_loss(
    input1: ArrayOnly,
    input2: ArrayOnly,
    target: Other,
    margin: Scalar = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""Of the cosine of two vectors: $1 - \cos$ where the target is 1, where it is -1
    $\max(\cos - \mathrm{margin}, 0)$.

    For any other target it is 0. Squares of norms count 1e-12 more.
    Shapes: `[n, k], [n, k], [n] -> [n]` before the reduction, or without n.

    >>> F, one = functx.nn.functional, jnp.ones((2, 3), "float32")
    >>> F.cosine_embedding_loss(one, -one, jnp.asarray([1, -1], "int32"), reduction="none")
    Array([2., 0.], dtype=float32)
    """
    target = jnp.asarray(target)
    if target.ndim > 1 or {input1.ndim, input2.ndim} != {target.ndim + 1}:
        refuse(
            "vectors and targets must be [n, k] and [n], or [k] and [], "
            f"got {describe(input1)}, {describe(input2)} and {describe(target)}"
        )
    tiny = 1e-12
    product = jnp.sum(input1 * input2, axis=-1)
    squares = [jnp.sum(x * x, axis=-1) + tiny for x in (input1, input2)]
    cosine = quotient(product, jnp.sqrt(squares[0] * squares[1]))
    loss = jnp.where(_is(target, 1), 1 - cosine, 0)
    loss = loss + jnp.where(_is(target, -1), _not_below_0(cosine - margin), 0)
    return reduced(loss, reduction_of(size_average, reduce, reduction))


def _positive_margin(*, margin: Any, **_: Any) -> Iterator[Requirement]:
    ok = positive(jnp.asarray(margin))
    yield Requirement(ok, "`margin` must be positive, got {got}", margin, error=ValueError)


@operator(
    accepts=Accepts.NUMBER,
    promote=Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT,
    requires=_positive_margin,
)
def triplet_margin_loss(
    anchor: ArrayOnly,
    positive: ArrayOnly,
    negative: ArrayOnly,
    margin: Real = 1.0,
    p: float = 2,  # static: it chooses how to compute
    eps: Real = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$\max(d(a, p) - d(a, n) + \mathrm{margin}, 0)$, of distances as of `pairwise_distance`.

    With `swap`, $d(a, n)$ or $d(p, n)$, whichever is less (Balntas et al., 2016); where they are
    equal, they share the gradient.
    Shapes: all have the same number of dimensions, and broadcast; the last is lost. Dtypes: real.
    Raises `ValueError` where `margin` is not positive.

    >>> F, x = functx.nn.functional, jnp.zeros((1, 2), "float32")
    >>> F.triplet_margin_loss(x, x + 3.0, x + 3.0)
    Array(1., dtype=float32)
    """
    _same_rank(anchor=anchor, positive=positive, negative=negative)
    near, far = distance(anchor, positive, p, eps), distance(anchor, negative, p, eps)
    if swap:
        far = jnp.minimum(far, distance(positive, negative, p, eps))
    return reduced(_not_below_0(margin + near - far), reduction_of(size_average, reduce, reduction))


def _distances_at_once(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """What `distance_function` gives in its place: that is traced, a function would be a constant
    of the compiled program, with all that it closes over."""
    distance_between = kwargs.get("distance_function")
    if not callable(distance_between):
        return args, kwargs
    names = ("anchor", "positive", "negative")
    given = dict(zip(names, args, strict=False)) | kwargs
    if not given.keys() >= {*names}:
        return args, kwargs
    anchor, positive, negative = (jnp.asarray(given[name]) for name in names)
    pairs = [(anchor, positive), (anchor, negative)]
    if kwargs.get("swap"):
        pairs.append((positive, negative))
    return args, kwargs | {"distance_function": tuple(distance_between(*pair) for pair in pairs)}


@overload
def triplet_margin_with_distance_loss(
    anchor: ArrayOnly,
    positive: ArrayOnly,
    negative: ArrayOnly,
    *,
    distance_function: None = None,
    margin: Real = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Array: ...
@overload
def triplet_margin_with_distance_loss(
    anchor: ArrayOnly,
    positive: ArrayOnly,
    negative: ArrayOnly,
    *,
    distance_function: Callable[[Any, Any], Any],
    margin: Real = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Array: ...
@operator(
    accepts=Accepts.NUMBER,
    promote=Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT,
    requires=_positive_margin,
    form=_distances_at_once,
)
def triplet_margin_with_distance_loss(
    anchor: ArrayOnly,
    positive: ArrayOnly,
    negative: ArrayOnly,
    *,
    distance_function: OtherOrOthers | None = None,
    margin: Real = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Array:
    r"""`triplet_margin_loss` of other distances.

    - `distance_function`: takes two arrays, and gives their distances; by default
      `pairwise_distance`. It is called at once, and may close over what is differentiated.
    - `swap`: as there, the lesser of $d(a, n)$ and $d(p, n)$.

    Shapes: the arrays have the same number of dimensions, and the distances broadcast.
    Raises `ValueError` where `margin` is not positive.

    >>> F, x = functx.nn.functional, jnp.zeros((1, 2), "float32")
    >>> far = lambda x, y: functx.sum(functx.abs(x - y), dim=-1)
    >>> F.triplet_margin_with_distance_loss(x, x + 3.0, x + 3.0, distance_function=far)
    Array(1., dtype=float32)
    """
    _same_rank(anchor=anchor, positive=positive, negative=negative)
    if distance_function is None:
        pairs = [(anchor, positive), (anchor, negative)] + [(positive, negative)] * swap
        distances = [distance(*pair, 2, 1e-6) for pair in pairs]
    else:
        distances = _real(distance_function, swap)
    near, far, *others = distances
    far = jnp.minimum(far, others[0]) if swap else far
    return reduced(_not_below_0(margin + near - far), reduction_of(None, None, reduction))


def _is(target: Any, number: int) -> Array:
    target = jnp.asarray(target)
    return target == jnp.asarray(number).astype(target.dtype)


def _fitting(input: Array, target: Any) -> Array:
    target = jnp.asarray(target)
    try:
        np.broadcast_shapes(input.shape, target.shape)
    except ValueError:
        refuse(f"shapes do not fit: {describe(input)}, {describe(target)}")
    return target


def _not_below_0(x: Array) -> Array:
    """$\\max(x, 0)$, with the slope of $x$ at 0."""
    return jnp.where(x < 0, 0, x)


def _real(distances: Any, swap: bool) -> list[Array]:
    """Distances that were computed, in one dtype."""
    if not isinstance(distances, (tuple, list)) or len(distances) != 2 + swap:
        refuse(f"`distance_function` must be callable, got {describe(distances)}", error=TypeError)
    arrays = [jnp.asarray(d) for d in distances]
    for d in arrays:
        if category(d.dtype) != 2:
            what = f"`distance_function` must give floating arrays, got {describe(d)}"
            refuse(what, error=TypeError)
    wide = accumulator(result_dtype(arrays))
    return [converted(d, wide) for d in arrays]


def _same_rank(**arrays: Array) -> None:
    if len({x.ndim for x in arrays.values()}) > 1:
        named = ", ".join(f"`{name}` {describe(x)}" for name, x in arrays.items())
        refuse(f"arrays must have the same number of dimensions, got {named}")

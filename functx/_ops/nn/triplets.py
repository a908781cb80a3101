"""Losses of triplets: vectors that belong together are to be nearer than others, by a margin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayOnly,
    Autocast,
    category,
    converted,
    describe,
    only_stores,
    operator,
    Promote,
    RealScalar,
    refuse,
    refuse_storage,
    Refused,
    Requirement,
    result_dtype,
    UnpromotedArrayOrArrays,
)
from functx._core.errors import OfCaller
from functx._core.numbers.bitwise_comparison import positive

from .hinges import not_below_0, same_rank
from .reduction import reduced, reduction_of
from .vector_distances import distance


__all__ = ["triplet_margin_loss", "triplet_margin_with_distance_loss"]


def _positive_margin(*, margin: Any, **_: Any) -> Iterator[Requirement]:
    ok = positive(jnp.asarray(margin))
    yield Requirement(ok, "`margin` must be positive, got {got}", margin, error=ValueError)


@operator(
    accepts=Accepts.NUMBER,
    promote=Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT,
    requires=_positive_margin,
    autocast=Autocast.FLOAT32,
)
def triplet_margin_loss(
    anchor: ArrayOnly,
    positive: ArrayOnly,
    negative: ArrayOnly,
    margin: RealScalar = 1.0,
    p: float = 2,  # static: it chooses how to compute
    eps: RealScalar = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$\max(d(a, p) - d(a, n) + \mathrm{margin}, 0)$ with the distances $d$ of
    `pairwise_distance`.

    Shapes: `anchor` ($a$), `positive` ($p$) and `negative` ($n$) have the same number of
    dimensions, and broadcast. Vectors lie along the last dimension, which the loss of each element
    lacks.

    - `margin`: by how much $n$ is to be farther than $p$; positive.
    - `p`: the order of the norm that is the distance.
    - `eps`: is added to each difference, so that equal vectors have derivatives.
    - `swap`: whether the lesser of $d(a, n)$ and $d(p, n)$ takes the place of $d(a, n)$ (Balntas et
      al., 2016).
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Dtypes: the result is real, also for complex vectors; integers become floating.
    Gradients: equal distances share the gradient of `swap`. With an `eps` of 0, equal vectors have
    derivatives of 0, although the second one is infinite.
    Errors: ValueError where `margin` is not positive and for another `reduction`, RuntimeError for
    shapes that do not fit.

    >>> F, x = functx.nn.functional, jnp.zeros((1, 2), "float32")
    >>> F.triplet_margin_loss(x, x + 3.0, x + 3.0)
    Array(1., dtype=float32)
    """
    same_rank(anchor=anchor, positive=positive, negative=negative)
    near, far = distance(anchor, positive, p, eps), distance(anchor, negative, p, eps)
    if swap:
        far = jnp.minimum(far, distance(positive, negative, p, eps))
    return reduced(not_below_0(margin + near - far), reduction_of(size_average, reduce, reduction))


def _distances_at_once(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The distances themselves in the place of a callable `distance_function`.

    Distances are traced. A function would be a constant of the compiled program, with everything
    that it closes over.
    """
    distance_between = kwargs.get("distance_function")
    if not callable(distance_between):
        return args, kwargs
    names = ("anchor", "positive", "negative")
    given = dict(zip(names, args, strict=False)) | kwargs
    if not given.keys() >= {*names}:
        return args, kwargs
    arrays = [jnp.asarray(given[name]) for name in names]
    for x in arrays:
        if only_stores(x.dtype):
            refuse_storage(x.dtype, describe(x))
    anchor, positive, negative = arrays
    pairs = [(anchor, positive), (anchor, negative)]
    if kwargs.get("swap"):
        pairs.append((positive, negative))
    try:
        distances = tuple(distance_between(*pair) for pair in pairs)
    except Refused:
        raise
    except Exception as error:
        raise OfCaller(error, "distance_function") from None
    return args, kwargs | {"distance_function": distances}


@overload
def triplet_margin_with_distance_loss(
    anchor: ArrayOnly,
    positive: ArrayOnly,
    negative: ArrayOnly,
    *,
    distance_function: None = None,
    margin: RealScalar = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Array: ...
@overload
def triplet_margin_with_distance_loss(
    anchor: ArrayOnly,
    positive: ArrayOnly,
    negative: ArrayOnly,
    *,
    distance_function: Callable[[Any, Any], Any] | Sequence[Any],
    margin: RealScalar = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Array: ...
@operator(
    accepts=Accepts.NUMBER,
    promote=Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT,
    requires=_positive_margin,
    other_signatures=_distances_at_once,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def triplet_margin_with_distance_loss(
    anchor: ArrayOnly,
    positive: ArrayOnly,
    negative: ArrayOnly,
    *,
    distance_function: UnpromotedArrayOrArrays | None = None,
    margin: RealScalar = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Array:
    r"""$\max(d(a, p) - d(a, n) + \mathrm{margin}, 0)$, as `triplet_margin_loss`, with any distance
    $d$.

    Shapes: `anchor` ($a$), `positive` ($p$) and `negative` ($n$) have the same number of
    dimensions, and the distances broadcast.

    - `distance_function`: takes two arrays, and returns their distances; by default
      `pairwise_distance`. It is called at once, and may close over what is differentiated. A
      sequence is taken for the distances themselves, $d(a, p)$ and $d(a, n)$, and with `swap`
      $d(p, n)$.
    - `margin`: by how much $n$ is to be farther than $p$; positive.
    - `swap`: whether the lesser of $d(a, n)$ and $d(p, n)$ takes the place of $d(a, n)$ (Balntas et
      al., 2016).
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Errors: ValueError where `margin` is not positive and for another `reduction`, RuntimeError for
    shapes that do not fit, TypeError for distances that are not floating arrays.

    >>> F, x = functx.nn.functional, jnp.zeros((1, 2), "float32")
    >>> far = lambda x, y: functx.sum(functx.abs(x - y), dim=-1)
    >>> F.triplet_margin_with_distance_loss(x, x + 3.0, x + 3.0, distance_function=far)
    Array(1., dtype=float32)
    """
    same_rank(anchor=anchor, positive=positive, negative=negative)
    if distance_function is None:
        pairs = [(anchor, positive), (anchor, negative)] + [(positive, negative)] * swap
        distances = [distance(*pair, 2, 1e-6) for pair in pairs]
    else:
        distances = _real(distance_function, swap)
    near, far, *others = distances
    far = jnp.minimum(far, others[0]) if swap else far
    return reduced(not_below_0(margin + near - far), reduction_of(None, None, reduction))


def _real(distances: Any, swap: bool) -> list[Array]:
    """Distances that were computed, cast to one dtype."""
    if not isinstance(distances, (tuple, list)) or len(distances) != 2 + swap:
        wanted = f"callable, or {2 + swap} arrays"
        refuse(f"`distance_function` must be {wanted}, got {describe(distances)}", error=TypeError)
    arrays = [jnp.asarray(d) for d in distances]
    for d in arrays:
        if category(d.dtype) != 2:
            what = f"`distance_function` must give floating arrays, got {describe(d)}"
            refuse(what, error=TypeError)
    wide = accumulator(result_dtype(arrays))
    return [converted(d, wide) for d in arrays]

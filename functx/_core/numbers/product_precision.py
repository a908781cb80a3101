"""In which precision accelerators multiply matrices and convolve images of float32.

JAX's setting decides, `jax.default_matmul_precision`. Where it is not set, XLA multiplies in TF32
on recent GPUs and in bfloat16 on TPUs, and PyTorch does not: products of operators are then in full
precision. Convolutions are in PyTorch as the device has them, until `backends.cudnn.allow_tf32` is
set, and so they are here.

JAX's setting is of the thread, whose asyncio tasks share it, and a region of functx is of the task
that enters it. So what such a region says is kept in a context of the task, which is a part of
keys beside JAX's setting, and operators heed it; JAX's setting follows it, for `jax.numpy`.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax

from functx._core.context.user_contexts import convolution_precision, UserContext


SETTING = "jax_default_matmul_precision"
# Whether JAX's setting is the one that `as_in_pytorch` makes.
_filled_in = contextvars.ContextVar("functx.product_precision", default=False)


class _OpenRegions(threading.local):
    """The precisions of the regions that tasks of a thread have entered, in that order."""

    def __init__(self) -> None:
        self.precisions = dict[object, str]()
        self.outermost: Any = None  # of JAX's: it knows what was set before all of them

    def last(self) -> object | None:
        return next(reversed(self.precisions), None)

    def last_precision(self) -> str | None:
        return next(reversed(self.precisions.values()), None)


_open = _OpenRegions()


class _Products(UserContext):
    """What a region of functx says of this task; None outside of any."""

    def of_task(self) -> Any:
        region, here = super().of_task(), _of_jax()
        # Where JAX's setting is not what the last region made it, one of JAX's own is further in.
        return region if region is None or here == _open.last_precision() else here


products = _Products(__name__, None)


def _of_jax() -> Any:
    return getattr(jax.config, SETTING)


def chosen_precision() -> Any:
    """The precision of products here, one of JAX's settings; None where nothing is set."""
    region = products.value
    return _of_jax() if region is None else region


@contextmanager
def products_in(precision: str) -> Iterator[None]:
    """A region with another precision of products: for operators of the task that enters it.

    It sets JAX's setting, too, which the thread's tasks share: to what the last region that is
    still open says, whichever task entered it.
    """
    entered, around = object(), _open.last()
    setting = jax.default_matmul_precision(precision)
    if around is None:
        _open.outermost = setting
    setting.__enter__()
    _open.precisions[entered] = precision
    try:
        with products(precision):
            yield
    finally:
        _leave(entered, around, setting)


def _leave(entered: object, around: object | None, setting: Any) -> None:
    """Undoes what a region did to JAX's setting, which then is of the last one still open."""
    if _open.precisions.pop(entered, None) is None:  # entered in another thread
        return
    if _open.last() is around:
        setting.__exit__(None, None, None)
    elif (precision := _open.last_precision()) is None:
        _open.outermost.__exit__(None, None, None)
    else:
        jax.default_matmul_precision(precision).__enter__()


@contextmanager
def by_jax_alone(precision: Any) -> Iterator[None]:
    """A region in which JAX's setting is `precision`, and counts whatever regions are around."""
    with jax.default_matmul_precision(precision):
        if products.value is None:
            yield
        else:
            with products(None):
                yield


@contextmanager
def as_in_pytorch() -> Iterator[None]:
    """A region with the precision that is chosen, full precision if none is."""
    precision = chosen_precision()
    if precision is not None:
        if precision == _of_jax():
            yield
        else:
            with by_jax_alone(precision):
                yield
        return
    token = _filled_in.set(True)
    try:
        with jax.default_matmul_precision("highest"):
            yield
    finally:
        _filled_in.reset(token)


def precision_of_convolutions() -> Any:
    """What convolutions are computed in: a setting of JAX's, None where the device decides."""
    if convolution_precision.value is not None:
        return convolution_precision.value
    return None if _filled_in.get() else chosen_precision()

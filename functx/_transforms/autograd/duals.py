"""Dual numbers: arrays with a tangent, in a region, which is a level of forward mode."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.interpreters import ad

from functx._core import describe, fail
from functx._core.jax_compat import set_current_trace, take_current_trace, trace_of, TraceTag
from functx._core.numbers.weak_types import strong
from functx._transforms.arguments import kind_of
from functx._transforms.numbers import as_array


__all__ = ["UnpackedDualTensor", "dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` finds: the array `primal`, and its `tangent` or None."""

    primal: Any
    tangent: Any


class _Level(ad.JVPTrace):
    """What `jax.jvp` runs a function under; here it lasts as long as a region."""

    ended = False


@contextlib.contextmanager
def dual_level() -> Iterator[int]:
    """A region in which arrays made by `make_dual` carry tangents through all computation.

    It is `jvp` without a function: `unpack_dual` of a result has its derivative along the tangents
    given. Gives the number of the level; levels nest, inner ones are derivatives of their own. At
    its end the duals are no arrays any more, but `unpack_dual` gives their primals.

    >>> with functx.autograd.forward_ad.dual_level():
    ...     x = functx.autograd.forward_ad.make_dual(jnp.float32(3), jnp.float32(1))
    ...     functx.autograd.forward_ad.unpack_dual(x * x)
    UnpackedDualTensor(primal=Array(9., dtype=float32), tangent=Array(6., dtype=float32))
    """
    with take_current_trace() as parent:
        level = _Level(parent, TraceTag())
        with set_current_trace(level):
            try:
                yield _depth(parent)
            finally:
                level.ended = True


def _depth(trace: Any) -> int:
    depth = 0
    while trace is not None:
        depth += isinstance(trace, _Level)
        trace = getattr(trace, "parent_trace", None)
    return depth


def make_dual(tensor: Any, tangent: Any) -> jax.Array:
    """`tensor` with a tangent, in the innermost `dual_level`.

    - `tensor`: real or complex.
    - `tangent`: like it in shape and dtype; neither may have a tangent of this level already.

    Errors: RuntimeError outside of a level, and inside a function that is being transformed there
    (enter the level in that function), for other shapes, and for what has a tangent already;
    ValueError for integers, TypeError for other dtypes.

    >>> with functx.autograd.forward_ad.dual_level():
    ...     y = jnp.sin(functx.autograd.forward_ad.make_dual(jnp.float32(0), jnp.float32(2)))
    >>> functx.autograd.forward_ad.unpack_dual(y)  # the level is over
    UnpackedDualTensor(primal=Array(0., dtype=float32), tangent=None)
    """
    level = _current("make_dual")
    for name, x in (("primal", tensor), ("tangent", tangent)):
        if kind_of(x) not in ("real", "complex"):
            fail(
                "forward_ad.make_dual",
                f"Expected {name} to be floating point or complex, got {describe(x)}",
                error=ValueError,
            )
    tensor = as_array(tensor)
    tensor = tensor if isinstance(tensor, jax.Array) else jnp.asarray(tensor)
    tangent = tangent if isinstance(tangent, jax.Array) else jnp.asarray(tangent, tensor.dtype)
    tangent = strong(tangent)
    if tangent.shape != tensor.shape:
        fail(
            "forward_ad.make_dual",
            "Trying to set a forward gradient that has a different size than its primal, "
            f"{describe(tensor)}, got {describe(tangent)}",
        )
    if tangent.dtype != tensor.dtype:
        fail(
            "forward_ad.make_dual",
            f"`tangent` must have the dtype of {describe(tensor)}, got {describe(tangent)}",
            error=TypeError,
        )
    for name, x in (("tensor", tensor), ("tangent", tangent)):
        if not isinstance(level.to_primal_tangent_pair(x)[1], ad.Zero):
            fail(
                "forward_ad.make_dual",
                f"`{name}`, {describe(x)}, has a forward gradient at the same level",
                hint="a dual_level inside this one takes derivatives of derivatives",
            )
    return ad.JVPTracer(level, tensor, tangent)


def unpack_dual(tensor: Any) -> UnpackedDualTensor:
    """The primal and the tangent that an array has in the innermost `dual_level`.

    - `tensor`: the array.

    The tangent is None where there is none: for arrays that do not depend on a dual, for integers,
    and for duals whose level is over.

    >>> with functx.autograd.forward_ad.dual_level():
    ...     functx.autograd.forward_ad.unpack_dual(jnp.float32(1))
    UnpackedDualTensor(primal=Array(1., dtype=float32), tangent=None)
    """
    trace = trace_of(tensor)
    if isinstance(trace, _Level) and trace.ended:
        return UnpackedDualTensor(strong(tensor.primal), None)
    primal, tangent = _current("unpack_dual").to_primal_tangent_pair(tensor)
    return UnpackedDualTensor(
        as_array(primal), None if isinstance(tangent, ad.Zero) else strong(tangent)
    )


def _current(who: str) -> _Level:
    with take_current_trace() as trace:
        pass
    if not isinstance(trace, _Level):
        fail(
            f"forward_ad.{who}",
            "it must be called in a dual_level, in the function that enters it",
            hint="with functx.autograd.forward_ad.dual_level(): around it",
        )
    return trace

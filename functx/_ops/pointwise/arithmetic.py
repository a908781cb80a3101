"""Sums, products and signs, on broadcastable arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    ArrayOnly,
    ArrayOrUnroundedNumber,
    Autocast,
    category,
    ComputeDtypeScalar,
    converted,
    describe,
    glanced,
    is_number,
    number_at_hand,
    operator,
    Promote,
    refuse,
    Requirement,
    SameKindScalar,
    Scalar,
    UnpromotedArray,
    value_fits,
)
from functx._core.numbers import bitwise_comparison as bitwise
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.magnitude import complex_magnitude


__all__ = [
    "abs",
    "add",
    "addcmul",
    "copysign",
    "lerp",
    "mul",
    "neg",
    "positive",
    "rsub",
    "sgn",
    "sign",
    "sub",
]


@operator()
def add(input: ArrayLike, other: ArrayLike, *, alpha: SameKindScalar = 1) -> Array:
    r"""Adds `other` $z$, scaled by `alpha`, to `input` $x$: $y = x + \alpha z$.

    - `alpha`: a number or a 0-d array that takes no part in promotion, and must be an integer where
      the arrays hold integers; 1 by default.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype. Bools give their OR.
    Errors: TypeError for a floating `alpha` beside integers.

    >>> functx.add(jnp.asarray([1, 2]), 0.5, alpha=2)
    Array([2., 3.], dtype=float32)
    """
    return input + _scaled(other, alpha)


@operator(accepts=Accepts.NUMBER, aliases=("subtract",))
def sub(input: ArrayLike, other: ArrayLike, *, alpha: SameKindScalar = 1) -> Array:
    r"""Subtracts `other` $z$, scaled by `alpha`, from `input` $x$: $y = x - \alpha z$.

    - `alpha`: a number or a 0-d array that takes no part in promotion, and must be an integer where
      the arrays hold integers; 1 by default.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for bools, and for a floating `alpha` beside integers.

    >>> functx.sub(jnp.asarray([1.0, 2.0], "float32"), 1, alpha=2)
    Array([-1.,  0.], dtype=float32)
    """
    return input - _scaled(other, alpha)


def _alpha_after_number(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) == 3 and isinstance(args[1], (bool, int, float, complex)):
        return args[:2], {"alpha": args[2], **kwargs}
    return args, kwargs


@overload
def rsub(input: ArrayOnly, other: ArrayLike, *, alpha: SameKindScalar = 1) -> Array: ...
@overload
def rsub(input: ArrayOnly, other: Scalar, alpha: SameKindScalar) -> Array: ...
@operator(accepts=Accepts.NUMBER, other_signatures=_alpha_after_number)
def rsub(input: ArrayOnly, other: ArrayLike, *, alpha: SameKindScalar = 1) -> Array:
    r"""Subtracts `input` $x$, scaled by `alpha`, from `other` $z$: $y = z - \alpha x$.

    - `alpha`: a number or a 0-d array that takes no part in promotion, and must be an integer where
      the arrays hold integers; 1 by default.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for bools, and for a floating `alpha` beside integers.

    >>> functx.rsub(jnp.asarray([1.0, 2.0], "float32"), 1, alpha=2)
    Array([-1., -3.], dtype=float32)
    """
    return other - _scaled(input, alpha)


def _scaled(other: Array, alpha: Any) -> Array:
    return other if isinstance(alpha, int) else alpha * other


@operator(aliases=("multiply",))
def mul(input: ArrayLike, other: ArrayOrUnroundedNumber) -> Array:
    """Product of the elements $x$ of `input` and $z$ of `other`: $y = x z$.

    Beside float16 and bfloat16 arrays, an `other` without dimensions keeps the digits that these
    dtypes lack; an `input` without dimensions is rounded to them first, as in PyTorch.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype. Bools give their AND.

    >>> functx.mul(jnp.asarray([1.0, 2.0], "float32"), 3)
    Array([3., 6.], dtype=float32)
    """
    return input * other


@operator(accepts=Accepts.NUMBER, aliases=("negative",))
def neg(input: ArrayLike) -> Array:
    """Negative of each element $x_i$ of `input`: $-x_i$. Unsigned integers wrap.

    Errors: TypeError for bools.

    >>> functx.neg(jnp.asarray([1.0, -2.0], "float32"))
    Array([-1.,  2.], dtype=float32)
    """
    return lax.neg(input)


@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.NUMBER, aliases=("absolute",))
def abs(input: ArrayLike) -> Array:
    """Absolute value of each element $x_i$ of `input`, $|x_i|$.

    The gradient at zero, and at NaN, is 0. The second derivative at zero is 0 too: for that of the
    square write `functx.square(x)`, or `(z * z.conj()).real`.

    Dtypes: complex arrays give real ones. Errors: TypeError for bools.

    >>> functx.abs(jnp.asarray([-1.0, 2.0], "float32"))
    Array([1., 2.], dtype=float32)
    """
    if category(input.dtype) == 1:
        return input if input.dtype.kind == "u" else lax.abs(input)
    if category(input.dtype) == 3:
        return complex_magnitude(input)
    return _abs(input)


@operator(accepts=Accepts.REAL)
def sign(input: ArrayLike) -> Array:
    """Sign of each element of `input`: -1, 0 or 1, and 0 for NaN. The gradient is 0.

    Errors: TypeError for complex numbers.

    >>> functx.sign(jnp.asarray([-3.0, 0.0, 2.0], "float32"))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    if category(input.dtype) == 0:
        return input
    return _sign(input)


def _sign(x: Array) -> Array:
    return bitwise.positive(x).astype(x.dtype) - bitwise.negative(x).astype(x.dtype)


# The derivative of lax.abs at zero is 1.
_abs = derivative_rules(
    lax.abs, jvp=lambda primals, output, tangents: tangents[0] * _sign(primals[0]), name="abs"
)


@operator()
def sgn(input: ArrayLike) -> Array:
    """Direction of each element $z$ of `input`, $z / |z|$, and 0 at 0: the sign of a real number.

    The gradient is that of the direction; it is 0 on real arrays and at 0.

    >>> functx.sgn(jnp.asarray([3.0 + 4.0j, 0.0], "complex64"))
    Array([0.6+0.8j, 0. +0.j ], dtype=complex64)
    """
    kind = category(input.dtype)
    return input if kind == 0 else _direction(input) if kind == 3 else _sign(input)


def _unit(z: Array) -> Array:
    size = lax.abs(z)
    safe = jnp.where(size == 0, 1, size)
    return lax.complex(lax.real(z) / safe, lax.imag(z) / safe)


def _turn(primals: Any, output: Array, tangents: Any) -> Array:
    size = lax.abs(primals[0])
    across = lax.imag(lax.conj(output) * tangents[0])
    turn = jnp.where(size == 0, 0, across / jnp.where(size == 0, 1, size))
    return lax.complex(-lax.imag(output) * turn, lax.real(output) * turn)


_direction = derivative_rules(_unit, jvp=_turn, name="sgn")


@operator(accepts=Accepts.NUMBER)
def positive(input: ArrayLike) -> Array:
    """Each element of `input` as it is. Errors: TypeError for bools.

    >>> functx.positive(jnp.asarray([1.0, -2.0], "float32"))
    Array([ 1., -2.], dtype=float32)
    """
    return input


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL)
def copysign(input: ArrayOnly, other: ArrayLike) -> Array:
    """Magnitude of `input` with the sign of `other`; zeros and NaN in `other` have signs too.

    The gradient goes to `input`, times 1 or -1. Where `input` is 0 the gradient is 0, where it is
    NaN the gradient is NaN.

    Shapes: `input` and `other` broadcast.
    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.copysign(jnp.asarray([1.0, -2.0], "float32"), jnp.asarray([-0.0, 3.0], "float32"))
    Array([-1.,  2.], dtype=float32)
    """
    return _copysign(*jnp.broadcast_arrays(input, other))


def _with_sign(x: Array, y: Array) -> Array:
    sizes, signs = bitwise.bits(x), bitwise.bits(y)
    ends = np.iinfo(sizes.dtype)
    one = sizes.dtype.type
    return bitwise.from_bits((sizes & one(ends.max)) | (signs & one(ends.min)), x.dtype)


def _copysign_tangent(primals: Any, output: Array, tangents: Any) -> Array:
    x = primals[0]
    turned = (bitwise.bits(x) < 0) != (bitwise.bits(output) < 0)
    kept = jnp.where(bitwise.nonzero(x), tangents[0], 0)
    kept = kept * jnp.where(bitwise.equal(x, x), 1, jnp.nan).astype(x.dtype)
    return jnp.where(turned, -kept, kept)


_copysign = derivative_rules(_with_sign, jvp=_copysign_tangent, name="copysign")


@operator(accepts=Accepts.ANY, autocast=Autocast.WIDEST, autocast_cpu=Autocast.KEEP)
def addcmul(
    input: ArrayLike, tensor1: ArrayLike, tensor2: ArrayLike, *, value: ComputeDtypeScalar = 1
) -> Array:
    """Adds the product of `tensor1` and `tensor2`, scaled by `value`, to `input`.

    This is $y = x + v a b$, with $x$ for `input`, $v$ for `value`, $a$ for `tensor1`, $b$ for
    `tensor2`.

    - `value`: a number or a 0-d array, which beside integers loses its fraction; 1 by default.

    Shapes: `input`, `tensor1` and `tensor2` broadcast.
    Dtypes: the arrays promote to their common dtype.
    Errors: TypeError for bools alone.

    >>> functx.addcmul(jnp.ones(2, "float32"), jnp.ones(2, "float32"), 3.0, value=2)
    Array([7., 7.], dtype=float32)
    """
    if category(input.dtype) == 0:
        refuse("expected arrays of numbers, got bools alone", error=TypeError)
    # Otherwise a slope multiplies the sum over broadcast elements: infinity times 0 of no elements.
    input, tensor1, tensor2 = jnp.broadcast_arrays(input, tensor1, tensor2)
    return input + _scaled(tensor1, value) * tensor2


def _weight_at_hand(input: Any, end: Any, weight: Any) -> bool:
    return isinstance(weight, Array) or number_at_hand(weight, input.dtype)


@glanced(_weight_at_hand)
def _weight_fits(*, input: Any, weight: Any, **_: Any) -> Iterator[Requirement]:
    if is_number(weight):
        yield value_fits(weight, accumulator(input.dtype), "weight")


@operator(promote=Promote.SAME, accepts=Accepts.INEXACT, requires=_weight_fits)
def lerp(input: ArrayLike, end: ArrayLike, weight: UnpromotedArray) -> Array:
    r"""Interpolates linearly from `input` $x$ to `end` $z$ by `weight` $w$: $y = x + w (z - x)$.

    Where $|w| \ge \tfrac12$ the result is computed from `end`, so that both ends are exact.

    - `weight`: an array, a number or a 0-d array; 0 gives `input` and 1 gives `end`.

    Shapes: `input`, `end` and `weight` broadcast.
    Dtypes: all arrays must have the same floating or complex dtype.
    Errors: TypeError for arrays of different dtypes, and for bools and integers.

    >>> functx.lerp(jnp.zeros(2, "float32"), jnp.asarray([1.0, 2.0], "float32"), 0.25)
    Array([0.25, 0.5 ], dtype=float32)
    """
    weight = jnp.asarray(weight)
    if weight.ndim and weight.dtype != input.dtype:
        refuse(
            f"arrays must have the same dtype, got {describe(input)} and `weight` "
            f"{describe(weight)}",
            hint="x.astype(y.dtype) converts",
            error=TypeError,
        )
    if category(weight.dtype) > category(input.dtype):
        refuse(f"`weight` must be real beside {describe(input)}, got complex", error=TypeError)
    weight = converted(weight, input.dtype)
    input, end, weight = (x.astype(accumulator(x.dtype)) for x in (input, end, weight))
    return _lerp(*jnp.broadcast_arrays(input, end, weight))


def _between(input: Array, end: Array, weight: Array) -> Array:
    way = end - input
    return jnp.where(lax.abs(weight) < 0.5, input + weight * way, end - way * (1 - weight))


def _lerp_vjp(primals: Any, output: Array, cotangent: Array) -> tuple[Array, Array, Array]:
    input, end, weight = primals
    return cotangent * (1 - weight), cotangent * weight, cotangent * (end - input)


# The derivative of a choice adds 0 times that of the other side, which may be infinite.
_lerp = derivative_rules(_between, vjp=_lerp_vjp, name="lerp")

"""What PyTorch's functions say of dtypes, shapes and arrays, as Python's own numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core.errors import describe, fail, foreign_hint, Refused
from functx._core.numbers.dtypes import as_dtype, category, default_float, DTypeLike, is_numeric
from functx._core.numbers.promotion import result_dtype
from functx._core.numbers.weak_types import strong
from functx._core.numbers.wide_integers import refuse_wide
from functx._core.operators.concrete_values import peek
from functx._core.shapes.dimensions import canonical_shape
from functx._core.shapes.symbolic_sizes import known_sizes


_NUMBERS = (bool, int, float, complex)


def result_type(tensor1: Any, tensor2: Any) -> np.dtype:
    """The dtype of `tensor1 + tensor2`.

    - `tensor1`, `tensor2`: arrays or Python numbers.

    Arrays with dimensions outrank 0-d arrays, and both outrank Python numbers.

    Errors: TypeError for anything else.

    >>> functx.result_type(jnp.ones(2, "int32"), 1.5)
    dtype('float32')
    """
    given = {"tensor1": tensor1, "tensor2": tensor2}
    for name, x in given.items():
        if not isinstance(x, _NUMBERS):
            _refuse_no_array("result_type", name, x)
    try:
        for name, x in given.items():
            refuse_wide(name, x)
    except Refused as refused:
        worded = refused.by("result_type")
    else:
        return _result_of("result_type", [jnp.asarray(strong(x)) for x in given.values()])
    raise worded


def promote_types(type1: DTypeLike, type2: DTypeLike) -> np.dtype:
    """The smallest dtype to which arrays of two dtypes promote.

    - `type1`, `type2`: dtypes, by name or as objects.

    Errors: TypeError for what is no dtype.

    >>> functx.promote_types("int32", functx.float16)
    dtype('float16')
    """
    first, second = _named("promote_types", type1=type1, type2=type2)
    return _result_of("promote_types", [jnp.zeros(1, first), jnp.zeros(1, second)])


def _result_of(who: str, arrays: list[jax.Array]) -> np.dtype:
    try:
        return result_dtype(arrays)
    except Refused as refused:
        worded = refused.by(who)
    raise worded


def can_cast(from_: DTypeLike, to: DTypeLike) -> bool:
    """Whether numbers of one dtype may be cast to another dtype, digits aside.

    - `from_`, `to`: dtypes, by name or as objects.

    No complex number becomes real, none with a fraction an integer, and no number a bool.

    Errors: TypeError for what is no dtype.

    >>> functx.can_cast("float64", "float16"), functx.can_cast("float16", "int64")
    (True, False)
    """
    first, second = _named("can_cast", from_=from_, to=to)
    return category(first) <= category(second)


def is_complex(input: Any) -> bool:
    """Whether the dtype of an array is complex.

    - `input`: an array, also a traced one.

    Errors: TypeError for what is no array.

    >>> functx.is_complex(jnp.ones(2))
    False
    """
    return category(_dtype_of("is_complex", input)) == 3


def is_floating_point(input: Any) -> bool:
    """Whether the dtype of an array is floating.

    - `input`: an array, also a traced one.

    Errors: TypeError for what is no array.

    >>> functx.is_floating_point(jnp.ones(2))
    True
    """
    return category(_dtype_of("is_floating_point", input)) == 2


def is_signed(input: Any) -> bool:
    """Whether the dtype of an array has negative numbers.

    - `input`: an array, also a traced one.

    Errors: TypeError for what is no array.

    >>> functx.is_signed(jnp.ones(2, "uint8"))
    False
    """
    dtype = _dtype_of("is_signed", input)
    return category(dtype) > 0 and dtype.kind != "u"


def is_tensor(obj: Any) -> bool:
    """Whether an object is a `jax.Array`.

    - `obj`: any object. A traced array is a `jax.Array`; NumPy's arrays are not.

    >>> functx.is_tensor(jnp.ones(2)), functx.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, jax.Array)


def numel(input: Any) -> int:
    """The number of elements of an array.

    - `input`: an array, also a traced one.

    Errors: TypeError for what is no array.

    >>> functx.numel(jnp.ones((2, 3)))
    6
    """
    _dtype_of("numel", input)
    return math.prod(input.shape)


def is_nonzero(input: Any) -> bool:
    """Whether the only element of an array is not 0.

    - `input`: an array with one element.

    Errors: RuntimeError for another number of elements, TypeError for what is no array, and while a
    program is traced in which the element is not known.

    >>> functx.is_nonzero(jnp.asarray([0.5]))
    True
    """
    _dtype_of("is_nonzero", input)
    if math.prod(input.shape) != 1:
        fail("is_nonzero", f"`input` must have one element, got {describe(input)}")
    values = peek(input)
    if values is None or values.shape != input.shape:
        fail(
            "is_nonzero",
            f"`input` must be known, got {describe(input)}",
            hint="functx.where and jax.lax.cond choose inside a program",
            error=TypeError,
        )
    return bool(values.reshape(()))


def is_same_size(input: Any, other: Any) -> bool:
    """Whether two arrays have one shape.

    - `input`, `other`: arrays, also traced ones.

    Errors: TypeError for what is no array.

    >>> functx.is_same_size(jnp.ones(2), jnp.ones((2, 1)))
    False
    """
    _dtype_of("is_same_size", input)
    _refuse_no_array("is_same_size", "other", other)
    return input.shape == other.shape


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """The shape to which arrays of the given shapes broadcast.

    - `shapes`: sequences of sizes, or an int for a shape of one dimension.

    Errors: RuntimeError if the shapes do not broadcast, ValueError for negative sizes.

    >>> functx.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    who = "broadcast_shapes"
    try:
        each = [canonical_shape(shape, f"shapes[{i}]") for i, shape in enumerate(shapes)]
    except Refused as refused:
        raise refused.by(who) from None
    if any(n < 0 for shape in each for n in known_sizes(shape)):
        fail(who, f"sizes must not be negative, got {list(map(list, each))}", error=ValueError)
    out = [1] * max(map(len, each), default=0)
    for shape in each:
        for place, n in enumerate(reversed(shape), 1):
            if n != 1 and out[-place] not in (1, n):
                fail(who, f"shapes do not broadcast: {', '.join(str(list(s)) for s in each)}")
            out[-place] = n if n != 1 else out[-place]
    return tuple(out)


def finfo(type: DTypeLike | None = None) -> Any:
    """Limits of a floating dtype, or of a complex one's parts: `bits`, `eps`, `max`, `tiny`, ...

    - `type`: a floating or complex dtype, by name or as an object. None is the default dtype.

    Errors: TypeError for any other dtype.

    >>> float(functx.finfo("float16").max)
    65504.0
    """
    [dtype] = _named("finfo", type=default_float() if type is None else type)
    if category(dtype) < 2:
        fail("finfo", f"`type` must be a floating dtype, got {dtype.name}", error=TypeError)
    return jnp.finfo(dtype)


def iinfo(type: DTypeLike) -> Any:
    """Limits of an integer dtype: `bits`, `min`, `max`.

    - `type`: an integer dtype, by name or as an object.

    Errors: TypeError for any other dtype.

    >>> functx.iinfo("uint8").max
    255
    """
    [dtype] = _named("iinfo", type=type)
    if category(dtype) != 1:
        fail("iinfo", f"`type` must be an integer dtype, got {dtype.name}", error=TypeError)
    return jnp.iinfo(dtype)


def _named(who: str, **dtypes: Any) -> list[np.dtype]:
    try:
        return [as_dtype(dtype, name) for name, dtype in dtypes.items()]
    except Refused as refused:
        worded = refused.by(who)
    raise worded


def _dtype_of(who: str, input: Any) -> np.dtype:
    _refuse_no_array(who, "input", input)
    return np.dtype(input.dtype)


def _refuse_no_array(who: str, name: str, x: Any) -> None:
    arrays = isinstance(x, (jax.Array, np.ndarray, np.generic)) or hasattr(x, "__jax_array__")
    if not arrays or not is_numeric(x.dtype):
        what = f"`{name}` must be an array, got {describe(x)}"
        fail(who, what, hint=foreign_hint(x), error=TypeError)

"""The annotations an operator's parameters may wear, and what each one means.

Postponed evaluation is required where operators are declared, so these are matched as
written. Any annotation not in `TRACED` is static: part of the compilation key.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.core import Tracer

from .errors import describe, refuse


# Traced, and decides the dtype of the result. Callers may pass a JAX or NumPy array or a
# Python number; the declared function receives a `jax.Array`. Hence `Any`.
ArrayLike: TypeAlias = Any
Arrays: TypeAlias = Sequence[Any]
# Traced, and does not: positions, masks and other arrays with a dtype of their own.
Index: TypeAlias = Any
Mask: TypeAlias = Any
Other: TypeAlias = Any
Others: TypeAlias = Sequence[Any]
# Traced Python numbers such as add's `alpha`. They arrive in the dtype of computation.
Scalar: TypeAlias = Any
# A PRNG key. Left out, it is drawn from the ambient generator.
Key: TypeAlias = Any
# Static. They reach the declared function as non-negative ints (a tuple for `Dims`, or None).
Dim: TypeAlias = int
Dims: TypeAlias = Any
# Static: sizes (a tuple of ints), a dtype (a NumPy one), where a new array lives.
Shape: TypeAlias = Any
DType: TypeAlias = Any
Device: TypeAlias = Any


def _optional(*notes: str) -> frozenset[str]:
    return frozenset(form for note in notes for form in (note, f"{note} | None"))


PROMOTING = _optional("ArrayLike", "Arrays")
SEVERAL = _optional("Arrays", "Others")
SCALARS = _optional("Scalar")
TRACED = PROMOTING | SCALARS | _optional("Index", "Mask", "Other", "Others", "Key")
WITH_VALUES = _optional("Index", "Mask", "Other", "Others")
SEQUENCES = _optional("Dims", "Shape")
DIMENSIONS = _optional("Dim", "Dims")
SHAPES = _optional("Shape")
DTYPES = _optional("DType")


def canonical_dim(dim: int, ndim: int, name: str = "dim") -> int:
    """Non-negative and in range. A 0-d array has a dimension 0 to name."""
    try:
        dim = operator.index(dim)
    except TypeError:
        refuse(f"`{name}` must be an int, got {describe(dim)}", error=TypeError)
    low, high = -max(ndim, 1), max(ndim, 1) - 1
    if not low <= dim <= high:
        refuse(f"`{name}` must lie in [{low}, {high}], got {dim}", error=IndexError)
    return dim % max(ndim, 1)


def canonical_dims(dims: Dims, ndim: int, name: str = "dim") -> tuple[int, ...] | None:
    """Non-negative, in range, without repeats; of a 0-d array none are left."""
    if dims is None:
        return None
    several = tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    out = tuple(canonical_dim(dim, ndim, name) for dim in several)
    if len(set(out)) < len(out):
        refuse(f"`{name}` names a dimension twice: {dims}")
    return out if ndim else ()


def canonical_shape(shape: Shape, name: str = "size") -> tuple[int, ...]:
    """A tuple of ints, from one int or any sequence of them."""
    several = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    try:
        return tuple(operator.index(n) for n in several)
    except TypeError:
        refuse(f"`{name}` must be an int or a sequence of ints, got {shape!r}", error=TypeError)


def frozen(x: Any) -> Any:
    """A static argument in hashable form: lists become tuples, concrete 0-d integers ints."""
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return tuple(frozen(item) for item in x)
    if isinstance(x, slice):
        return x
    if isinstance(x, (jax.Array, np.ndarray)) and not isinstance(x, Tracer):
        return frozen(np.asarray(x).tolist())
    return x


def parameter_notes(signature: inspect.Signature) -> dict[str, str]:
    """Each parameter's annotation, as written."""
    notes = {p.name: p.annotation for p in signature.parameters.values()}
    assert all(isinstance(note, str) for note in notes.values()), (
        "operators are declared under `from __future__ import annotations`"
    )
    return notes

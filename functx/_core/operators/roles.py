"""The annotations that an operator's parameters may wear, and the role each one gives.

Postponed evaluation is required where operators are declared, so annotations are strings. They
are parsed once, at the declaration, and one that is not known is refused there.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from functx._core.errors import fail, nearest
from functx._core.shapes.symbolic_sizes import (
    Size as Size,  # static: one size, an int or a symbolic one
)

from .static_options import parsed, PLAIN, SEQUENCES, Takes


class SupportsDType(Protocol):
    """What has a dtype, and can be given for it: an array, `functx.float32`."""

    @property
    def dtype(self) -> np.dtype[Any]: ...


# Traced, and decides the dtype of the result. Callers may pass a JAX or NumPy array or a
# Python number; the declared function receives a `jax.Array`. Hence `Any`.
ArrayLike: TypeAlias = Any
# The same, but beside halves a number or a 0-d array keeps its digits: `mul`'s `other`. Those
# of an `ArrayLike` are rounded to halves first, as PyTorch does.
ArrayOrFactor: TypeAlias = Any
# The same, but a Python number is refused, as PyTorch does.
ArrayOnly: TypeAlias = Any
Arrays: TypeAlias = Sequence[Any]
# The same, but Python numbers are refused, as PyTorch does.
ArraysOnly: TypeAlias = Sequence[Any]
# One array, or a sequence of them, and no Python numbers: the function gets what was given.
ArrayOrArrays: TypeAlias = Any
# Traced, and does not: positions, masks and other arrays with a dtype of their own.
Index: TypeAlias = Any
Mask: TypeAlias = Any
Other: TypeAlias = Any
Others: TypeAlias = Sequence[Any]
# One of them, or a sequence: the function gets what was given.
OtherOrOthers: TypeAlias = Any
# A traced number, such as an `eps`. A Python number arrives as a weakly typed 0-d array,
# which takes the dtype of what it meets, as if it were written there; any other in the dtype of
# computation. Left out, it is the default itself.
Scalar: TypeAlias = Any
# A scalar that is not complex, beside complex arrays either: a probability, a bound.
Real: TypeAlias = Any
# A scalar that beside integers loses its fraction. One that the dtype of computation cannot
# hold is refused, as by PyTorch: addmm's `alpha`.
Factor: TypeAlias = Any
# A factor that the arrays' own dtype must hold, also where halves are computed wider.
Fitting: TypeAlias = Any
# A real number that the arrays' own dtype must hold.
RealFitting: TypeAlias = Any
# A fitting number of their own kind: no float beside integers, no bool beside numbers.
Alike: TypeAlias = Any
# A PRNG key. Left out, it is drawn from the ambient generator.
Key: TypeAlias = Any
# Static. They reach the declared function as non-negative ints (a tuple for `Dims`, or None).
Dim: TypeAlias = int
Dims: TypeAlias = int | Sequence[int] | None
# Static: sizes (a tuple of ints or symbolic sizes), a dtype (a NumPy one), where a new array lives.
Shape: TypeAlias = Any
DType: TypeAlias = str | type[Any] | np.dtype[Any] | SupportsDType
Device: TypeAlias = Any


class Kind(enum.Enum):
    """What a parameter is for."""

    ARRAY = enum.auto()  # traced; decides the dtype
    OTHER = enum.auto()  # traced; has a dtype of its own
    SCALAR = enum.auto()  # traced; a number in the dtype of computation
    KEY = enum.auto()  # traced; randomness
    DIM = enum.auto()
    DIMS = enum.auto()
    SHAPE = enum.auto()
    DTYPE = enum.auto()
    DEVICE = enum.auto()
    OPTION = enum.auto()  # static, handed on as it is


class Fits(enum.Enum):
    """Which dtype must hold a number."""

    ARRAYS = enum.auto()  # the one to which arrays promote
    COMPUTATION = enum.auto()  # the one in which they are computed


TRACED = frozenset({Kind.ARRAY, Kind.OTHER, Kind.SCALAR, Kind.KEY})
_ARRAYS = (Kind.ARRAY, Kind.OTHER)
_WORDS = {
    Kind.ARRAY: "an array",
    Kind.OTHER: "an array",
    Kind.SCALAR: "a number or a 0-d array",
    Kind.KEY: "a PRNG key",
    Kind.DIM: "an int",
    Kind.DIMS: "an int or a sequence of ints",
    Kind.SHAPE: "an int or a sequence of ints",
    Kind.DTYPE: "a dtype",
    Kind.DEVICE: "'cpu', 'gpu', 'cuda:0', a jax.Device or a Sharding",
}


@dataclasses.dataclass(frozen=True)
class Role:
    """What a parameter is for, and in which forms it may be given."""

    kind: Kind
    optional: bool = False  # None may be given
    several: bool = False  # a sequence of arrays, or static and maybe a sequence
    alone: bool = False  # one array will do in place of the sequence
    number: bool = True  # a Python number will do
    unrounded: bool = False  # a 0-d one keeps its value beside halves
    fits: Fits | None = None  # which dtype must hold the number
    alike: bool = True  # the number must be of a kind that the arrays hold
    counts: bool = True  # True is the number 1
    real: bool = False  # the number is not complex, whatever the arrays are
    takes: Takes | None = dataclasses.field(default=None, compare=False)  # of options

    @property
    def traced(self) -> bool:
        """Whether it is an argument of the compiled program, and not part of its key."""
        return self.kind in TRACED

    @property
    def words(self) -> str:
        """What errors say that must be given."""
        if self.takes is not None:
            return self.takes.words
        words = _WORDS[self.kind]
        if self.kind in _ARRAYS and self.several:
            words = "an array or " * self.alone + "a sequence of arrays"
        return words + " or None" * (self.optional and self.kind in (Kind.DIM, Kind.DIMS))


_ROLES = {
    "ArrayLike": Role(Kind.ARRAY),
    "ArrayOrFactor": Role(Kind.ARRAY, unrounded=True),
    "ArrayOnly": Role(Kind.ARRAY, number=False),
    "Arrays": Role(Kind.ARRAY, several=True),
    "ArraysOnly": Role(Kind.ARRAY, several=True, number=False),
    "ArrayOrArrays": Role(Kind.ARRAY, several=True, alone=True, number=False),
    "Index": Role(Kind.OTHER),
    "Mask": Role(Kind.OTHER),
    "Other": Role(Kind.OTHER),
    "Others": Role(Kind.OTHER, several=True),
    "OtherOrOthers": Role(Kind.OTHER, several=True, alone=True),
    "Scalar": Role(Kind.SCALAR),
    "Real": Role(Kind.SCALAR, real=True),
    "Factor": Role(Kind.SCALAR, fits=Fits.COMPUTATION, alike=False),
    "Fitting": Role(Kind.SCALAR, fits=Fits.ARRAYS, alike=False),
    "RealFitting": Role(Kind.SCALAR, fits=Fits.ARRAYS, real=True),
    "Alike": Role(Kind.SCALAR, fits=Fits.ARRAYS, counts=False),
    "Key": Role(Kind.KEY, optional=True),
    "Dim": Role(Kind.DIM),
    "Dims": Role(Kind.DIMS, optional=True, several=True),
    "Shape": Role(Kind.SHAPE, several=True),
    "DType": Role(Kind.DTYPE),
    "Device": Role(Kind.DEVICE),
}
NUMBERS = frozenset(note for note, role in _ROLES.items() if role.kind is Kind.SCALAR)


def check_annotations(who: str, rule: Callable[..., Any]) -> None:
    """Refuses annotations of the parameters of `rule` that give no role."""
    for name, note in rule.__annotations__.items():
        if name != "return":
            role_of(who, name, note)


def role_of(who: str, name: str, note: Any) -> Role:
    """The role that its annotation gives to a parameter, refused if there is none."""
    if not isinstance(note, str):
        fail(
            who,
            f"`{name}` must be annotated with a string, got {note!r}",
            hint="declare operators under `from __future__ import annotations`",
            error=TypeError,
        )
    role, strange = _annotated(note)
    if strange is not None:
        fail(
            who,
            f"`{name}` must be annotated with a role or the types of a static option, got {note}",
            hint=_remedy(strange),
            error=TypeError,
        )
    return role


@ft.cache
def _annotated(note: str) -> tuple[Role, str | None]:
    """The role that an annotation gives, and the first name in it that means nothing here."""
    node = ast.parse(note, mode="eval").body
    choices = _alternatives(node)
    names = [choice for choice in choices if choice != "None"]
    optional = len(names) < len(choices)
    if len(names) == 1 and names[0] in _ROLES:
        role = _ROLES[names[0]]
        return dataclasses.replace(role, optional=role.optional or optional), None
    strange = [name for name in names if name not in (*PLAIN, *SEQUENCES, "Literal")]
    several = any(name in SEQUENCES for name in names)
    takes = None if strange else parsed(node)
    return Role(Kind.OPTION, optional, several, takes=takes), next(iter(strange), None)


def _remedy(name: str) -> str:
    if name in _ROLES:
        return f"{name} stands alone, or beside None"
    known = ", ".join((*_ROLES, *PLAIN))
    return nearest(name, (*_ROLES, *PLAIN), cutoff=0.6) or f"there are {known}, Literal[...]"


def _alternatives(node: ast.expr) -> list[str]:
    """The names in a union, of a generic type without its arguments."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _alternatives(node.left) + _alternatives(node.right)
    if isinstance(node, ast.Subscript):
        return _alternatives(node.value)
    return [ast.unparse(node)]

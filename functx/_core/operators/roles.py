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
from typing import Any, Protocol, TYPE_CHECKING, TypeAlias

import numpy as np
from jax import Array

from functx._core.errors import fail, nearest
from functx._core.shapes.symbolic_sizes import (
    Size as Size,  # static: one size, an int or a symbolic one
)

from .static_options import OptionType, parsed, PLAIN, SEQUENCES


class SupportsDType(Protocol):
    """What has a dtype, and can be given for it: an array, `functx.float32`."""

    @property
    def dtype(self) -> np.dtype[Any]: ...


# Callers may pass a JAX or NumPy array or a Python number; the declared function receives a
# `jax.Array`. So type checkers see protocols, which arrays and numbers satisfy, and strings and
# lists do not, and which in the function are arrays, by their base. Only type checkers can derive
# a protocol from a class.
if TYPE_CHECKING:

    class ArrayLike(Protocol, Array):  # pyright: ignore[reportGeneralTypeIssues]
        """A JAX or NumPy array, or a Python number."""

        def __abs__(self) -> Any: ...

    class ArrayOnly(Protocol, Array):  # pyright: ignore[reportGeneralTypeIssues]
        """A JAX or NumPy array."""

        def __abs__(self) -> Any: ...

        @property
        def shape(self) -> Any: ...

else:
    # Traced, and decides the dtype of the result.
    ArrayLike: TypeAlias = Any
    # As `ArrayLike`, but a Python number is refused, as PyTorch does.
    ArrayOnly: TypeAlias = Any
# As `ArrayLike`, but beside halves a number or a 0-d array keeps its digits: `mul`'s `other`. An
# `ArrayLike` is rounded to halves first, as PyTorch does.
ArrayOrUnroundedNumber: TypeAlias = ArrayLike
Arrays: TypeAlias = Sequence[ArrayLike]
# As `Arrays`, but Python numbers are refused, as PyTorch does.
ArraysOnly: TypeAlias = Sequence[ArrayOnly]
# One array, or a sequence of them, and no Python numbers: the function gets what was given.
ArrayOrArrays: TypeAlias = ArrayOnly | Sequence[ArrayOnly]
# Traced, and takes no part in promotion: positions, masks, other arrays with a dtype of their own.
Index: TypeAlias = ArrayLike
Mask: TypeAlias = ArrayLike
UnpromotedArray: TypeAlias = ArrayLike
UnpromotedArrays: TypeAlias = Sequence[ArrayLike]
# One such array, or a sequence of them: the function gets what was given.
UnpromotedArrayOrArrays: TypeAlias = ArrayLike | Sequence[ArrayLike]
# A traced number, such as an `eps`. A Python number arrives as a weakly typed 0-d array,
# which takes the dtype of what it meets, as if it were written there; any other in the dtype of
# computation. Left out, it is the default itself.
Scalar: TypeAlias = ArrayLike
# A scalar that is not complex, beside complex arrays either: a probability, a bound.
RealScalar: TypeAlias = ArrayLike
# A scalar that is converted to the dtype of computation: beside integers it loses its fraction, and
# one that the dtype cannot hold is refused, as by PyTorch: addmm's `alpha`.
ComputeDtypeScalar: TypeAlias = ArrayLike
# A scalar that is converted to the arrays' own dtype, also where halves are computed wider: the
# dtype must hold it, and beside integers it loses its fraction.
ArrayDtypeScalar: TypeAlias = ArrayLike
# A real scalar that the arrays' own dtype must hold.
RealArrayDtypeScalar: TypeAlias = ArrayLike
# A scalar of the arrays' own kind, which their dtype must hold: no float beside integers, no bool
# beside numbers.
SameKindScalar: TypeAlias = ArrayLike
# A PRNG key. Left out, it is drawn from `generator`, by default the ambient one. The parameter
# `generator: Generator | None = None` stands beside it for callers; no rule ever receives one.
Key: TypeAlias = Any
# Static. They reach the declared function as non-negative ints (a tuple for `Dims`, or None).
Dim: TypeAlias = int
Dims: TypeAlias = int | Sequence[int] | None
# Static: sizes (a tuple of ints or symbolic sizes), a dtype (a NumPy one), where a new array lives.
Shape: TypeAlias = Any
DType: TypeAlias = str | type[Any] | np.dtype[Any] | SupportsDType
Device: TypeAlias = Any


class RoleKind(enum.Enum):
    """What a parameter is for."""

    ARRAY = enum.auto()  # traced; decides the dtype
    UNPROMOTED = enum.auto()  # traced; has a dtype of its own
    SCALAR = enum.auto()  # traced; a number in the dtype of computation
    KEY = enum.auto()  # traced; randomness
    GENERATOR = enum.auto()  # where the key is drawn from, before the operator's program runs
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


TRACED = frozenset({RoleKind.ARRAY, RoleKind.UNPROMOTED, RoleKind.SCALAR, RoleKind.KEY})
_ARRAYS = (RoleKind.ARRAY, RoleKind.UNPROMOTED)
_WORDS = {
    RoleKind.ARRAY: "an array",
    RoleKind.UNPROMOTED: "an array",
    RoleKind.SCALAR: "a number or a 0-d array",
    RoleKind.KEY: "a PRNG key",
    RoleKind.GENERATOR: "a functx.Generator",
    RoleKind.DIM: "an int",
    RoleKind.DIMS: "an int or a sequence of ints",
    RoleKind.SHAPE: "an int or a sequence of ints",
    RoleKind.DTYPE: "a dtype",
    RoleKind.DEVICE: "'cpu', 'gpu', 'cuda:0', a jax.Device or a Sharding",
}


@dataclasses.dataclass(frozen=True)
class Role:
    """What a parameter is for, and in which forms it may be given."""

    kind: RoleKind
    optional: bool = False  # None may be given
    several: bool = False  # a sequence of arrays, or static and maybe a sequence
    or_single: bool = False  # one array may be given in place of the sequence
    takes_number: bool = True  # a Python number may be given in place of an array
    unrounded: bool = False  # a 0-d one keeps its value beside halves
    fits: Fits | None = None  # which dtype must hold the number
    same_kind: bool = True  # the number must be of a kind that the arrays hold
    bool_counts: bool = True  # True may be given for the number 1
    real: bool = False  # the number is not complex, whatever the arrays are
    option_type: OptionType | None = dataclasses.field(default=None, compare=False)  # of options

    @property
    def traced(self) -> bool:
        """Whether it is an argument of the compiled program, and not part of its key."""
        return self.kind in TRACED

    @property
    def words(self) -> str:
        """What errors say that must be given."""
        if self.option_type is not None:
            return self.option_type.words
        words = _WORDS[self.kind]
        if self.kind in _ARRAYS and self.several:
            words = "an array or " * self.or_single + "a sequence of arrays"
        return words + " or None" * (self.optional and self.kind in (RoleKind.DIM, RoleKind.DIMS))


_ROLES = {
    "ArrayLike": Role(RoleKind.ARRAY),
    "ArrayOrUnroundedNumber": Role(RoleKind.ARRAY, unrounded=True),
    "ArrayOnly": Role(RoleKind.ARRAY, takes_number=False),
    "Arrays": Role(RoleKind.ARRAY, several=True),
    "ArraysOnly": Role(RoleKind.ARRAY, several=True, takes_number=False),
    "ArrayOrArrays": Role(RoleKind.ARRAY, several=True, or_single=True, takes_number=False),
    "Index": Role(RoleKind.UNPROMOTED),
    "Mask": Role(RoleKind.UNPROMOTED),
    "UnpromotedArray": Role(RoleKind.UNPROMOTED),
    "UnpromotedArrays": Role(RoleKind.UNPROMOTED, several=True),
    "UnpromotedArrayOrArrays": Role(RoleKind.UNPROMOTED, several=True, or_single=True),
    "Scalar": Role(RoleKind.SCALAR),
    "RealScalar": Role(RoleKind.SCALAR, real=True),
    "ComputeDtypeScalar": Role(RoleKind.SCALAR, fits=Fits.COMPUTATION, same_kind=False),
    "ArrayDtypeScalar": Role(RoleKind.SCALAR, fits=Fits.ARRAYS, same_kind=False),
    "RealArrayDtypeScalar": Role(RoleKind.SCALAR, fits=Fits.ARRAYS, real=True),
    "SameKindScalar": Role(RoleKind.SCALAR, fits=Fits.ARRAYS, bool_counts=False),
    "Key": Role(RoleKind.KEY, optional=True),
    "Generator": Role(RoleKind.GENERATOR),
    "Dim": Role(RoleKind.DIM),
    "Dims": Role(RoleKind.DIMS, optional=True, several=True),
    "Shape": Role(RoleKind.SHAPE, several=True),
    "DType": Role(RoleKind.DTYPE),
    "Device": Role(RoleKind.DEVICE),
}
NUMBERS = frozenset(note for note, role in _ROLES.items() if role.kind is RoleKind.SCALAR)


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
    option_type = None if strange else parsed(node)
    role = Role(RoleKind.OPTION, optional, several, option_type=option_type)
    return role, next(iter(strange), None)


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

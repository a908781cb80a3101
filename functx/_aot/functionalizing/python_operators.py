"""Python's operators on a mutable array: operators of functx on what it holds, or writes to it."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import jax

from functx._core import OPERATORS


def _binary(name: str, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    """A method for one of Python's operators with two sides."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, (str, tuple, list, dict, type(None))):
            return NotImplemented
        mine = self._read()
        return OPERATORS[name](other, mine) if reflected else OPERATORS[name](mine, other)

    return method


def _unary(name: str) -> Callable[[Any], Any]:
    return lambda self: OPERATORS[name](self._read())


def _augmented(name: str) -> Callable[[Any, Any], Any]:
    """A method that writes, for `+=` and its kin."""
    return lambda self, other: getattr(self, f"{name}_")(other)


class PythonOperators:
    """Python's operators for a class that reads an array and writes by methods with a suffix."""

    __slots__ = ()
    __hash__ = object.__hash__

    @abstractmethod
    def _read(self) -> jax.Array: ...

    __add__, __radd__ = _binary("add"), _binary("add", reflected=True)
    __sub__, __rsub__ = _binary("sub"), _binary("sub", reflected=True)
    __mul__, __rmul__ = _binary("mul"), _binary("mul", reflected=True)
    __truediv__, __rtruediv__ = _binary("div"), _binary("div", reflected=True)
    __floordiv__ = _binary("floor_divide")
    __rfloordiv__ = _binary("floor_divide", reflected=True)
    __mod__, __rmod__ = _binary("remainder"), _binary("remainder", reflected=True)
    __pow__, __rpow__ = _binary("pow"), _binary("pow", reflected=True)
    __matmul__, __rmatmul__ = _binary("matmul"), _binary("matmul", reflected=True)
    __and__, __rand__ = _binary("bitwise_and"), _binary("bitwise_and", reflected=True)
    __or__, __ror__ = _binary("bitwise_or"), _binary("bitwise_or", reflected=True)
    __xor__, __rxor__ = _binary("bitwise_xor"), _binary("bitwise_xor", reflected=True)
    __lshift__ = _binary("bitwise_left_shift")
    __rlshift__ = _binary("bitwise_left_shift", reflected=True)
    __rshift__ = _binary("bitwise_right_shift")
    __rrshift__ = _binary("bitwise_right_shift", reflected=True)

    __eq__ = _binary("eq")
    __ne__ = _binary("ne")
    __lt__, __le__ = _binary("lt"), _binary("le")
    __gt__, __ge__ = _binary("gt"), _binary("ge")

    __neg__, __pos__ = _unary("neg"), _unary("positive")
    __abs__, __invert__ = _unary("abs"), _unary("bitwise_not")

    __iadd__, __isub__ = _augmented("add"), _augmented("sub")
    __imul__, __itruediv__ = _augmented("mul"), _augmented("div")
    __ifloordiv__, __imod__ = _augmented("floor_divide"), _augmented("remainder")
    __ipow__ = _augmented("pow")
    __iand__, __ior__, __ixor__ = (
        _augmented("bitwise_and"),
        _augmented("bitwise_or"),
        _augmented("bitwise_xor"),
    )
    __ilshift__ = _augmented("bitwise_left_shift")
    __irshift__ = _augmented("bitwise_right_shift")

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __complex__(self) -> complex:
        return complex(self._read())

    def __index__(self) -> int:
        return operator.index(self._read())

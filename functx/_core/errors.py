"""One place decides how functx words a refusal: `<who>: <what>`, and a hint below."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, NoReturn, TypeGuard

import jax
import numpy as np
from jax import export
from jax.core import ShapedArray


_SHORT = {"float": "f", "bfloat": "bf", "complex": "c", "int": "i", "uint": "u"}
_MANY, _LONG = 20, 120  # elements, and characters or bits, that a message shows
_ARRAYS = (jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct, ShapedArray)


class Refused(Exception):
    """A rule's objection, still without the operator's name. Users never see this type."""

    def __init__(self, message: str, hint: str, error: type[Exception]):
        super().__init__(message)
        self.message, self.hint, self.error = message, hint, error

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.hint, self.error), vars(self)

    def by(self, who: str) -> Exception:
        """The exception users do see."""
        return self.error(
            f"{who}: {self.message}" + (f"\n  hint: {self.hint}" if self.hint else "")
        )


class OfCaller(Exception):
    """An error of a function that the caller gave: it passes an operator, with a note."""

    def __init__(self, error: Exception, argument: str = ""):
        super().__init__(error, argument)
        self.error, self.argument = error, argument

    def passed_by(self, who: str) -> NoReturn:
        """Raises the caller's own exception, with a note that says which function raised it."""
        error, context = self.error, self.error.__context__
        error.add_note(f"{who}: the function `{self.argument}` raised this")
        try:
            raise error
        finally:
            error.__context__ = context  # not this exception, which the caller knows nothing of


def refuse(message: str, *, hint: str = "", error: type[Exception] = RuntimeError) -> NoReturn:
    """Refuses from inside an operator's rule; the catalog adds the operator's name."""
    raise Refused(message, hint, error)


def fail(
    who: str, message: str, *, hint: str = "", error: type[Exception] = RuntimeError
) -> NoReturn:
    """Raises `error` outside of an operator's rule, worded as every functx error is."""
    __tracebackhide__ = True  # pytest shows who refuses
    raise Refused(message, hint, error).by(who) from None


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.7) -> str:
    """A hint at the names that were meant, if any is near."""
    near = near_names(name, names, cutoff=cutoff)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""


def near_names(
    name: str, names: Iterable[str], *, count: int = 3, cutoff: float = 0.7
) -> list[str]:
    """The names that may have been meant, the nearest first."""
    return difflib.get_close_matches(name, list(names), n=count, cutoff=cutoff)


def require_bool(who: str, name: str, value: object) -> None:
    """Refuses an option that is not True or False."""
    if not isinstance(value, bool):
        fail(who, f"`{name}` must be a bool, got {describe(value)}", error=TypeError)


def describe(x: Any) -> str:
    """`f32[2,3]` for arrays, tracers and shape structs, for others what they are, briefly."""
    if not _is_array(x):
        return _foreign(x) or _shown(x)
    if _is_extended(x.dtype):
        return f"{x.dtype}[{','.join(map(str, x.shape))}]"
    name = np.dtype(x.dtype).name
    kind = name.rstrip("0123456789")
    return f"{_SHORT.get(kind, kind)}{name[len(kind) :]}[{','.join(map(str, x.shape))}]"


def _foreign(x: Any) -> str:
    """`torch.Tensor[2,3]`, whose values say nothing about what went wrong."""
    if not hasattr(x, "detach") or not foreign_hint(x):
        return ""
    return f"torch.{type(x).__name__}[{','.join(map(str, x.shape))}]"


def foreign_hint(x: Any) -> str:
    """How to convert what PyTorch made, or a sparse array, into an array; empty for others."""
    if type(x).__module__.startswith("jax.experimental.sparse"):
        return "functx.sparse.mm multiplies sparse arrays, functx.sparse.to_dense(x) is an array"
    if type(x).__module__.partition(".")[0] != "torch":
        return ""
    kind = type(x).__name__
    if kind == "dtype":
        return f"use functx.{str(x).removeprefix('torch.')}"
    if kind == "device":
        return f"use device={str(x)!r}, a string, or one of jax.devices()"
    if hasattr(x, "detach"):
        constant = "x.detach()" if getattr(x, "requires_grad", False) else "x"
        return f"functx.from_dlpack({constant}) makes a JAX array, without a copy if it can"
    return ""


def _shown(x: Any) -> str:
    """The `repr` of what is written so, shortened; of other objects the type."""
    if isinstance(x, type):
        return f"the class {x.__module__}.{x.__qualname__}"
    if isinstance(x, int) and x.bit_length() > _LONG:
        return f"an integer of {x.bit_length()} bits"
    if _is_extended(x) or export.is_symbolic_dim(x):
        return str(x)
    plain = isinstance(x, (bool, int, float, complex, str, bytes, slice, np.dtype))
    if x is None or plain or foreign_hint(x):
        text = repr(x)
    elif isinstance(x, (tuple, list)):
        inner = ", ".join(map(describe, x[:_MANY])) + ", ..." * (len(x) > _MANY)
        alone = "," * (isinstance(x, tuple) and len(x) == 1)
        text = f"[{inner}]" if isinstance(x, list) else f"({inner}{alone})"
    else:
        name = type(x).__qualname__
        text = name if type(x).__module__ == "builtins" else f"{type(x).__module__}.{name}"
    return text if len(text) < _LONG else f"{text[: _LONG // 2]} ... {text[-_LONG // 4 :]}"


def _is_extended(x: Any) -> bool:
    """Whether `x` is a dtype of JAX's own, as that of keys."""
    kind = getattr(x, "type", None)
    return isinstance(kind, type) and issubclass(kind, jax.dtypes.extended)


def _is_array(x: Any) -> TypeGuard[jax.Array]:
    return isinstance(x, _ARRAYS)

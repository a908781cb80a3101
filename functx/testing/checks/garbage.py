"""Garbage in the place of each argument: things of another kind, and sizes that nothing holds."""

from __future__ import annotations

import decimal
import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe
from functx._core.operators.roles import Role, RoleKind
from functx.testing.calls import Calls, Given
from functx.testing.opinfo import OpInfo, Sample


ERRORS = (
    TypeError,
    ValueError,
    IndexError,
    RuntimeError,
    OverflowError,
    NotImplementedError,
    MemoryError,
)
# How Python and JAX write what they have no words for.
INTERNAL = re.compile(r" at 0x|jax\._src|jaxlib|mlir|Traced<|Tracer\b|ShapedArray|<function|<class")

Tensor = type("Tensor", (), {"__module__": "torch", "__doc__": "What PyTorch would pass."})


def _anything() -> Iterator[Any]:
    """What is nothing that an operator takes, wherever it stands."""
    yield from ({}, set(), object(), b"bytes", len, slice(None), Ellipsis, decimal.Decimal(1))
    yield from (range(3), Tensor(), np.array(["text"]), np.array([object()]))
    yield np.array(["2020-01-01"], "datetime64[D]")
    yield np.array([(1, 2.0)], [("a", "i4"), ("b", "f4")])


def _no_array() -> Iterator[Any]:
    yield from _anything()
    yield from ({"a": jnp.ones(2)}, "text", 2**64, -(2**64), np.float32, jax.random.key(0))


def _no_one_array() -> Iterator[Any]:
    yield from _no_array()
    yield [2.0]


def _no_arrays() -> Iterator[Any]:
    yield from _no_array()
    yield from ([{}], [object()], ["text"], [[1.0]], [Tensor()], [jnp.ones(2), None])
    yield (x for x in [jnp.ones(2)])


def _no_arrays_only() -> Iterator[Any]:
    yield from _no_arrays()
    yield 1.5


def _no_key() -> Iterator[Any]:
    yield from _anything()
    yield from (0, 1.5, "text", jnp.ones((2, 3)), jnp.zeros(2, "int32"))


def _no_int() -> Iterator[Any]:
    yield from _anything()
    yield from (1.5, float("nan"), "1", True, 1j, 2**64, -(2**64), np.float32, jnp.ones((2, 3)))
    yield from ([1.5], ["text"], [None], [{}], [True], jax.random.key(0))


def _no_dtype() -> Iterator[Any]:
    yield from (x for x in _anything() if not hasattr(x, "dtype"))
    yield from (3, 1.5, True, 2**64, "text", "object", "datetime64[D]", str, object, [1])
    yield from (np.dtype([("a", "f4")]), jax.random.key(0))


def _no_device() -> Iterator[Any]:
    yield from _anything()
    yield from (3, 1.5, 2**64, True, "text", "cuda:x", "cpu:77", np.float32, jnp.ones((2, 3)))


_NO: dict[RoleKind, Callable[[], Iterator[Any]]] = {
    RoleKind.ARRAY: _no_one_array,
    RoleKind.UNPROMOTED: _no_one_array,
    RoleKind.SCALAR: _no_one_array,
    RoleKind.KEY: _no_key,
    RoleKind.DIM: _no_int,
    RoleKind.DIMS: _no_int,
    RoleKind.SHAPE: _no_int,
    RoleKind.DTYPE: _no_dtype,
    RoleKind.DEVICE: _no_device,
}
# Values of each type, and the types of static options that take them.
_OF_A_TYPE: tuple[tuple[tuple[Any, ...], set[str]], ...] = (
    ((True, False), {"bool", "float"}),
    ((2,), {"int", "Size", "float"}),
    ((2**64, -(2**64)), {"float"}),
    ((1.5, float("nan")), {"float"}),
    (("text",), {"str"}),
)


def _no_option(role: Role) -> Iterator[Any]:
    yield from _anything()
    yield from (1j, np.float32, jnp.ones((2, 3)), jax.random.key(0), [[{}]])
    assert role.option_type is not None
    taken = {*role.option_type.plain, *(["str"] if role.option_type.choices else [])}
    for values, types in _OF_A_TYPE:
        if not taken & types:
            yield from values


def nonsense(role: Role) -> Iterator[Any]:
    """What must be refused in the place of an argument."""
    if role.kind is RoleKind.OPTION:
        yield from _no_option(role)
    else:
        several = _no_arrays if role.or_single and role.takes_number else _no_arrays_only
        yield from (several if role.several and role.traced else _NO[role.kind])()
    none = role.option_type.none if role.option_type is not None else role.optional
    if not none and role.kind is not RoleKind.KEY:
        yield None


def check_garbage(info: OpInfo, sample: Sample) -> None:
    """What is no argument is refused: by the operator's name and the argument's, in plain words."""
    assert info.spec is not None
    calls = Calls(info.op)
    given = calls.arguments(sample.args, sample.kwargs)
    wrong: list[str] = []
    for name, role in info.spec.roles.items():
        for value in nonsense(role):
            said = _complaint(calls, given, name, value)
            if said:
                wrong.append(f"{name}={describe(value)}: {said}")
    assert not wrong, f"{info.id}{sample!r}:\n  " + "\n  ".join(wrong)


def _complaint(calls: Calls, given: Given, name: str, value: Any) -> str:
    """What is wrong with how a call is refused, "" if nothing is.

    Where an operator has several signatures, another argument may be the one that is wrong.
    """
    assert calls.spec is not None
    who, named = calls.spec.name, f"`{name}" if calls.spec.other_signatures is None else ""
    try:
        with warnings.catch_warnings():  # JAX's, of what it has yet to refuse
            warnings.simplefilter("ignore", DeprecationWarning)
            _call_with(calls, given, name, value)
    except Exception as error:
        message, notes = str(error), getattr(error, "__notes__", ())
        if type(error) not in ERRORS:
            return f"{type(error).__name__}: {message}"
        if not any(line.startswith(f"{who}: ") and named in line for line in (message, *notes)):
            return f"names not both {who} and `{name}`: {message}"
        return f"is not in plain words: {message}" if INTERNAL.search(message) else ""
    return "accepted"


def _call_with(calls: Calls, given: Given, name: str, value: Any) -> Any:
    """By name, if it may be left out: by position, another of PyTorch's signatures may be meant."""
    if calls.parameters[name].default is inspect.Parameter.empty:
        return calls(given | {name: value})
    args, kwargs = calls.call_of({k: v for k, v in given.items() if k != name})
    return calls.op(*args, **{**kwargs, name: value})

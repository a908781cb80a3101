"""How a call of PyTorch's becomes a call here: by what the catalog declares, or by a table."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from functx._core import OPERATORS, REGISTRY
from functx._core.operators.catalog import OpSpec
from functx._interop.from_torch.programs import CatalogCall

from .looking_up import reduction_name
from .other_names import OTHER_NAMES, OtherName


# Arguments that mean nothing for arrays.
_IGNORED = frozenset(
    {
        "cudnn_enable",
        "cudnn_enabled",
        "device",
        "generator",
        "implicit",
        "layout",
        "memory_format",
        "non_blocking",
        "pin_memory",
        "requires_grad",
    }
)
_NAMESPACES = ("nn.functional.", "linalg.", "special.", "fft.")


class BoundCall(NamedTuple):
    """What a step calls, and with what."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]


class Parameter(NamedTuple):
    """A parameter of an ATen operator; `default` is `REQUIRED` if it has none."""

    name: str
    default: Any


REQUIRED = object()


@ft.cache
def _catalog() -> dict[str, str]:
    """The full names of operators by all of their names."""
    return {path: name for name, spec in REGISTRY.items() for path in (name, *spec.aliases)}


def other_name(name: str, overload: str) -> OtherName | None:
    """The table's entry for an operator of ATen's."""
    overload = "" if overload == "default" else overload
    return OTHER_NAMES.get(f"{name}.{overload}") or OTHER_NAMES.get(name)


def declared_operator(name: str) -> OpSpec | None:
    """The operator of the catalog that ATen calls `name`."""
    spaced = [
        prefix + "." + name.removeprefix(f"{prefix}_")
        for prefix in ("linalg", "special", "fft")
        if name.startswith(f"{prefix}_")
    ]
    for path in (name, *spaced, *(space + name for space in _NAMESPACES)):
        if path in _catalog():
            return REGISTRY[_catalog()[path]]
    return None


def parameters_of(spec: OpSpec, names: Sequence[str], others: Mapping[str, str]) -> dict[str, str]:
    """For ATen's names of parameters those of an operator; those that it lacks are left out."""
    known, out = spec.parameters, {}
    for name in names:
        ours = others.get(name, name)
        if ours == "self":
            ours = "input" if "input" in spec.roles else next(iter(spec.roles))
        ours = known.synonyms.get(ours, ours)
        if ours in spec.roles and name not in _IGNORED:
            out[name] = ours
    return out


def lacks(name: str, overload: str, names: Sequence[str]) -> list[str] | None:
    """The parameters that what stands for an operator of ATen's lacks; None: nothing does."""
    other = other_name(name, overload)
    if other is not None and other.function is not None:
        return []
    spec = declared_operator(name) if other is None else REGISTRY[other.operator]
    if spec is None:
        return None
    bound = parameters_of(spec, names, {} if other is None else other.names)
    return [each for each in names if each not in bound and each not in _IGNORED]


def bound_call(
    name: str,
    overload: str,
    parameters: Sequence[Parameter],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> BoundCall | None:
    """A call of ATen's operator with these arguments, or None if nothing stands for it."""
    given = dict(zip([p.name for p in parameters], args, strict=False)) | dict(kwargs)
    other = other_name(name, overload)
    if other is not None and other.function is not None:
        mine = {("input" if k == "self" else k): v for k, v in given.items() if k not in _IGNORED}
        return BoundCall(other.function, (), tuple(mine.items()))
    spec = declared_operator(name) if other is None else REGISTRY[other.operator]
    if spec is None:
        return None
    renamed = {} if other is None else other.names
    ours = parameters_of(spec, [p.name for p in parameters], renamed)
    bound: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name in given:
            if parameter.name in ours:
                bound[ours[parameter.name]] = given[parameter.name]
            elif parameter.name not in _IGNORED:
                if given[parameter.name] not in (None, parameter.default):
                    return None  # an option that nothing here has
        elif parameter.name in ours and _differs(spec, ours[parameter.name], parameter.default):
            bound[ours[parameter.name]] = parameter.default
    if "reduction" in bound:
        bound["reduction"] = reduction_name(bound["reduction"])
    if "dtype" in bound and bound["dtype"] is None:
        del bound["dtype"]
    return BoundCall(CatalogCall(spec.name), *_by_position(spec, bound))


def _differs(spec: OpSpec, name: str, default: Any) -> bool:
    """Whether ATen's default must be given: empty sequences stand for None in ATen."""
    if default is REQUIRED or default is None or default == ():
        return False
    theirs = reduction_name(default) if name == "reduction" else default
    return spec.parameters.defaults.get(name, REQUIRED) != theirs


def _by_position(
    spec: OpSpec, bound: dict[str, Any]
) -> tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]:
    """The arguments, by position as far as there are no gaps: such a call takes less time."""
    args: list[Any] = []
    for name in spec.parameters.positional:
        if name not in bound:
            break
        args.append(bound.pop(name))
    return tuple(args), tuple(bound.items())


def known_names() -> list[str]:
    """All names that ATen's operators may have here, for hints at one that was meant."""
    return [*_catalog(), *OTHER_NAMES, *OPERATORS]

"""`OpSpec`: all that functx knows of an operator; `REGISTRY`: all operators by name."""

from __future__ import annotations

import dataclasses
import enum
import functools as ft
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .dtypes import Accepts
from .promotion import Promote
from .signature import DIMENSIONS, DTYPES, SHAPES
from .values import Requirements


# Another of PyTorch's forms of a call, rewritten into the declared one.
Form = Callable[[tuple[Any, ...], dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]]


class Autocast(enum.Enum):
    """What `functx.autocast` does to an operator's floating-point arguments."""

    KEEP = enum.auto()  # leaves them alone
    LOWER = enum.auto()  # casts to the autocast dtype:   matmul, conv
    FLOAT32 = enum.auto()  # casts to float32:              exp, layer_norm, losses
    WIDEST = enum.auto()  # casts to the widest among them: addcmul, cat


@dataclasses.dataclass(frozen=True)
class OpSpec:
    """All that functx knows of one operator. Transforms and checks read only this."""

    name: str  # torch's path and functx's: "nn.functional.gelu"
    rule: Callable[..., Any]  # the declared function, not compiled
    signature: inspect.Signature
    promoting: tuple[str, ...]  # parameters that decide the dtype
    traced: tuple[str, ...]  # those and the other array or scalar parameters
    static: tuple[str, ...]  # the rest: part of the compilation key
    notes: Mapping[str, str]  # each parameter's annotation
    promote: Promote
    accepts: Accepts
    autocast: Autocast
    differentiable: bool
    random: bool  # consumes a PRNG key
    draws: Callable[..., bool] | None  # whether a call does, by its arguments; None: each does
    measured: Mapping[str, Callable[..., Any]]  # static sizes, counted from values if left out
    requires: Requirements | None  # what values must satisfy
    form: Form | None  # rewrites a call in another of PyTorch's signatures into this one
    aliases: tuple[str, ...]  # other full names

    @ft.cached_property
    def canonical_defaults(self) -> dict[str, Any]:
        """Defaults that are made canonical as given arguments are: `dim=1` of some rank."""
        canonical = DIMENSIONS | SHAPES | DTYPES
        defaults = {name: self.signature.parameters[name].default for name in self.notes}
        return {
            name: default
            for name, default in defaults.items()
            if self.notes[name] in canonical and default not in (None, inspect.Parameter.empty)
        }

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, those left out left out."""
        kwargs = dict(kwargs)
        if self.form is not None:
            args, kwargs = self.form(args, kwargs)
        return dict(self.signature.bind(*args, **kwargs).arguments)

    @property
    def key_parameter(self) -> str:
        """The parameter of a random operator that takes the key."""
        return next(name for name, note in self.notes.items() if note.startswith("Key"))

    def draws_key(self, *args: Any, **kwargs: Any) -> bool:
        """Whether a call consumes a key."""
        if self.draws is None:
            return self.random
        given = self.signature.bind(*args, **kwargs)
        given.apply_defaults()
        return self.draws(**given.arguments)


REGISTRY: dict[str, OpSpec] = {}
OPERATORS: dict[str, Callable[..., Any]] = {}  # the same keys: what users call

# Which of torch's namespaces a folder fills, unless a declaration gives the name in full.
_NAMESPACES = {
    "functx._ops.nn": "nn.functional.",
    "functx._ops.linalg": "linalg.",
    "functx._ops.fft": "fft.",
    "functx._ops.special": "special.",
    "functx._ops.masked": "masked.",
    "functx._ops.signal": "signal.windows.",
}


def torch_path(rule: Callable[..., Any]) -> str:
    """The full name of an operator declared as `rule`, by its folder."""
    module = rule.__module__
    space = next((ns for at, ns in _NAMESPACES.items() if f"{module}.".startswith(f"{at}.")), "")
    return space + rule.__name__


def register(spec: OpSpec, call: Callable[..., Any]) -> None:
    """Enters an operator into the registry, once, under names that a facade can show."""
    for path in (spec.name, *spec.aliases):
        space = path[: path.rfind(".") + 1]
        if space and space not in _NAMESPACES.values():
            raise AssertionError(f"operator {spec.name!r}: no namespace {space!r} for {path!r}")
    if spec.name in REGISTRY:
        raise AssertionError(f"operator {spec.name!r} is declared twice")
    REGISTRY[spec.name], OPERATORS[spec.name] = spec, call

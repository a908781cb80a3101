"""`OpSpec`: all that functx knows of an operator; `REGISTRY`: all operators by name."""

from __future__ import annotations

import dataclasses
import enum
import functools as ft
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from functx._core.numbers.dtypes import Accepts
from functx._core.numbers.promotion import Promote
from functx._core.primitives.taylor_mode import operators_along_curves

from .parameters import Parameters
from .roles import Role, RoleKind
from .value_requirements import Requirements


# Positional and keyword arguments of a call.
Arguments = tuple[tuple[Any, ...], dict[str, Any]]
# Rewrites a call in another of PyTorch's signatures into the declared one.
SignatureRewrite = Callable[[tuple[Any, ...], dict[str, Any]], Arguments]


class Autocast(enum.Enum):
    """What an operator's floating-point arguments are cast to in an autocast region.

    The declarations are PyTorch's. float64 is never cast.
    """

    KEEP = enum.auto()  # nothing
    LOWER = enum.auto()  # the region's dtype:       matmul, conv
    FLOAT32 = enum.auto()  # float32, unless the caller gives `dtype`: exp, layer_norm, losses
    WIDEST = enum.auto()  # the widest among them:   addcmul, cat
    BANNED = enum.auto()  # the call is refused:     binary_cross_entropy


@dataclasses.dataclass(frozen=True)
class OpSpec:
    """All that functx knows of one operator. Transforms and checks read only this."""

    name: str  # torch's path and functx's: "nn.functional.gelu"
    rule: Callable[..., Any]  # the declared function, not compiled
    promote: Promote
    accepts: Accepts
    autocast: Autocast  # by PyTorch's list for GPUs
    autocast_cpu: Autocast  # by that for CPUs
    differentiable: bool
    random: bool  # consumes a PRNG key
    needs_key: Callable[..., bool] | None  # whether a call does, by its arguments; None: all do
    sizes_from_values: Mapping[str, Callable[..., Any]]  # static sizes, counted if left out
    requires: Requirements | None  # what values must satisfy
    checked_on_request: bool  # whether eager calls check it in functx.debug.checking alone
    splits: Callable[..., Any] | None  # where it splits its first argument into pieces
    other_signatures: SignatureRewrite | None  # rewrites PyTorch's other signatures into this
    needs_array: bool  # whether one of those that decide the dtype must be an array
    zero_dim_promotes_alike: bool  # whether 0-d arrays promote as arrays with dimensions do
    dtype_may_narrow: bool  # whether `dtype=` may lose parts or digits of the input
    takes_storage_dtypes: bool  # whether arrays may have one that only stores numbers: float8
    synonyms: Mapping[str, str]  # other names of parameters
    aliases: tuple[str, ...]  # other full names

    @ft.cached_property
    def parameters(self) -> Parameters:
        """What the signature says, read when it is first asked for: there are many operators."""
        return Parameters(self.name, self.rule, self.synonyms, self.needs_array)

    @property
    def signature(self) -> inspect.Signature:
        """The signature of the declared function."""
        return self.parameters.signature

    @property
    def roles(self) -> Mapping[str, Role]:
        """What each parameter is for."""
        return self.parameters.roles

    @property
    def promoting(self) -> tuple[str, ...]:
        """The parameters that decide the dtype."""
        return self.parameters.promoting

    @property
    def traced(self) -> tuple[str, ...]:
        """The parameters that are arguments of the compiled program: arrays, numbers and keys."""
        return self.parameters.traced

    @property
    def static(self) -> tuple[str, ...]:
        """The parameters that are not traced: part of the key of the compiled program."""
        return self.parameters.static

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, without those that the caller left out."""
        kwargs = self.parameters.renamed(kwargs)
        if self.other_signatures is not None:
            args, kwargs = self.other_signatures(args, kwargs)
        return self.parameters.bound(*self.parameters.frozen(args, kwargs))

    @property
    def key_parameter(self) -> str:
        """The parameter of a random operator that takes the key."""
        return next(name for name, role in self.roles.items() if role.kind is RoleKind.KEY)

    def draws_key(self, *args: Any, **kwargs: Any) -> bool:
        """Whether a call consumes a key."""
        if self.needs_key is None:
            return self.random
        return self.needs_key(**self.parameters.defaults | self.arguments(args, kwargs))


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


_FUNCTX = str(Path(__file__).parents[2])


def operator_called(params: Mapping[str, Any]) -> str | None:
    """The operator that a `jit` with these parameters calls, by its full name, or None.

    A user's compiled function may be called `sum`, too: it is defined elsewhere.
    """
    if (name := params.get("name")) not in REGISTRY:
        return None
    _, where = definition(params)
    return name if not where or where.startswith(_FUNCTX) else None


def definition(params: Mapping[str, Any]) -> tuple[str, str]:
    """The name of the function that an equation with these parameters calls, and where it is."""
    inner = params.get("jaxpr") or params.get("call_jaxpr")
    debug_info = getattr(getattr(inner, "jaxpr", inner), "debug_info", None)
    name, _, where = (getattr(debug_info, "func_src_info", None) or "").partition(" at ")
    return name, where


operators_along_curves(operator_called)

"""functx's operators for what JAX's primitives and functions mean at kinks.

Each takes an equation and gives a function of its operands, which returns all of its results, or
None where no operator means the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import functx
from functx._core.jax_compat import JaxprEqn
from functx._transforms.programs.labels import library_function
from functx._transforms.programs.walking import equations, inner_programs, type_of


F = functx.nn.functional
PytorchRule = Callable[..., Sequence[Any]]
RuleOf = Callable[[JaxprEqn], PytorchRule | None]


def pytorch_rule(eqn: JaxprEqn) -> PytorchRule | None:
    """The operator of the equation's meaning, as a function of its operands."""
    made = _FUNCTIONS.get(library_function(eqn)) or _PRIMITIVES.get(eqn.primitive.name)
    return made(eqn) if made is not None else None


def _plain(f: Callable[..., Any]) -> RuleOf:
    return lambda eqn: lambda *operands: [f(*operands)]


def _axes(f: Callable[..., Any]) -> RuleOf:
    return lambda eqn: lambda x: [f(x, eqn.params["axes"])] if eqn.params["axes"] else [x]


def _integer_pow(eqn: JaxprEqn) -> PytorchRule:
    return lambda x: [functx.pow(x, eqn.params["y"])]


def _prod(eqn: JaxprEqn) -> PytorchRule | None:
    axes = eqn.params["axes"]
    return (lambda x: [functx.prod(x, axes[0])]) if len(axes) == 1 else None


def _clamp(eqn: JaxprEqn) -> PytorchRule:
    return lambda low, x, high: [functx.clamp(x, low, high)]


def _sort(eqn: JaxprEqn) -> PytorchRule | None:
    if len(eqn.invars) > 1:
        return None
    dim, stable = eqn.params["dimension"], eqn.params["is_stable"]
    return lambda x: [functx.sort(x, dim, stable=stable).values]


def _scan(f: Callable[..., Any]) -> RuleOf:
    def of(eqn: JaxprEqn) -> PytorchRule | None:
        if eqn.params["reverse"]:
            return None
        return lambda x: [f(x, eqn.params["axis"]).values]

    return of


def _top_k(eqn: JaxprEqn) -> PytorchRule | None:
    return lambda x: [*functx.topk(x, eqn.params["k"])]


def _eigh(eqn: JaxprEqn) -> PytorchRule | None:
    if eqn.params.get("subset_by_index") is not None or not eqn.params["sort_eigenvalues"]:
        return None
    triangle = "L" if eqn.params["lower"] else "U"
    return lambda A: [*functx.linalg.eigh(A, triangle)][::-1]


def _svd(eqn: JaxprEqn) -> PytorchRule | None:
    if eqn.params.get("subset_by_index") is not None:
        return None
    if not eqn.params["compute_uv"]:
        return lambda A: [functx.linalg.svdvals(A)]

    def rule(A: Any) -> list[Any]:
        U, S, Vh = functx.linalg.svd(A, full_matrices=eqn.params["full_matrices"])
        return [S, U, Vh]

    return rule


def _clip(eqn: JaxprEqn) -> PytorchRule | None:
    if len(eqn.invars) == 3:
        return lambda x, low, high: [functx.clamp(x, low, high)]
    names = {e.primitive.name for inner in inner_programs(eqn) for e in equations(inner)}
    if len(eqn.invars) != 2 or ("max" in names) == ("min" in names):
        return None
    side = "min" if "max" in names else "max"
    return lambda x, bound: [functx.clamp(x, **{side: bound})]


def _norm(eqn: JaxprEqn) -> PytorchRule | None:
    """Of a Euclidean norm, whose program says along what it is."""
    inside = [e for inner in inner_programs(eqn) for e in equations(inner)]
    names = [e.primitive.name for e in inside]
    sums = [e for e in inside if e.primitive.name == "reduce_sum"]
    if len(eqn.invars) != 1 or len(sums) != 1 or "sqrt" not in names:
        return None
    if {"svd", "abs", "pow", "max"} & set(names):
        return None
    x, y = type_of(eqn.invars[0]), type_of(eqn.outvars[0])
    axes = sums[0].params["axes"]
    if len(type_of(sums[0].invars[0]).shape) != len(x.shape):  # it is flattened first
        axes = tuple(range(len(x.shape)))
    return lambda x: [functx.linalg.vector_norm(x, 2, axes, keepdim=y.ndim == x.ndim)]


def _std(eqn: JaxprEqn) -> PytorchRule | None:
    """Of a deviation, whose program says along what it is; its second operand is `ddof`."""
    inside = [e for inner in inner_programs(eqn) for e in equations(inner)]
    sums = [e for e in inside if e.primitive.name == "reduce_sum"]
    x, y = type_of(eqn.invars[0]), type_of(eqn.outvars[0])
    if len(eqn.invars) != 2 or len(sums) != 2 or type_of(eqn.invars[1]).shape:
        return None
    axes, keepdim = sums[0].params["axes"], y.ndim == x.ndim
    return lambda x, ddof: [functx.std(x, axes, correction=ddof, keepdim=keepdim)]


_PRIMITIVES: dict[str, RuleOf] = {
    "abs": _plain(functx.abs),
    "acos": _plain(functx.acos),
    "acosh": _plain(functx.acosh),
    "asin": _plain(functx.asin),
    "atan2": _plain(functx.atan2),
    "atanh": _plain(functx.atanh),
    "clamp": _clamp,
    "cummax": _scan(functx.cummax),
    "cummin": _scan(functx.cummin),
    "eigh": _eigh,
    "integer_pow": _integer_pow,
    "log": _plain(functx.log),
    "log1p": _plain(functx.log1p),
    "max": _plain(functx.maximum),
    "min": _plain(functx.minimum),
    "pow": _plain(functx.pow),
    "reduce_max": _axes(functx.amax),
    "reduce_min": _axes(functx.amin),
    "reduce_prod": _prod,
    "rsqrt": _plain(functx.rsqrt),
    "sign": _plain(functx.sgn),
    "sort": _sort,
    "sqrt": _plain(functx.sqrt),
    "square": _plain(functx.square),
    "svd": _svd,
    "top_k": _top_k,
}
# Of JAX's functions as a whole, which are built of primitives without the operator's conventions.
_FUNCTIONS: dict[str, RuleOf] = {
    "angle": _plain(functx.angle),
    "celu": _plain(F.celu),
    "clip": _clip,
    "det": _plain(functx.linalg.det),
    "elu": _plain(F.elu),
    "fmax": _plain(functx.fmax),
    "fmin": _plain(functx.fmin),
    "hard_sigmoid": _plain(F.hardsigmoid),
    "hard_silu": _plain(F.hardswish),
    "hard_tanh": _plain(F.hardtanh),
    "hypot": _plain(functx.hypot),
    "leaky_relu": _plain(F.leaky_relu),
    "logaddexp": _plain(functx.logaddexp),
    "logaddexp2": _plain(functx.logaddexp2),
    "norm": _norm,
    "pinv": _plain(functx.linalg.pinv),
    "relu": _plain(F.relu),
    "relu6": _plain(F.relu6),
    "selu": _plain(F.selu),
    "sinc": _plain(functx.sinc),
    "slogdet": lambda eqn: lambda A: [*functx.linalg.slogdet(A)],
    "std": _std,
    "xlogy": _plain(functx.xlogy),
}

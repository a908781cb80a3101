"""What grad modes do to derivatives: how a region's results are cut from what they depend on.

The mode is `user_contexts.grad_modes`, `None` where nothing is set. Operators read it while traced.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, NoReturn, ParamSpec, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad, batching, mlir

from functx._core.errors import describe, fail
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.taylor_mode import along_curves

from .user_contexts import grad_modes


P = ParamSpec("P")
R = TypeVar("R")
GateKind: TypeAlias = Literal["no tangents", "inference"]


class Modes(NamedTuple):
    """Whether results have derivatives, whether they have tangents, whether they never may."""

    grad: bool = True
    forward: bool = True
    inference: bool = False


def apply_grad_mode(tree: Any) -> Any:
    """`tree` with the derivatives that the grad mode allows; leaves that are no arrays stay."""
    modes = grad_modes.value
    if modes is None or (modes.grad and modes.forward and not modes.inference):
        return tree
    leaves, structure = jax.tree.flatten(tree)
    if not any(map(_has_derivative, leaves)):
        return tree
    return structure.unflatten([_cut(x, modes) if _has_derivative(x) else x for x in leaves])


def _cut(x: jax.Array, modes: Modes) -> jax.Array:
    if modes.inference:
        return grad_gate.bind(x, kind="inference")
    return grad_gate.bind(x, kind="no tangents") if modes.grad else lax.stop_gradient(x)


def _has_derivative(x: Any) -> bool:
    return isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.inexact)


def outside_grad_mode(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, run as if no mode were set; its results get what the mode allows.

    So a transform differentiates in any mode, while transforms further out see constants.
    """

    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if grad_modes.value is None:
            return function(*args, **kwargs)
        with grad_modes(None):
            result = function(*args, **kwargs)
        return apply_grad_mode(result)

    return run


def without_grad_mode(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, a derivative or a part of one, run in no grad mode wherever it is called."""

    @ft.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        with grad_modes(None):
            return function(*args, **kwargs)

    return run


# Two primitives: the identity of values whose derivative is special, and that derivative. Without
# tangents it is zero forward, and the identity when transposed; in inference mode there is none.
grad_gate = Primitive("grad_gate", __name__)
tangent_gate = Primitive("grad_gate_tangent", __name__)


def _refuse(t: Any) -> NoReturn:
    fail(
        "inference_mode",
        f"{describe(t)}, made in inference mode, is being differentiated. Inference tensors cannot "
        "be saved for backward",
        hint="make it in functx.no_grad: that gives it a derivative of zero",
    )


def _gate_jvp(primals: Any, tangents: Any, *, kind: GateKind) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    moves = type(t) is not ad.Zero
    return grad_gate.bind(x, kind=kind), tangent_gate.bind(t, kind=kind) if moves else t


def _tangent_of(t: Any, *, kind: GateKind) -> Any:
    return _refuse(t) if kind == "inference" else jnp.zeros_like(t)


def _transpose(cotangent: Any, t: Any, *, kind: GateKind) -> list[Any]:
    return [_refuse(cotangent) if kind == "inference" else cotangent]


grad_gate.def_impl(lambda x, *, kind: x)
grad_gate.def_abstract_eval(lambda x, *, kind: x)
ad.primitive_jvps[grad_gate] = _gate_jvp
batching.defvectorized(grad_gate)
mlir.register_lowering(grad_gate, mlir.lower_fun(lambda x, *, kind: x, multiple_results=False))

tangent_gate.def_impl(_tangent_of)
tangent_gate.def_abstract_eval(lambda t, *, kind: t)
ad.deflinear2(tangent_gate, _transpose)
batching.defvectorized(tangent_gate)
mlir.register_lowering(tangent_gate, mlir.lower_fun(_tangent_of, multiple_results=False))

along_curves(grad_gate, tangent_gate)

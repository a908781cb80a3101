"""`once_differentiable`: a reverse rule that has no derivative itself."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import jax
from jax import lax
from jax.interpreters import ad, batching, mlir

from functx._core import fail
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.taylor_mode import along_curves
from functx._core.rules.tangent_types import inexact, tangent_type

from .context import FunctionContext, kept_of


__all__ = ["once_differentiable"]

F = TypeVar("F", bound=Callable[..., Any])


def once_differentiable(backward: F) -> F:
    """Marks a `Function`'s `backward` as one that must not be differentiated.

    For what cannot be differentiated, or would be wrongly. A second derivative through it raises
    `RuntimeError`, in whatever modes it is taken; what it computes inside has none.

    >>> class Cube(functx.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...
    ...     @staticmethod
    ...     @functx.autograd.once_differentiable
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * grad_output
    >>> functx.grad(Cube.apply)(jnp.float32(2))
    Array(12., dtype=float32)
    """

    @ft.wraps(backward)
    def once(*args: Any, **kwargs: Any) -> Any:
        contexts = [x for x in args if isinstance(x, FunctionContext)]
        kept = [x for ctx in contexts for x in _active(kept_of(ctx))]
        given = _active([x for x in args if not isinstance(x, FunctionContext)])

        def inside(x: Any) -> Any:
            if isinstance(x, FunctionContext):
                return x.replaced(jax.tree.map(lax.stop_gradient, kept_of(x)))
            return jax.tree.map(lambda x: cut.bind(x, *kept) if _is_active(x) else x, x)

        result = backward(*map(inside, args), **kwargs)
        watched = [*kept, *given]
        return jax.tree.map(lambda y: leave.bind(y, *watched) if _is_active(y) else y, result)

    return once  # pyright: ignore[reportReturnType]


def _active(tree: Any) -> list[Any]:
    return [x for x in jax.tree.leaves(tree) if _is_active(x)]


def _is_active(x: Any) -> bool:
    return isinstance(x, jax.Array) and inexact(x)


# Inside, nothing has a derivative: `cut` is the identity of a cotangent, and has none. `leave` is
# that of a result, and refuses a derivative by what it watches. Of the rule's transpose, which is
# its forward mode, a cotangent is what comes out.
cut = Primitive("once_differentiable_input", __name__)
leave = Primitive("once_differentiable", __name__)
second_derivative = Primitive("second_derivative", __name__)  # linear; nothing may depend on it


def _refuse(*_: Any, **__: Any) -> NoReturn:
    fail(
        "once_differentiable",
        "trying to differentiate twice a function that was marked with @once_differentiable",
        hint="without the mark, the code of its `backward` is differentiated",
    )


def _cut_jvp(primals: Any, tangents: Any) -> Any:
    del tangents
    return cut.bind(*primals), ad.Zero(tangent_type(primals[0]))


def _cut_transpose(cotangent: Any, x: Any, *kept: Any) -> list[Any]:
    known = type(cotangent) is ad.Zero
    return [cotangent if known else leave.bind(cotangent, *kept), *[None] * len(kept)]


def _leave_jvp(primals: Any, tangents: Any) -> Any:
    y = leave.bind(*primals)
    active = [t for t in tangents[1:] if type(t) is not ad.Zero]
    return y, second_derivative.bind(*active, aval=tangent_type(y)) if active else tangents[0]


def _leave_transpose(cotangent: Any, y: Any, *watched: Any) -> list[Any]:
    unknown = [ad.Zero(x.aval) if ad.is_undefined_primal(x) else None for x in watched]
    return [cotangent, *unknown]


def _first(operands: Any, dims: Any, *, primitive: Any) -> Any:
    return primitive.bind(*operands), dims[0]


for _primitive in (cut, leave):
    _primitive.def_impl(lambda x, *_: x)
    _primitive.def_abstract_eval(lambda x, *_: x)
    mlir.register_lowering(_primitive, mlir.lower_fun(lambda x, *_: x, multiple_results=False))
    batching.primitive_batchers[_primitive] = ft.partial(_first, primitive=_primitive)
ad.primitive_jvps[cut], ad.primitive_transposes[cut] = _cut_jvp, _cut_transpose
ad.primitive_jvps[leave], ad.primitive_transposes[leave] = _leave_jvp, _leave_transpose


def _second_batch(operands: Any, dims: Any, *, aval: Any) -> Any:
    size = next(x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None)
    return second_derivative.bind(*operands, aval=aval.update(shape=(size, *aval.shape))), 0


second_derivative.def_impl(_refuse)
second_derivative.def_abstract_eval(lambda *_, aval: aval)
ad.deflinear2(second_derivative, _refuse)
batching.primitive_batchers[second_derivative] = _second_batch
mlir.register_lowering(second_derivative, _refuse)

along_curves(cut, leave, second_derivative)

"""`custom_fwd` and `custom_bwd`: the rules of a `Function` under autocast."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, overload, TypeVar

import jax
import jax.numpy as jnp

from functx._core import as_dtype, category, explain_unknown_keywords, fail, Refused
from functx._core.context.user_contexts import autocast_region
from functx._core.operators.autocasting import is_autocast
from functx._transforms.arguments import require_callable
from functx._transforms.functions.context import FunctionContext


F = TypeVar("F", bound=Callable[..., Any])

_NOTED = "_autocast_region"  # on a `ctx`: the region in which `forward` ran, in a tuple


@overload
def custom_fwd(fwd: F, *, cast_inputs: Any = None) -> F: ...
@overload
def custom_fwd(fwd: None = None, *, cast_inputs: Any = None) -> Callable[[F], F]: ...
@explain_unknown_keywords()
def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """Decorates the `forward` of a `functx.Function` that is called in autocast regions.

    - `fwd`: the method, `forward`, or `setup_context` where `forward` takes no `ctx`. Without it,
      the call is a decorator.
    - `cast_inputs`: a floating dtype. In a region, floating arguments that autocast would cast, in
      lists, tuples and dictionaries too, are cast to it, and `forward` runs with autocast off.
      `None` casts nothing, and `forward` runs in the region. Outside of a region it does nothing.

    It notes on `ctx` what is in force, for `custom_bwd`. Gradients have the dtypes of arguments as
    they came. It is `torch.amp.custom_fwd` without `device_type`.

    Errors: TypeError where `cast_inputs` is no floating dtype.

    >>> class Product(functx.Function):
    ...     @staticmethod
    ...     @functx.amp.custom_fwd
    ...     def forward(ctx, a, b):
    ...         ctx.save_for_backward(a, b)
    ...         return functx.mm(a, b)
    ...
    ...     @staticmethod
    ...     @functx.amp.custom_bwd
    ...     def backward(ctx, grad):
    ...         a, b = ctx.saved_tensors
    ...         return functx.mm(grad, b.T), functx.mm(a.T, grad)
    >>> a, b = jnp.ones((2, 3), "float32"), jnp.ones((3, 2), "float32")
    >>> with functx.amp.autocast(jnp.bfloat16):
    ...     y, pull = functx.vjp(Product.apply, a, b)
    >>> y.dtype, pull(y)[0].dtype
    (dtype(bfloat16), dtype('float32'))
    """
    dtype = None if cast_inputs is None else _floating(cast_inputs)
    if fwd is None:
        return ft.partial(custom_fwd, cast_inputs=dtype)
    require_callable("custom_fwd", fwd)

    @ft.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        region = autocast_region.value
        context = next((x for x in args[:1] if isinstance(x, FunctionContext)), None)
        if context is not None:
            setattr(context, _NOTED, (region if dtype is None else None,))
        if dtype is None or region is None:
            return fwd(*args, **kwargs)
        cast = lambda x: jnp.asarray(x, dtype) if is_autocast(x) else x
        args, kwargs = jax.tree.map(cast, (args, kwargs))
        with autocast_region(None):
            return fwd(*args, **kwargs)

    return forward


def custom_bwd(bwd: F) -> F:
    """Decorates the `backward` of a `functx.Function` whose `forward` has `custom_fwd`.

    - `bwd`: the method: `backward`, `vjp` or `jvp`.

    It runs in the autocast region in which `forward` ran, with its dtype, and outside of any if
    that ran so, or has `cast_inputs`. Without this decorator a rule runs in the region in which the
    derivative is taken, which is mostly none.

    Errors: RuntimeError where `forward` has no `custom_fwd`. It is `torch.amp.custom_bwd` without
    `device_type`; `functx.amp.custom_fwd` has an example.
    """
    require_callable("custom_bwd", bwd)

    @ft.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        noted = vars(ctx).get(_NOTED)
        if noted is None:
            fail(
                "custom_bwd",
                "`forward` has noted no autocast region on `ctx`",
                hint="decorate forward(ctx, ...), or setup_context, with functx.amp.custom_fwd",
            )
        with autocast_region(noted[0]):
            return bwd(ctx, *args, **kwargs)

    return backward  # pyright: ignore[reportReturnType]


def _floating(dtype: Any) -> Any:
    try:
        found = as_dtype(dtype, "cast_inputs")
    except Refused as refused:
        raise refused.by("custom_fwd") from None
    if category(found) != 2:
        fail(
            "custom_fwd",
            f"`cast_inputs` must be a floating dtype, got {found.name}",
            error=TypeError,
        )
    return found

"""`autocast`: a region, or a function, whose operators compute in the dtypes that suit them."""

from __future__ import annotations

import functools as ft
import inspect
from collections.abc import Callable
from typing import Any, overload, TypeVar

from functx._core import describe, explain_unknown_keywords, fail, require_bool

from .regions import AutocastContext, lower_dtype, platform_of, RegionRequest
from .rewriting import rewritten


F = TypeVar("F", bound=Callable[..., Any])


class Autocasting(AutocastContext):
    """A region of autocast, and a decorator of functions to be computed in one."""

    def __call__(self, func: F) -> F:
        """`func` with all that it computes in autocast, as `autocast(func)` has it."""
        return _transformed(func, self.request)


@overload
def autocast(func: F, dtype: Any = None, *, enabled: bool = True, device: Any = None) -> F: ...
@overload
def autocast(dtype: Any = None, /, *, enabled: bool = True, device: Any = None) -> Autocasting: ...
@overload
def autocast(*, dtype: Any = None, enabled: bool = True, device: Any = None) -> Autocasting: ...
@explain_unknown_keywords()
def autocast(
    func: Any = None, dtype: Any = None, *, enabled: bool = True, device: Any = None
) -> Any:
    """A region in which each operator computes in the dtype that suits it; a transform, too.

    - `func`: the function to transform. Without it, the call is a region, and a decorator. A dtype
      may stand in its place: `autocast(jnp.bfloat16)`.
    - `dtype`: the dtype of products, `float16` or `bfloat16`. `None` is that of the region around
      with the same lists, else `float16` on GPUs and `bfloat16` on CPUs and TPUs.
    - `enabled`: `False` is a region in which nothing is cast, inside one in which it is.
    - `device`: whose lists of operators count: `"cuda"` (or `"gpu"`, `"rocm"`, `"tpu"`), `"cpu"`,
      or a `jax.Device`. `None` is that of the region around, else of JAX's default backend. Arrays
      stay where they are.

    In `with functx.amp.autocast(jnp.bfloat16):` products (`matmul`, `linear`, convolutions) cast
    float32 arguments to bfloat16 and return it; operators that lose digits in halves (`exp`,
    `sum`, norms, losses) cast halves to float32 and return that; those of several arrays that must
    agree cast to the widest; all others compute in what they are given. The lists are PyTorch's,
    which differ between GPUs and CPUs. float64, integers and complex numbers are never cast, and a
    `dtype=` that the caller gives wins.

    Arguments of the function and its parameters keep their dtypes, and so do their gradients: the
    backward pass of an operator computes in the dtypes of its forward pass. A region is part of
    the key of every `jax.jit`, is seen by every transform that is called in it, and is that
    of the thread and of the asyncio task.

    A region sees operators alone. The transform `autocast(func)`, which is also what decorates a
    function, sees plain `jax.numpy` in it too: it records `func` as `jax.jit` does, casts what
    products take down and what exponentials, logarithms, powers and sums take up, and promotes
    operands that differ. So `func` must not ask for values, and regions inside of it, also those
    with `enabled=False`, are seen by operators alone.

    Errors: ValueError for another `dtype` or `device`. An operator that is unsafe in a half on
    GPUs, `nn.functional.binary_cross_entropy`, raises RuntimeError. From `torch.amp.autocast`,
    which takes the device first.

    >>> x, w = jnp.ones((2, 3), "float32"), jnp.ones((3, 4), "float32")
    >>> with functx.amp.autocast(jnp.bfloat16):
    ...     y = functx.matmul(x, w)
    >>> y.dtype, functx.matmul(x, w).dtype
    (dtype(bfloat16), dtype('float32'))
    >>> loss = functx.amp.autocast(lambda w: functx.mean((x @ w) ** 2), jnp.bfloat16)
    >>> functx.grad(loss)(w).dtype
    dtype('float32')
    """
    require_bool("autocast", "enabled", enabled)
    func, dtype = _told_apart(func, dtype)
    if device is not None:
        platform_of("autocast", device)
    request = RegionRequest(lower_dtype(dtype), enabled, device)
    return Autocasting(request) if func is None else _transformed(func, request)


def _told_apart(first: Any, dtype: Any) -> tuple[Any, Any]:
    """The function and the dtype: either may come first."""
    if first is None or _is_function(first):
        return first, dtype
    if isinstance(first, str) and first.partition(":")[0] in ("cuda", "cpu", "gpu", "xpu", "mps"):
        fail(
            "autocast",
            f"the first argument must be a dtype or a function, got the device {first!r}",
            hint=f"the device is a keyword: autocast(dtype, device={first!r})",
            error=TypeError,
        )
    if dtype is not None:
        fail(
            "autocast",
            f"`func` must be a function, got {describe(first)} beside a `dtype`",
            hint="autocast(func, dtype) transforms a function, autocast(dtype) is a region",
            error=TypeError,
        )
    return None, first


def _is_function(x: Any) -> bool:
    """Whether `x` is called, and no dtype: these are classes, or JAX's, which can be called."""
    return callable(x) and not isinstance(x, type) and not hasattr(x, "dtype")


def _transformed(func: F, request: RegionRequest) -> F:
    if not _is_function(func):
        fail("autocast", f"`func` must be a function, got {describe(func)}", error=TypeError)
    for kind in ("isgeneratorfunction", "iscoroutinefunction", "isasyncgenfunction"):
        if getattr(inspect, kind)(func):
            fail(
                "autocast",
                f"`func` must return when it is called, got {describe(func)}, a generator or "
                "coroutine, which no program can hold",
                hint="with functx.amp.autocast(dtype): inside it",
                error=TypeError,
            )

    @ft.wraps(func)
    def function(*args: Any, **kwargs: Any) -> Any:
        with AutocastContext(request):
            return rewritten(func, args, kwargs)

    return function  # pyright: ignore[reportReturnType]

"""What operators may know of values: sizes that depend on them, and what they must satisfy.

`peek` sees the values behind eager `grad`, `jvp` and `vmap`; a program being recorded by
`jit` has none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import core
from jax.core import Tracer
from jax.experimental import checkify
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .errors import refuse


peek_p = Primitive("functx_peek")
peek_p.def_impl(lambda x: x)
peek_p.def_abstract_eval(lambda x: core.ShapedArray(x.shape, x.dtype))
mlir.register_lowering(peek_p, lambda ctx, x: [x])


def _peek_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    value = peek_p.bind(*primals)
    return value, ad.Zero(jax.typeof(value).to_tangent_aval())


def _peek_batch(args: Any, dims: Any) -> tuple[Any, Any]:
    # Unmapped (dim None) on purpose: whoever peeks wants every lane's value at once.
    return peek_p.bind(jnp.moveaxis(args[0], dims[0], 0)), None


ad.primitive_jvps[peek_p] = _peek_jvp
batching.primitive_batchers[peek_p] = _peek_batch


def peek(x: Any) -> np.ndarray | None:
    """The values of `x`, of all lanes at once (lanes lead), or None while being recorded."""
    if isinstance(x, Tracer):
        x = peek_p.bind(x)
    return None if isinstance(x, Tracer) else np.asarray(x)


def agreed_size(count: Any, parameter: str) -> int:
    """A count that decides an output's shape, as an int: the same one in every lane."""
    counts = peek(count)
    if counts is None:
        refuse(
            "the shape of the output depends on values, which `jit` does not know",
            hint=f"pass `{parameter}=`, or call it outside of `jit`",
        )
    distinct = np.unique(counts)
    if len(distinct) != 1:
        sizes = counts.tolist()
        refuse(
            f"the lanes of `vmap` differ in size: {parameter}={sizes}",
            hint=f"pass `{parameter}=` (what is missing is filled), or loop over the lanes",
        )
    return int(distinct[0])


@dataclasses.dataclass(frozen=True)
class Requirement:
    """`ok` must hold everywhere; `got` is shown where it does not, as `{got}`."""

    ok: Any
    message: str
    got: Any = None
    error: type[Exception] = RuntimeError


# Called with `xp` (NumPy when values are at hand, jax.numpy inside a checked program) and
# the operator's arguments by name, those left out by their defaults. Only arguments
# annotated `Index`, `Mask` or `Other` come with values; of the others, read the shape.
Requirements = Callable[..., Iterable[Requirement]]


def index_in_range(
    xp: ModuleType, index: Any, size: int, *, name: str = "index", negative: bool = False
) -> Requirement:
    """Every element of `index` lies in `[0, size)`, or in `[-size, size)` if `negative`."""
    low = -size if negative else 0
    index = xp.asarray(index)
    return Requirement(
        (index >= low) & (index < size),
        f"`{name}` must lie in [{low}, {size - 1}], got {{got}}",
        got=index,
        error=IndexError,
    )


def enforce(requirements: Iterable[Requirement]) -> None:
    """Refuses with the first requirement that known values break."""
    for requirement in requirements:
        ok = np.asarray(requirement.ok)
        if not ok.all():
            got = requirement.got
            if got is not None:
                got = np.broadcast_to(np.asarray(got), ok.shape)[~ok].flat[0]
            refuse(requirement.message.format(got=got), error=requirement.error)


def check_inside(who: str, requirements: Iterable[Requirement]) -> None:
    """Inside a program that `functx.debug.checked` made: raises at run time, exactly."""
    for requirement in requirements:
        ok = jnp.ravel(jnp.asarray(requirement.ok))
        if ok.size == 0:
            continue
        got = jnp.zeros(()) if requirement.got is None else requirement.got
        got = jnp.ravel(jnp.broadcast_to(got, jnp.shape(requirement.ok)))
        message = f"{requirement.error.__name__}: {who}: {requirement.message}"
        checkify.check(ok.all(), message, got=got[jnp.argmin(ok)])


def raise_checked(error: checkify.Error) -> None:
    """Raises what `check_inside` found, as the exception that eager operators raise."""
    message = error.get()
    if message is None:
        return
    kind, _, said = message.partition(": ")
    said = said.partition(" (`check` failed)")[0]
    if kind in _ERRORS:
        raise _ERRORS[kind](said)
    error.throw()  # a check of the user's own


_ERRORS: dict[str, type[Exception]] = {
    error.__name__: error for error in (IndexError, RuntimeError, TypeError, ValueError)
}


def on_cpu(x: Any) -> bool:
    """Whether looking at the values of `x` costs no transfer and no waiting for a device."""
    if isinstance(x, jax.Array) and not isinstance(x, Tracer):
        return all(device.platform == "cpu" for device in x.devices())
    return True

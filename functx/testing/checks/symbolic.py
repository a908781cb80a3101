"""Programs that `jax.export` makes once for arrays of all sizes."""

from __future__ import annotations

import functools as ft
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import functx
from functx._core import category, describe
from functx.testing.opinfo import OpInfo, Sample

from .compare import assert_close, closeness, DERIVATIVES
from .programs import Program, Steps
from .resizing import Place, Places, Resizable, Sizes


_SYMBOLS = "bs" + "".join(c for c in string.ascii_lowercase if c not in "bs")
# Besides its own sizes, those at which a sample's program is held against the operator: one more,
# which is odd where it is even, and 1.
_OTHERS: tuple[Callable[[int], int], ...] = (lambda n: n + 1, lambda n: 1)


def check_symbolic_batch(info: OpInfo, sample: Sample) -> bool | None:
    """Value and pullback export with a symbol for the size of the leading dimension."""
    call = Resizable(info, sample)
    return _check_exports(call, [call.leading()])


def check_symbolic_sizes(info: OpInfo, sample: Sample) -> bool | None:
    """Value and pullback export with symbols for all sizes that may change."""
    call = Resizable(info, sample)
    return _check_exports(call, call.together())


def _check_exports(call: Resizable, groups: Sequence[Places]) -> bool | None:
    if not any(groups):
        return False
    exported(call, groups)
    return None


def check_symbolic_values(info: OpInfo, sample: Sample) -> Steps:
    """A program exported with symbolic sizes gives what the operator gives, at several sizes."""
    call = Resizable(info, sample)
    groups = call.together()
    if not any(groups):
        return False
    program, asked = Program(exported(call, groups).call), []
    for sizes in _sizes_to_try(call, groups):
        carriers = [np.zeros(x.shape, x.dtype) for x in _carriers(groups, sizes)]
        arrays = [*call.values(sizes), *carriers]
        asked += [program(*arrays), Program(_whole(call, sizes))(*arrays)]
    results = yield asked
    for request, got, want in zip(asked[::2], results[::2], results[1::2], strict=True):
        for result in (got, want):
            if isinstance(result, Exception):
                raise result
        shapes = ", ".join(map(describe, request.args))
        what = f"{info.id}{sample!r}, exported with symbols, of {shapes}"
        assert_close(got[0], want[0], what=what, close=closeness(info, call.sample))
        assert_close(got[1], want[1], what=f"the pullback of {what}", close=DERIVATIVES)
    return True


def _sizes_to_try(call: Resizable, groups: Sequence[Places]) -> Iterator[dict[Place, int]]:
    own = {place: call.sizes[place] for places in groups for place in places}
    yield own
    for other in _OTHERS:
        sizes = {place: other(n) for place, n in own.items()}
        if call.takes(sizes):
            yield sizes


def exported(call: Resizable, groups: Sequence[Places]) -> jax.export.Exported:
    """The values and the pullback of a call, with a symbol for each group of sizes."""
    symbols = jax.export.symbolic_shape(", ".join(_SYMBOLS[: len(groups)]))
    sizes = {place: n for places, n in zip(groups, symbols, strict=True) for place in places}
    shapes = [*call.shapes(sizes), *_carriers(groups, sizes)]
    what = f"{call.info.id}{call.sample!r} of {', '.join(map(describe, shapes))}"
    try:
        return jax.export.export(jax.jit(_whole(call, sizes)))(*shapes)
    except Exception as error:
        raise AssertionError(f"{what} does not export: {type(error).__name__}: {error}") from error


def _carriers(groups: Sequence[Places], sizes: Sizes) -> list[Any]:
    """Arguments that carry sizes: of those that no array has, an array each."""
    new = [min(places, key=str) for places in groups if all(isinstance(i, str) for i, _ in places)]
    return [jax.ShapeDtypeStruct((sizes[place],), np.bool_) for place in new]


def _whole(call: Resizable, sizes: Sizes) -> Callable[..., Any]:
    """The outputs, and the cotangents of the floating inputs for cotangents of any numbers."""
    f, n = call.function(sizes), len(call.arrays)
    moving = [i for i, x in enumerate(call.arrays) if category(x.dtype) >= 2]
    still = not call.info.differentiable or call.sample.values_only

    def whole(*arrays: jax.Array) -> Any:
        arrays = arrays[:n]

        def moved(*xs: jax.Array) -> tuple[list[jax.Array], Any]:
            given = dict(zip(moving, xs, strict=True))
            outputs = f(*(given.get(i, x) for i, x in enumerate(arrays)))
            return [y for y in outputs if category(y.dtype) >= 2], outputs

        if still or not moving:
            return f(*arrays), ()
        kept, pull, outputs = functx.vjp(moved, *(arrays[i] for i in moving), has_aux=True)
        return outputs, pull(list(map(_cotangent, kept))) if kept else ()

    return whole


def _cotangent(y: jax.Array) -> jax.Array:
    """Numbers of some variety, which the position of an element alone decides."""
    zero = jnp.zeros((), jnp.float32)
    places = (lax.broadcasted_iota(jnp.float32, y.shape, d) * (d + 0.7) for d in range(y.ndim))
    return jnp.cos(ft.reduce(jnp.add, places, zero)).astype(y.dtype)

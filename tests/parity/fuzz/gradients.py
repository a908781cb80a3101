"""Cotangents of a call's inputs, by functx in one program and by PyTorch, in double precision."""

from __future__ import annotations

import functools as ft
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import torch
from torch.utils._pytree import tree_leaves

import functx
from functx._core import category
from functx.testing.checks.programs import compiled

from .draws import Call
from .judging import Finding, first_off, unordered, unsettled
from .outcomes import as_numpy, dtype_of, forms


CLOSE = 1e-8  # of the largest element: both sum, and what they sum may cancel
NOISE = 1e-13  # of terms that cancel altogether
DOUBLE = ("float64", "complex128")


def differentiable(call: Call) -> bool:
    """Whether PyTorch has a gradient to compare: of all floating arrays, in double precision."""
    inexact = [x.dtype.name for x in call.arrays if category(x.dtype) >= 2]
    info = call.info
    draws = info.random or info.spec.random  # entries of calls that draw nothing, changed
    plain = info.differentiable and not draws and info.gauge is None
    return bool(plain and inexact and all(name in DOUBLE for name in inexact))


def gradient_findings(call: Call) -> Iterator[Finding]:
    """What is otherwise in the cotangents of a call that both sides take."""
    say = lambda what: Finding(call.info.id, call.seed, "gradient", what, repr(call))
    try:
        both = gradients(call)
    except Exception as error:
        first = f"{type(error).__name__}: {error}".partition("\n")[0]
        yield say(f"cannot be pulled back: {first[:200]}")
        return
    for i, (x, g, w) in enumerate(zip(moving(call), *both, strict=True) if both else ()):
        if g.shape != w.shape:
            yield say(f"of array {i}: shape {g.shape}, PyTorch {w.shape}")
            return
        if unordered(call.info):
            g, w = (by_value(x, a) for a in (g, w))
        off = apart(call, i, g, w)
        if off.any():
            yield say(f"of array {i}: {first_off(off, g, w)}")
            return


def gradients(call: Call) -> tuple[list[np.ndarray], list[np.ndarray]] | None:
    """Those of the floating arrays, functx's and PyTorch's, if PyTorch has any."""
    found = by_pytorch(call)
    if found is None:
        return None
    kept, cotangents, want = found
    return [np.asarray(g) for g in by_functx(call, kept, cotangents)], want


def moving(call: Call) -> list[np.ndarray]:
    """The floating arrays."""
    return [x for x in call.arrays if category(x.dtype) >= 2]


def by_value(x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The gradient in ascending order among equal elements, any of which may have been taken."""
    _, rank = np.unique(x, return_inverse=True)
    order = np.lexsort((gradient.reshape(-1), rank.reshape(-1)))
    return gradient.reshape(-1)[order]


def by_pytorch(call: Call) -> tuple[list[int], list[np.ndarray], list[np.ndarray]] | None:
    """Which outputs carry gradients, their cotangents, and those of the floating arrays."""
    for op, args, kwargs in forms(call):
        tensors = [x for x in tree_leaves((args, dict(sorted(kwargs.items())))) if _is_tensor(x)]
        needed = [x.requires_grad_() for x in tensors if x.is_floating_point() or x.is_complex()]
        try:
            out = [y for y in tree_leaves(op(*args, **kwargs)) if y is not None]
        except TypeError:
            continue
        except Exception:
            return None
        break
    else:
        return None
    kept = [i for i, y in enumerate(out) if _is_tensor(y) and y.requires_grad]
    if not kept or any(dtype_of(out[i]) not in DOUBLE for i in kept):
        return None
    rng = np.random.default_rng(call.seed)
    draw = _of_value if unordered(call.info) else ft.partial(_normal, rng)
    cotangents = [draw(as_numpy(out[i])) for i in kept]
    try:
        pulled = torch.autograd.grad(
            [out[i] for i in kept],
            needed,
            [torch.from_numpy(np.array(ct)) for ct in cotangents],
            materialize_grads=True,
            allow_unused=True,
        )
    except Exception:
        return None
    return kept, cotangents, [as_numpy(g.to_dense()) for g in pulled]


def _is_tensor(x: Any) -> bool:
    return isinstance(x, torch.Tensor)


def _normal(rng: np.random.Generator, like: np.ndarray) -> np.ndarray:
    values = rng.standard_normal(like.shape)
    if category(like.dtype) == 3:
        values = values + 1j * rng.standard_normal(like.shape)
    return np.asarray(values, like.dtype)


def _of_value(like: np.ndarray) -> np.ndarray:
    """The same for equal elements."""
    return np.cos(np.clip(np.nan_to_num(like), -1e3, 1e3))


def by_functx(call: Call, kept: list[int], cotangents: list[np.ndarray]) -> list[Any]:
    """Compiled as one, unless shapes depend on values."""
    sample, info = call.sample, call.info
    arrays = sample.arrays()
    places = [i for i, x in enumerate(arrays) if category(x.dtype) >= 2]
    over_arrays = sample.over_arrays(info.op)

    def f(*xs: Any) -> tuple[Any, ...]:
        full = list(arrays)
        for i, x in zip(places, xs, strict=True):
            full[i] = x
        out = jax.tree.leaves(over_arrays(*full))
        return tuple(out[i] for i in kept)

    def run(xs: Any, cts: Any) -> Any:
        return functx.vjp(f, *xs)[1](tuple(cts))

    run = run if info.spec.sizes_from_values else compiled(run)
    return list(jax.block_until_ready(run([arrays[i] for i in places], cotangents)))


def apart(call: Call, i: int, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Which elements of the gradient of array `i` are elsewhere."""
    with np.errstate(all="ignore"):
        finite = np.abs(want[np.isfinite(want)])
        scale = float(finite.max(initial=0))
        near = np.abs(got - want) <= CLOSE * (np.abs(want) + min(scale, 1e6)) + NOISE
    near |= (got == want) | (np.isnan(got) & np.isnan(want))
    return ~near & ~unsettled(call, i, got, want, ~near, pytorchs)


def pytorchs(call: Call) -> list[np.ndarray] | None:
    found = by_pytorch(call)
    return None if found is None else found[2]

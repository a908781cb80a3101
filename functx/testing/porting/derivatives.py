"""PyTorch's derivatives of a call, of its results and of every operator on the way."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from functx.testing.checks.cases import ArrayList

from .sides import as_ours, as_tensor, BothFunctions
from .steps import Original


def gradients_of(
    sides: BothFunctions, kept: Sequence[int], cotangents: ArrayList
) -> tuple[Original, ArrayList]:
    """PyTorch's steps with the cotangents of what they return, and those of the arguments."""
    torch, moving = sides.torch, sides.moving
    with torch.enable_grad():
        roots = [x.requires_grad_() if i in moving else x for i, x in enumerate(sides.tensors())]
        # Not the leaves themselves, which nothing may change in place.
        called = Original(sides, [x.clone() if i in moving else x for i, x in enumerate(roots)])
        asked, places = [roots[i] for i in moving], list[tuple[int, int]]()
        for s, step in enumerate(called.steps):
            for k, (x, version) in enumerate(step.tensors):
                if x.requires_grad and x._version == version:
                    asked.append(x)
                    places.append((s, k))
        results = [called.outputs[i] for i in kept]
        pairs = [
            (y, as_tensor(torch, ct).to(y.dtype))
            for y, ct in zip(results, cotangents, strict=True)
            if y.requires_grad
        ]
        found: Sequence[Any] = [None] * len(asked)
        if pairs:
            ys, cts = zip(*pairs, strict=True)
            found = torch.autograd.grad(ys, asked, cts, allow_unused=True)
    for step in called.steps:
        step.cotangents = [None] * len(step.outputs)
    values = [None if g is None else as_ours(torch, g) for g in found]
    for (s, k), g in zip(places, values[len(moving) :], strict=True):
        (called.steps[s].cotangents or [])[k] = g
    # What was changed in place later has no cotangent of its own.
    for step in called.steps:
        if any(x._version != version for x, version in step.tensors):
            step.cotangents = None
    arrays = [sides.target.arrays[i] for i in moving]
    return called, [_or_zeros(g, x) for g, x in zip(values, arrays, strict=False)]


def tangents_of(
    sides: BothFunctions, kept: Sequence[int], directions: ArrayList
) -> tuple[Original, ArrayList]:
    """PyTorch's steps with the tangents of what they return, and those of the results."""
    torch, forward = sides.torch, sides.torch.autograd.forward_ad
    given = dict(zip(sides.moving, directions, strict=True))

    def tangent(x: Any) -> Any:
        found = forward.unpack_dual(x).tangent if x.is_floating_point() or x.is_complex() else None
        return None if found is None else as_ours(torch, found)

    with forward.dual_level(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what PyTorch's own code calls
        duals = [
            forward.make_dual(x, as_tensor(torch, given[i])) if i in given else x
            for i, x in enumerate(sides.tensors())
        ]
        called = Original(sides, duals)
        for step in called.steps:
            intact = all(x._version == version for x, version in step.tensors)
            step.tangents = [tangent(x) for x, _ in step.tensors] if intact else None
        results = [called.outputs[i] for i in kept]
        return called, [_or_zeros(tangent(y), as_ours(torch, y)) for y in results]


def _or_zeros(x: Any, like: Any) -> np.ndarray:
    return np.zeros(like.shape, like.dtype) if x is None else x

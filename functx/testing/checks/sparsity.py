"""Patterns of Jacobians beside the Jacobians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx
from functx.sparsity import jacobian_pattern
from functx.testing.opinfo import OpInfo, Sample

from .cases import differentiable_case
from .programs import CheckProgram, CheckSteps


def check_sparsity(info: OpInfo, sample: Sample) -> CheckSteps:
    """The traced pattern of the Jacobian has every entry that is not zero at random points."""
    case = differentiable_case(info, sample)
    if case is None or any(_is_complex(x) for x in (*case.xs, *case.outputs)):
        return False
    which = tuple(range(len(case.xs)))
    pattern = jacobian_pattern(case.f, which)(*case.xs)
    jacobian = CheckProgram(functx.jacfwd(case.f, which))
    points = [case.xs, *(lane for lane in case.lanes if lane is not case.xs)]
    for blocks in (yield [jacobian(*point) for point in points]):
        rows = [
            np.hstack([np.reshape(block, (y.size, x.size)) for block, x in of_inputs])
            for y, of_inputs in zip(case.outputs, _beside(blocks, case.xs), strict=True)
        ]
        missing = _is_not_zero(np.vstack(rows)) & ~pattern.to_dense()
        at = np.argwhere(missing)[:3].tolist()
        assert not at, f"{case.what}: the pattern lacks {missing.sum()} entries, such as {at}"
    return None


def _beside(blocks: Sequence[Sequence[Any]], xs: Sequence[Any]) -> list[list[tuple[Any, Any]]]:
    """For each output its blocks, each with the input that it belongs to."""
    return [[*zip(of_inputs, xs, strict=True)] for of_inputs in blocks]


def _is_not_zero(jacobian: np.ndarray) -> np.ndarray:
    """Which elements are numbers other than zero; NaN says nothing about a pattern."""
    return np.isfinite(jacobian) & (jacobian != 0)


def _is_complex(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.complexfloating)

"""Patterns of Jacobians beside the Jacobians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.sparsity import jacobian_pattern
from functx.testing.opinfo import OpInfo, Sample

from .cases import differentiable_case
from .programs import CheckProgram, CheckSteps


def check_sparsity(info: OpInfo, sample: Sample) -> CheckSteps:
    """The traced pattern of the Jacobian has every entry that is not zero at random points.

    A complex array stands there as its real and imaginary parts.
    """
    case = differentiable_case(info, sample)
    if case is None:
        return False
    complex_inputs = [_is_complex(x) for x in case.xs]

    def f(*xs: Any) -> list[Any]:
        pairs = zip(xs, complex_inputs, strict=True)
        given = [functx.view_as_complex(x) if paired else x for x, paired in pairs]
        return [*map(_in_parts, case.f(*given))]

    points = [
        [*map(_in_parts, xs)]
        for xs in (case.xs, *(lane for lane in case.lanes if lane is not case.xs))
    ]
    which = tuple(range(len(case.xs)))
    pattern = jacobian_pattern(f, which)(*points[0])
    jacobian = CheckProgram(functx.jacfwd(f, which))
    outputs = jax.eval_shape(f, *points[0])
    for blocks in (yield [jacobian(*point) for point in points]):
        rows = [
            np.hstack([np.reshape(block, (y.size, x.size)) for block, x in of_inputs])
            for y, of_inputs in zip(outputs, _beside(blocks, points[0]), strict=True)
        ]
        missing = _is_not_zero(np.vstack(rows)) & ~pattern.to_dense()
        at = np.argwhere(missing)[:3].tolist()
        assert not at, f"{case.what}: the pattern lacks {missing.sum()} entries, such as {at}"
    return None


def _in_parts(x: Any) -> Any:
    return functx.view_as_real(x) if _is_complex(x) else x


def _beside(blocks: Sequence[Sequence[Any]], xs: Sequence[Any]) -> list[list[tuple[Any, Any]]]:
    """For each output its blocks, each with the input that it belongs to."""
    return [[*zip(of_inputs, xs, strict=True)] for of_inputs in blocks]


def _is_not_zero(jacobian: np.ndarray) -> np.ndarray:
    """Which elements are numbers other than zero; NaN says nothing about a pattern."""
    return np.isfinite(jacobian) & (jacobian != 0)


def _is_complex(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.complexfloating)

"""The checks of first derivatives, and which of them to make."""

from __future__ import annotations

import dataclasses

from functx._core import describe, fail
from functx.testing.hiding import of_findings

from .analytical import Pull, pullback
from .batching import hold_batched_forward, hold_batched_reverse
from .comparison import failed, Tolerances
from .dependence import differentiable_outputs
from .point import Point
from .sides import JacobianSides
from .undefined import hold_undefined_cotangents, hold_undefined_tangents, hold_zero_cotangents


__tracebackhide__ = of_findings


@dataclasses.dataclass(frozen=True)
class Checks:
    """Which checks to make, and how: the options of `gradcheck`."""

    eps: float
    tolerances: Tolerances
    fast_mode: bool
    undefined_grad: bool
    grad_dtypes: bool
    batched_grad: bool
    batched_forward_grad: bool
    forward_ad: bool
    backward_ad: bool

    def hold(self, point: Point, *, every: bool = False) -> None:
        """Raises `GradcheckError` where a derivative of the function at `point` is wrong.

        If `every`, an output that is cut off from the inputs is checked too, beside others.
        """
        which = differentiable_outputs(point)
        if every and which:
            which = point.inexact
        sides = JacobianSides(point, self.tolerances, self.eps, self.fast_mode)
        if not which:
            sides.hold_no_derivative()
            return
        pull = pullback(point) if self.backward_ad else None
        if pull is not None:
            if self.grad_dtypes:
                _require_gradient_dtypes(point, pull)
            sides.hold_reverse(pull, which)
        if self.forward_ad:
            sides.hold_forward(which)
            if self.undefined_grad:
                hold_undefined_tangents(point, which, self.tolerances)
        if self.batched_forward_grad:
            hold_batched_forward(point, which, self.tolerances)
        if pull is not None:
            if self.batched_grad:
                hold_batched_reverse(point, pull, which, self.tolerances)
            hold_zero_cotangents(point, pull)
            if self.undefined_grad:
                hold_undefined_cotangents(point, pull, which, self.tolerances)


def _require_gradient_dtypes(point: Point, pull: Pull) -> None:
    for j, (x, gradient) in enumerate(zip(point.inputs, pull(point.cotangents({})), strict=True)):
        if gradient.dtype != x.dtype:
            failed(
                point.who,
                f"Gradient has dtype mismatch: of input {j} (`{point.names[j]}`), {describe(x)}, "
                f"the gradient is {describe(gradient)}",
            )


def require_option(who: str, given: bool, needed: bool, name: str, other: str) -> None:
    """Refuses an option that without another would check nothing."""
    if given and not needed:
        fail(
            who,
            f"Setting {name}=True requires {other}=True, got {other}=False",
            error=AssertionError,
        )


def require_one_of(who: str, **options: bool) -> None:
    """Refuses to check nothing."""
    if not any(options.values()):
        names = " or ".join(options)
        fail(who, f"Expected at least one of {names} to be True", error=AssertionError)

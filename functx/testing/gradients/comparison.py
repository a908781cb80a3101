"""Verdicts on two Jacobians, and what a failed check tells."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from functx._core import describe, fail
from functx.testing.hiding import of_findings

from .point import Point


__tracebackhide__ = of_findings


class GradcheckError(RuntimeError):
    """What `gradcheck` and `gradgradcheck` raise where derivatives are wrong, and nowhere else."""


@dataclasses.dataclass(frozen=True)
class Tolerances:
    """How far apart numbers may lie: `|a - n| <= atol + rtol |n|`, and of a repetition `again`."""

    atol: float
    rtol: float
    again: float

    def close(self, analytical: Any, numerical: Any, scale: float = 1.0) -> bool:
        """Of derivatives, with differences."""
        return np.allclose(analytical, numerical, rtol=self.rtol, atol=self.atol * scale)

    def same(self, a: Any, b: Any) -> bool:
        """Of one derivative, computed in two ways."""
        return np.allclose(a, b, rtol=1e-5, atol=max(1e-8, self.again))


Slowly = Callable[[], tuple[np.ndarray, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class JacobianBlock:
    """A block of output `i` and input `j`, one real part of it, in one of the modes."""

    point: Point
    i: int
    j: int
    forward: bool
    part: int

    def taken(self, block: np.ndarray) -> np.ndarray:
        """The part as a matrix, complex where the other side of the Jacobian is."""
        chosen = block[:, :, :, self.part] if self.forward else block[:, self.part]
        pairs = np.moveaxis(chosen, 1, -1) if self.forward else chosen
        return pairs[..., 0] if pairs.shape[-1] == 1 else pairs[..., 0] + 1j * pairs[..., 1]

    def hold(
        self,
        tolerances: Tolerances,
        analytical: np.ndarray,
        numerical: np.ndarray,
        scale: float,
        slowly: Slowly | None,
    ) -> None:
        """Raises unless both blocks agree; `slowly` recomputes them in slow mode."""
        a, n = self.taken(analytical), self.taken(numerical)
        if tolerances.close(a, n, scale):
            return
        told = f"\nnumerical:\n{n}\nanalytical:\n{a}"
        hint = "rows are elements of the output, columns of the input"
        if self.point.elsewhere is not None:
            hint += "; masked=True compares the stored values of sparse inputs alone"
        if slowly is not None:
            slow_a, slow_n = map(self.taken, slowly())
            told += (
                "\nThe above quantities relating the numerical and analytical jacobians are "
                "computed in fast mode, as projections. In slow mode:\n"
                f"numerical:\n{slow_n}\nanalytical:\n{slow_a}\n"
                f"The max per-element difference (slow mode) is: {_greatest(slow_a, slow_n)}"
            )
            if tolerances.close(slow_a, slow_n):
                hint = (
                    "Fast gradcheck failed but element-wise differences are small: the check "
                    "might pass with fast_mode=False"
                )
        failed(self.point.who, self._where() + told, self._precision() + hint)

    def _precision(self) -> str:
        """What of the differences is rounding, where that explains much."""
        x, y = self.point.inputs[self.j], self.point.outputs[self.i]
        sides = (f"`{self.point.names[self.j]}`", x), (f"output {self.i}", y)
        for name, x in sides:
            if x.dtype not in (np.float64, np.complex128):
                return (
                    f"{name} is {describe(x)}, in which differences see rounding errors: give "
                    "double precision, which functx.enable_x64() turns on, or larger tolerances "
                    "such as eps=1e-2, atol=1e-2, rtol=2e-2; "
                )
        return ""

    def _where(self) -> str:
        side = self.point.inputs[self.j] if self.forward else self.point.outputs[self.i]
        sides = "inputs" if self.forward else "outputs"
        prefix = (
            f"While considering the {('real', 'imaginary')[self.part]} part of complex {sides} "
            "only, "
            if np.issubdtype(side.dtype, np.complexfloating)
            else ""
        )
        return (
            f"{prefix}Jacobian {'computed with forward mode ' if self.forward else ''}mismatch "
            f"for output {self.i} with respect to input {self.j} (`{self.point.names[self.j]}`)"
        )


def failed(who: str, message: str, hint: str = "") -> NoReturn:
    """A check failed."""
    fail(who, message, hint=hint, error=GradcheckError)


def failed_by(who: str, error: Exception, message: str, hint: str = "") -> NoReturn:
    """A check failed because `error` was raised."""
    try:
        failed(who, message, hint)
    except GradcheckError as failure:
        raise failure from error


def verdict(raise_exception: bool, check: Callable[[], None]) -> bool:
    """True if `check` passes; what it raises of failures, or False instead."""
    try:
        check()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _greatest(a: np.ndarray, b: np.ndarray) -> float:
    with np.errstate(invalid="ignore"):
        return float(np.max(np.abs(a - b), initial=0.0))

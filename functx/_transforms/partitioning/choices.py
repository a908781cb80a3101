"""What a user asks of a derivative: the fewest bytes, products apart, or a budget."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any, NoReturn

from functx._core import describe, fail

from .numbered import NumberedDerivative
from .planning import min_cut_plan, plan_for, SavingPlan


class Choice(abc.ABC):
    """Makes the plans of derivatives. Without a limit, which subclasses set, every plan fits."""

    @abc.abstractmethod
    def plan(
        self, derivative: NumberedDerivative, whole: int, steps: int, inner: int = 0
    ) -> SavingPlan:
        """That of a derivative which without one needs `whole` bytes in so many steps of a loop.

        - `inner`: the bytes that one step of a loop inside computes again at once.
        """

    def inside(self, whole: int) -> Sequence[Choice]:
        """What makes the plans of bodies of loops, one after the other until the whole `fits`."""
        return [self]

    def fits(self, needed: int, whole: int) -> bool:
        """Whether so many bytes are not too many."""
        return True

    def refuse(self, needed: int, whole: int) -> NoReturn:
        """Raises an error: so many bytes do not fit, and fewer are not possible."""
        raise AssertionError("without a limit every plan fits")


class MinCut(Choice):
    """Needs the fewest bytes, and computes no product, random number or loop again."""

    def plan(
        self, derivative: NumberedDerivative, whole: int, steps: int, inner: int = 0
    ) -> SavingPlan:
        return min_cut_plan(derivative, steps, inner)


@dataclasses.dataclass(frozen=True)
class Budget(Choice):
    """Computes as little again as there can be within a budget.

    - `amount`: bytes, or a fraction of what is needed without a budget.
    - `who`: the function that was given it, for errors.
    """

    amount: int | float
    who: str

    def plan(
        self, derivative: NumberedDerivative, whole: int, steps: int, inner: int = 0
    ) -> SavingPlan:
        return plan_for(derivative, self._bytes(whole), steps, inner)

    def inside(self, whole: int) -> Sequence[Choice]:
        share = min(1.0, self._bytes(whole) / max(whole, 1))
        return [BodyShare(share / 2**i) for i in range(4)] + [BodyShare(0.0)]

    def fits(self, needed: int, whole: int) -> bool:
        return needed <= self._bytes(whole)

    def refuse(self, needed: int, whole: int) -> NoReturn:
        least, given = f"{needed} bytes", f"{self.amount}"
        if isinstance(self.amount, float):
            least += f", {_up(needed / whole)} of what it needs without one,"
            given += f" ({self._bytes(whole):.0f} bytes)"
        fail(
            self.who,
            f"`budget` must be at least {least} for this function at these arguments, got {given}",
            hint="what is computed again at once counts, too; a checkpoint around each part of the "
            "function needs less",
            error=ValueError,
        )

    def _bytes(self, whole: int) -> float:
        return self.amount if isinstance(self.amount, int) else self.amount * whole


@dataclasses.dataclass(frozen=True)
class BodyShare(Choice):
    """Needs about a fraction of what a body of a loop needs without a plan, or as little as can be.

    What cannot be had inside is sought outside.
    """

    fraction: float

    def plan(
        self, derivative: NumberedDerivative, whole: int, steps: int, inner: int = 0
    ) -> SavingPlan:
        return plan_for(derivative, self.fraction * whole, steps, inner)


def _up(fraction: float) -> float:
    """Rounded up to three digits."""
    return -(-fraction * 1000 // 1) / 1000


def choice_of(who: str, policy: Any, budget: Any) -> Choice | None:
    """What `policy` and `budget` of a user ask for, or None for a policy of another kind."""
    if budget is None:
        return MinCut() if isinstance(policy, str) and policy == "min_cut" else None
    if policy is not None:
        message = f"either `policy` or `budget` may be given, got {describe(policy)} and {budget!r}"
        fail(who, message, error=ValueError)
    return budget_of(who, budget)


def budget_of(who: str, budget: Any) -> Budget:
    """The budget of a user."""
    if isinstance(budget, bool) or not isinstance(budget, (int, float)):
        message = f"`budget` must be a number of bytes, or a fraction, got {describe(budget)}"
        fail(who, message, error=TypeError)
    if budget < 0 or not (isinstance(budget, int) or budget <= 1):
        message = "`budget` must be an int from 0, of bytes, or a float from [0, 1], got "
        fail(who, f"{message}{budget}", error=ValueError)
    return Budget(budget, who)

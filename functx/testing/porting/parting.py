"""At which operator two functions part: in values, tangents, cotangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .matching import Close, paired
from .steps import argument, Made, OperatorStep


_MANY = 4  # calls that a report names


class Alignment:
    """PyTorch's calls beside functx's steps."""

    def __init__(self, theirs: Made, ours: Made, close: Close) -> None:
        self.theirs, self.ours, self.close = theirs, ours, close
        self.pairs = paired(theirs.steps, ours.steps, close)

    def of_values(self, wrong: Sequence[int]) -> tuple[str, str]:
        """The operator at which values part, "" if it is not known, and a sentence.

        `wrong` are the results that differ. What they are made of, up to where both agree, is where
        the functions part.
        """
        theirs = _suspects(self.theirs, {p.theirs for p in self.pairs if p.same}, wrong)
        ours = _suspects(self.ours, {p.ours for p in self.pairs if p.same}, wrong)
        if not theirs and not ours:
            return "", "both compute the same values; only what is returned differs"
        alike = [(p.theirs, p.ours) for p in self.pairs if p.theirs in theirs and p.ours in ours]
        t, f = alike[0] if alike else (len(self.theirs.steps), len(self.ours.steps))
        before = [self.theirs.steps[i] for i in theirs if i < t]
        beside = [self.ours.steps[i] for i in ours if i < f]
        if before or beside:
            return (before or beside)[0].name, self._otherwise(before, beside)
        step, other = self.theirs.steps[t], self.ours.steps[f]
        same = all(any(self.close(y, x) for y in other.inputs) for x in step.inputs)
        goes_in = "what goes in agrees" if same else "what goes in differs"
        return step.name, f"they part at {step}; functx: {other}; {goes_in}"

    def _otherwise(self, theirs: Sequence[OperatorStep], ours: Sequence[OperatorStep]) -> str:
        """They call different operators from there on where they agreed."""
        good = {p.theirs: p.theirs for p in self.pairs if p.same}
        if not theirs:
            good = {p.ours: p.theirs for p in self.pairs if p.same}
        agreed = [good[i] for i in (theirs or ours)[0].sources if i in good]
        since = f"values agree up to {self.theirs.steps[max(agreed)]}; then " if agreed else ""
        if not theirs:
            return f"{since}functx's calls {_several(ours)}, which PyTorch's does not"
        if not ours:
            return f"{since}PyTorch's calls {_several(theirs)}, which functx's does not"
        return (
            f"{since}the functions call different operators: PyTorch's {_several(theirs)}; "
            f"functx's {_several(ours)}"
        )

    def of_tangents(self, wrong: Sequence[int]) -> tuple[str, str]:
        """The same of tangents, where values agree."""
        last = ""
        for pair in self.pairs:
            t, f = self.theirs.steps[pair.theirs], self.ours.steps[pair.ours]
            if not pair.same or t.tangents is None or f.tangents is None:
                continue
            if not self._same(t.tangents, f.tangents):
                since = f"tangents agree up to {last}, and " if last else ""
                return t.name, f"{since}they part at {t}; functx: {f}"
            last = str(t)
        return "", "tangents agree at all operators that both call"

    def of_cotangents(self, wrong: Sequence[int]) -> tuple[str, str]:
        """The same of cotangents; `wrong` are the arguments whose gradients differ.

        Of the last value whose cotangent differs, it is what is computed from it.
        """
        last = None
        for pair in self.pairs:
            t, f = self.theirs.steps[pair.theirs], self.ours.steps[pair.ours]
            known = pair.same and t.cotangents is not None and f.cotangents is not None
            if known and not self._same(t.cotangents or [], f.cotangents or []):
                last = pair.theirs
        source = last if last is not None else argument(wrong[0])
        users = [t for i, t in enumerate(self.theirs.steps) if i > source and source in t.sources]
        what = "an argument" if last is None else f"the result of {self.theirs.steps[last]}"
        if not users:
            return "", f"the cotangent of {what} differs"
        matched = {p.theirs: self.ours.steps[p.ours] for p in self.pairs}
        beside = matched.get(self.theirs.steps.index(users[0]))
        functx = f"; functx: {beside}" if beside is not None and len(users) == 1 else ""
        return (
            users[0].name if len(users) == 1 else "",
            f"they part at {' or '.join(map(str, users[:_MANY]))}{functx}; "
            f"the cotangent of what goes in, {what}, differs",
        )

    def _same(self, theirs: Sequence[Any], ours: Sequence[Any]) -> bool:
        """Of derivatives: None stands for zeros."""
        for x, y in zip(theirs, ours, strict=False):
            if x is None and y is None:
                continue
            like = x if y is None else y
            zeros = np.zeros_like(like)
            if not self.close(zeros if y is None else y, zeros if x is None else x):
                return False
        return True


def _suspects(made: Made, good: set[int], wrong: Sequence[int]) -> list[int]:
    """The steps that wrong results are made of, back to those that are `good`, in order.

    Constants, masks for example, may be made in other ways: they count if nothing else is left.
    """
    found: set[int] = set()
    asked = [made.results[i] for i in wrong]
    while asked:
        i = asked.pop()
        if i is not None and i >= 0 and i not in good and i not in found:
            found.add(i)
            asked += made.steps[i].sources
    moving: set[int] = set()
    for i, step in enumerate(made.steps):
        if any(source < 0 or source in moving for source in step.sources):
            moving.add(i)
    return sorted(found & moving or found)


def _several(steps: Sequence[OperatorStep]) -> str:
    shown = ", ".join(map(str, steps[:_MANY]))
    return f"{shown}, ..." if len(steps) > _MANY else shown

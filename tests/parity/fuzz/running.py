"""Calls of one operator, one after the other, and what is found in them."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator

import jax
import torch

from functx.testing import op_db, OpInfo
from functx.testing.checks.programs import let_go

from ..record_dtypes import pytorchs
from .declared import reason
from .draws import Call, Drawing, VALUES
from .gradients import differentiable, gradient_findings
from .judging import Finding, findings
from .outcomes import by_functx, by_pytorch, Outcome


ENTRIES = {info.id: info for info in op_db if info.spec is not None and pytorchs(info) is not None}


@dataclasses.dataclass
class Tally:
    """How many calls were made, and how many of them both sides took."""

    calls: int = 0
    taken: int = 0
    gradients: int = 0
    declared: int = 0

    def __add__(self, other: Tally) -> Tally:
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
        return Tally(*(a + b for a, b in pairs))

    def since(self, before: Tally) -> Tally:
        """What was added to an earlier one."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(before), strict=True)
        return Tally(*(a - b for a, b in pairs))


class Fuzzing:
    """The calls of one entry, by seed."""

    def __init__(self, info: OpInfo):
        self.info, self.draw = info, Drawing(info)
        self.tally = Tally()

    def block(self, number: int) -> Iterator[Finding]:
        """What is found in the calls of one block of seeds, which share a program."""
        for seed in range(number * VALUES, (number + 1) * VALUES):
            yield from self.seed(seed)
        let_go()

    def seed(self, seed: int) -> Iterator[Finding]:
        """What is found in one call."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from self._call(self.draw(seed))

    def _call(self, call: Call) -> Iterator[Finding]:
        self.tally.calls += 1
        for finding in every_finding(call, self.tally):
            if reason(call, finding) is None:
                yield finding
            else:
                self.tally.declared += 1


def every_finding(call: Call, tally: Tally | None = None) -> Iterator[Finding]:
    """All differences of a call, meant or not. Gradients cost a program: half the calls."""
    tally = Tally() if tally is None else tally
    ours, theirs = outcomes(call)
    found = list(findings(call, ours, theirs))
    yield from found
    if ours.error is not None or theirs.error is not None:
        return
    tally.taken += 1
    if not found and call.seed % VALUES < 2 and differentiable(call):
        tally.gradients += 1
        yield from gradient_findings(call)


def outcomes(call: Call) -> tuple[Outcome, Outcome]:
    """What functx makes of a call, and PyTorch."""
    return by_functx(call, key=jax.random.key(call.seed)), by_pytorch(call)


def configure() -> None:
    """As the tests have it: 64 bit on, no mixing of dtypes, programs compiled quickly."""
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_default_matmul_precision", "highest")
    torch.set_num_threads(1)

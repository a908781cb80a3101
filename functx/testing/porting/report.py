"""What `compare` found: values, dtypes, gradients and tangents, each a line."""

from __future__ import annotations

import dataclasses
import textwrap

from functx.testing.hiding import of_findings
from functx.testing.opchecking.report import LineVerdict


__tracebackhide__ = of_findings


class ComparisonError(AssertionError):
    """What `Comparison.raise_if_failed` raises; its message is the report."""


@dataclasses.dataclass(frozen=True)
class ComparisonLine:
    """What came of one comparison.

    - `what`: `"call"`, `"dtypes"`, `"values"`, `"gradients"` or `"tangents"`.
    - `verdict`: `"passed"`, `"failed"` or `"left out"`.
    - `said`: the first difference, or why it was left out.
    - `operator`: the operator at which the functions part, by PyTorch's name if it calls one
      there, or `""`.
    - `parting`: where they part, in words.
    """

    what: str
    verdict: LineVerdict
    said: str = ""
    operator: str = ""
    parting: str = ""

    @property
    def failed(self) -> bool:
        """Whether the functions differ here."""
        return self.verdict == "failed"

    def __str__(self) -> str:
        shown = self.verdict.upper() if self.failed else self.verdict
        rows = [f"{self.what:<10} {shown:<8}  {self.said}".rstrip()]
        if self.parting:
            rows.append(
                textwrap.fill(
                    self.parting,
                    100,
                    initial_indent=" " * 21,
                    subsequent_indent=" " * 23,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            )
        return "\n".join(rows)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A ported function beside its original at one call; `str` of it is a table.

    - `call`: what was called, `"port(f32[2,3])"`.
    - `lines`: a `ComparisonLine` each for values and so on.
    """

    call: str
    lines: tuple[ComparisonLine, ...]

    @property
    def passed(self) -> bool:
        """Whether the functions agree in all that was held against each other."""
        return not self.failures

    @property
    def failures(self) -> tuple[ComparisonLine, ...]:
        """The lines in which they differ."""
        return tuple(line for line in self.lines if line.failed)

    @property
    def operator(self) -> str:
        """The operator at which they part, `""` if they do not, or if none can be named."""
        return next((line.operator for line in self.failures if line.operator), "")

    def __str__(self) -> str:
        verdict = "agrees with PyTorch" if self.passed else "differs from PyTorch"
        return "\n".join([f"compare: {self.call} {verdict}", *map(str, self.lines)])

    def __repr__(self) -> str:
        return f"<compare of {self.call}: {'passed' if self.passed else 'failed'}>"

    def raise_if_failed(self) -> None:
        """Raises `ComparisonError`, an AssertionError, with the report if they differ."""
        if not self.passed:
            raise ComparisonError(str(self))

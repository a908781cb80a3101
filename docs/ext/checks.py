"""The table of all checks, from their declarations."""

from __future__ import annotations

from functx.testing import CHECKS
from functx.testing.checks.registry import Check


_SAMPLES = {
    "None": "all",
    "1": "the first",
    "2": "the first two",
    "telling": "telling ones",
    "telling_of_derivatives": "telling ones",
    "few": "three",
    "few_eager": "three, and edges",
    "first_of_sets": "one for each set of arrays",
    "whole_entry": "the whole entry",
}
_QUICK = {
    "never": "no",
    "has_own_rules": "of entries with reverse rules",
    "_always_quick": "yes",
    "of_wide_range": "of reductions, losses and what normalises",
    "moving": "of what moves elements and computes nothing",
    "looks_at_sizes": "of what looks at sizes",
    "chooses_by_size": "of what chooses by sizes",
    "reading_values": "of what looks at values",
    "counting_sizes": "of what counts sizes",
    "<lambda>": "yes",
}
_WITHIN = {
    "in_one_dtype": "one dtype",
    "one_half": "one half",
    "double": "double precision",
    "some_dtypes": "some dtypes",
    "in_two_precisions": "float32",
    "in_single": "float32",
}


def checks_table() -> str:
    """What each asserts and looks at, and what of it the quick profile runs."""
    head = ["| check | what it asserts | samples | quick |", "|---|---|---|---|"]
    return "\n".join(["## The checks\n", *head, *map(_row, CHECKS.values()), ""])


def _row(check: Check) -> str:
    summary = check.summary.replace("|", "\\|")
    samples = _SAMPLES[str(getattr(check.samples, "__name__", check.samples))]
    quick = _QUICK[check.quick.__name__]
    if quick != "no":
        quick = f"{quick}, {_WITHIN[check.within.__name__]}"
    return f"| `{check.name}` | {summary} | {samples} | {quick} |"

"""Which lines pytest leaves out: those of the checks, of an error that says what they found.

A module says so by `__tracebackhide__ = of_findings`; what else goes wrong in it is shown.
"""

from __future__ import annotations

from typing import Any


def of_findings(caught: Any) -> bool:
    """Whether what pytest has caught is what a check found, and no fault of the check."""
    return isinstance(caught.value, AssertionError) or (
        type(caught.value).__name__ == "GradcheckError"  # which modules that say this define
    )

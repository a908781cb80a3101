"""The checks: each a function of an `OpInfo` and a sample, for operators and for yours.

A cell is an operator, a dtype and a check. `CHECKS` names the checks and says where each
applies and how many samples it looks at.
"""

from .registry import (
    cells as cells,
    Check as Check,
    CheckFailed as CheckFailed,
    CHECKS as CHECKS,
    IN_DOUBLE as IN_DOUBLE,
    run_cell as run_cell,
)

"""The checks: each a function of an `OpInfo` and a sample, for operators and for yours.

A cell is an operator, a dtype and a check. `CHECKS` names the checks and says where each
applies and how many samples it looks at.
"""

from .cells import cells as cells, checked_dtypes as checked_dtypes
from .registry import (
    Check as Check,
    CHECKS as CHECKS,
    IN_DOUBLE as IN_DOUBLE,
    Profile as Profile,
    PROFILES as PROFILES,
)
from .running import (
    CheckFailed as CheckFailed,
    Outcome as Outcome,
    run_cell as run_cell,
    run_cells as run_cells,
)

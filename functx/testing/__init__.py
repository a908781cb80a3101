"""The operator database and its checks, for functx's operators and for functions of yours."""

from .checks import (
    cells as cells,
    Check as Check,
    CHECKS as CHECKS,
    run_cell as run_cell,
)
from .dtypes import ALL_DTYPES as ALL_DTYPES
from .make import Make as Make
from .opdb import op_db as op_db
from .opinfo import (
    call as call,
    Gap as Gap,
    OpInfo as OpInfo,
    Refusal as Refusal,
    Sample as Sample,
)

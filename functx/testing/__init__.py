"""The operator database and its checks, for functx's operators and for functions of yours."""

from .checks import (
    cells as cells,
    Check as Check,
    CHECKS as CHECKS,
    Profile as Profile,
    PROFILES as PROFILES,
    run_cell as run_cell,
    run_cells as run_cells,
)
from .dtypes import ALL_DTYPES as ALL_DTYPES
from .make import Make as Make
from .opdb import op_db as op_db
from .opinfo import (
    call as call,
    Convention as Convention,
    Departure as Departure,
    edge as edge,
    Floor as Floor,
    Gap as Gap,
    held as held,
    OpInfo as OpInfo,
    OwnDtypes as OwnDtypes,
    Refusal as Refusal,
    Sample as Sample,
)
from .unfinished import unfinished as unfinished

"""The operator database and its checks, for functx's operators and for functions of yours."""

from functx._names import equip as _equip

from .checks import (
    cells as cells,
    Check as Check,
    CHECKS as CHECKS,
    Profile as Profile,
    PROFILES as PROFILES,
    run_cell as run_cell,
    run_cells as run_cells,
)
from .differences import Departure as Departure, FixedSizes as FixedSizes, Gap as Gap
from .dtypes import ALL_DTYPES as ALL_DTYPES
from .gradients.comparison import GradcheckError as GradcheckError
from .gradients.functions import check_function as check_function
from .gradients.gradcheck import gradcheck as gradcheck
from .gradients.jacobians import (
    analytical_jacobian as analytical_jacobian,
    numerical_jacobian as numerical_jacobian,
)
from .gradients.second_order import gradgradcheck as gradgradcheck
from .make import Make as Make
from .opchecking.opcheck import opcheck as opcheck
from .opchecking.report import (
    OpcheckError as OpcheckError,
    OpcheckLine as OpcheckLine,
    OpcheckReport as OpcheckReport,
    SmallestCase as SmallestCase,
)
from .opdb import op_db as op_db
from .opinfo import Convention as Convention, OpInfo as OpInfo
from .porting.compare import compare as compare
from .porting.report import (
    Comparison as Comparison,
    ComparisonError as ComparisonError,
    ComparisonLine as ComparisonLine,
)
from .properties import assert_properties as assert_properties, PROPERTIES as PROPERTIES
from .residuals import assert_residuals as assert_residuals
from .samples import (
    call as call,
    edge as edge,
    held as held,
    Refusal as Refusal,
    Sample as Sample,
)
from .tail import Tail as Tail
from .tolerances import Tolerance as Tolerance
from .two_conventions.compare import conventions as conventions
from .two_conventions.report import (
    ConventionsError as ConventionsError,
    ConventionsLine as ConventionsLine,
    ConventionsReport as ConventionsReport,
)
from .two_conventions.switching import SwitchedCall as SwitchedCall
from .unfinished import unfinished as unfinished


_equip(__name__, modules=("mutants", "strategies", "tolerances"), inner=False)

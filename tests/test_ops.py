"""Every operator, dtype and check. Nothing here knows any operator's name."""

import jax
import pytest

from functx.testing import ALL_DTYPES, cells, CHECKS, op_db, run_cell
from functx.testing.checks import IN_DOUBLE


def pytest_generate_tests(metafunc):
    option = metafunc.config.getoption("--dtypes")
    dtypes = ALL_DTYPES if option == "all" else option.split(",")
    platform = metafunc.config.getoption("--device").partition(":")[0]
    found = list(cells(op_db, dtypes, CHECKS))
    if "float64" not in dtypes:  # finite differences need it, and close the circle of checks
        found += cells(op_db, ["float64"], IN_DOUBLE)
    cases = []
    for info, dtype, name in found:
        gap = info.gap(name, dtype, platform)
        marks = [pytest.mark.xdist_group(info.id)]
        marks += [pytest.mark.xfail(reason=gap.reason)] if gap else []
        cases.append(pytest.param(info, dtype, name, id=f"{info.id}-{dtype}-{name}", marks=marks))
    metafunc.parametrize("info, dtype, name", cases)


def test_op(info, dtype, name, device, request):
    with jax.default_device(device):
        run_cell(info, dtype, name, device=device, samples=request.config.getoption("--samples"))

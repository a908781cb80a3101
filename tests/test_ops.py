"""Every operator, dtype and check. Nothing here knows any operator's name."""

import itertools

import pytest
from check_results import record

from functx.cli.runner import run_group
from functx.cli.selection import select_dtypes, UsageError
from functx.testing import cells, op_db


def pytest_generate_tests(metafunc):
    words, profile = (metafunc.config.getoption(name) for name in ("--dtypes", "--profile"))
    try:
        dtypes = select_dtypes(words)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    found = cells(op_db, dtypes, profile=profile)
    cases = [
        pytest.param(
            info,
            dtype,
            [name for _, _, name in group],
            id=f"{info.id}-{dtype}",
            marks=pytest.mark.xdist_group(info.id),
        )
        for (info, dtype), group in itertools.groupby(found, key=lambda cell: cell[:2])
    ]
    metafunc.parametrize("info, dtype, names", cases)


def test_op(info, dtype, names, device, request):
    samples, profile = (request.config.getoption(name) for name in ("--samples", "--profile"))
    results = run_group(info, dtype, names, device=device, samples=samples, profile=profile)
    record(request, results)
    wrong = [f"{result.check}: {result.error}" for result in results if result.failing]
    assert not wrong, "\n".join(wrong)
    gaps = [f"{result.check}: {result.reason}" for result in results if result.status == "gap"]
    if gaps:
        pytest.xfail("; ".join(gaps))

"""Every operator, dtype and check. Nothing here knows any operator's name."""

import itertools

import pytest

from functx.testing import ALL_DTYPES, cells, op_db, run_cells


def pytest_generate_tests(metafunc):
    words, profile = (metafunc.config.getoption(name) for name in ("--dtypes", "--profile"))
    dtypes = ALL_DTYPES if words == "all" else words.split(",") if words else None
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
    outcomes = run_cells(info, dtype, names, device=device, samples=samples, profile=profile)
    wrong, gaps = [], []
    for name, outcome in outcomes.items():
        gap = info.gap(name, dtype, device.platform)
        if gap is not None and outcome.error is None:
            wrong.append(f"{name} passes, but is declared a gap: {gap.reason}")
        elif gap is not None:
            gaps.append(f"{name}: {gap.reason}")
        elif outcome.error is not None:
            wrong.append(f"{name}: {type(outcome.error).__name__}: {outcome.error}")
    assert not wrong, "\n".join(wrong)
    if gaps:
        pytest.xfail("; ".join(gaps))

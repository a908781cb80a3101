"""Every operator, dtype and check, as `proved` says. Nothing here knows any operator's name."""

import functools as ft

import proved
import pytest
import slow_tests
from check_results import record

from functx.cli.runner import run_group
from functx.cli.selection import select_dtypes, UsageError
from functx.testing import cells, op_db
from functx.testing.checks import checked_dtypes


def pytest_generate_tests(metafunc):
    config = metafunc.config
    words, profile = (config.getoption(name) for name in ("--dtypes", "--profile"))
    try:
        dtypes = select_dtypes(words)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    cases = []
    unchanged = slow_tests.is_plain(config) and slow_tests.are_operators_on_record()
    for info in op_db:
        chosen = checked_dtypes(info, dtypes, profile)
        if is_thinned(config, info):
            if unchanged and not proved.has_its_turn(info):
                continue
            chosen = proved.dtypes_to_run(info, chosen)
        group = pytest.mark.xdist_group(info.id)
        cases += [pytest.param(info, d, id=f"{info.id}-{d}", marks=group) for d in chosen]
    metafunc.parametrize("info, dtype", cases)


def is_thinned(config, info):
    """Whether a part of the cells of an entry will do: it is proved, and nothing is asked for."""
    get = config.getoption
    plain = get("--profile") == "quick" and get("--device") == "cpu" and get("--dtypes") is None
    return plain and not get("--whole") and proved.QUICK.proves(info)


@ft.lru_cache(maxsize=1)
def checks_of(info, words, profile):
    """The checks of an entry by dtype: found when it is its turn, since programs are traced."""
    found = {}
    for _, dtype, name in cells([info], select_dtypes(words), profile=profile):
        found.setdefault(dtype, []).append(name)
    return found


def test_op(info, dtype, device, request):
    options = ("--samples", "--profile", "--dtypes")
    samples, profile, words = (request.config.getoption(name) for name in options)
    names = checks_of(info, words, profile)[dtype]
    if is_thinned(request.config, info):
        names = proved.checks_to_run(info, dtype, names)
    results = run_group(info, dtype, names, device=device, samples=samples, profile=profile)
    record(request, results)
    wrong = [f"{result.check}: {result.error}" for result in results if result.failing]
    assert not wrong, "\n".join(wrong)
    gaps = [f"{result.check}: {result.reason}" for result in results if result.status == "gap"]
    if gaps:
        pytest.xfail("; ".join(gaps))

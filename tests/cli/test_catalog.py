"""What the docs' catalog says of a run."""

import importlib.util
import json
from pathlib import Path

import pytest
from made_runs import CELLS, run

from functx.cli.selection import UsageError


pytestmark = pytest.mark.reads_files
FILE = Path(__file__).parents[2] / "docs" / "ext" / "status.py"


@pytest.fixture(scope="module")
def status():
    spec = importlib.util.spec_from_file_location("status", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_operator_has_its_status_over_all_entries(status):
    assert status.statuses(run()) == {
        "sin": "✗ 1 of 5: `jit` float32",
        "sum": "✓ 3",
        "linalg.norm": "✗ 1 of 2: `reference` float64",
    }


def test_gaps_are_named(status):
    gap = {cell: "gap" if cell[2] == "vmap_vjp" else "pass" for cell in CELLS}
    assert status.statuses(run(gap))["sum"] == "○ 2, gaps: `vmap_vjp` float32"


def test_of_many_failures_some_are_named(status):
    dtypes = ("int8", "int16", "int32", "int64", "float32", "float64", "bool")
    found = status.statuses(run({("sin", dtype, "jit"): "fail" for dtype in dtypes}))["sin"]
    assert found.startswith("✗ 7 of 7: `jit` int8, ") and found.endswith(" and 2 more")


def test_the_run_is_the_one_that_is_named_or_lies_there(status, monkeypatch, tmp_path):
    monkeypatch.delenv("FUNCTX_CHECK_JSON", raising=False)
    there, named = tmp_path / "check.json", tmp_path / "named.json"
    assert status.last_run(there) is None
    there.write_text(json.dumps(run(profile="full")))
    assert status.last_run(there)["settings"]["profile"] == "full"
    named.write_text(json.dumps(run(profile="exhaustive")))
    monkeypatch.setenv("FUNCTX_CHECK_JSON", str(named))
    assert status.last_run(there)["settings"]["profile"] == "exhaustive"
    monkeypatch.setenv("FUNCTX_CHECK_JSON", str(tmp_path / "none.json"))
    with pytest.raises(UsageError, match="cannot be read"):
        status.last_run(there)


def test_without_a_run_the_catalog_says_so(status):
    assert status.statuses(None) == {} and "not run" in status.sentence(None)


def test_a_run_is_told_in_a_sentence(status):
    said = status.sentence(run())
    assert "profile quick on cpu, functx " in said and "7 pass, 2 fail, 1 gaps" in said
    assert "10 of 90 cells" in status.sentence(run(planned=90))

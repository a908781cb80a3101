"""The record of the exhaustive profile: what of a journal is taken, and what is not."""

import importlib
from pathlib import Path

import pytest

from functx.cli.long_runs.journal import Journal
from functx.cli.runner import Plan, Result
from functx.cli.selection import UsageError
from functx.testing import op_db


pytestmark = pytest.mark.reads_files
EXT = Path(__file__).parents[2] / "docs" / "ext"
SMALL = tuple(info for info in op_db if info.id in ("sin", "cos", "zeros"))
OLD = "sin\t1234567\t3\t2\t1\t0.5\n"


@pytest.fixture
def exhaustive(monkeypatch):
    monkeypatch.syspath_prepend(str(EXT))
    module = importlib.import_module("exhaustive")
    monkeypatch.setattr(module, "PLAN", Plan(SMALL, profile="exhaustive"))
    return module


def journal_of(path, plan, statuses):
    """Of all cells of a plan's entries, which pass where nothing else is said of the last one."""
    journal = Journal(path, plan)
    cells = plan.cells()
    for cell in cells:
        last = cell == [other for other in cells if other[0] == cell[0]][-1]
        status = statuses.get(cell[0], "pass") if last else "pass"
        if status is not None:
            journal.add(Result(*cell, status, seconds=1.0, samples=1, ulps=1.0, error=f"{status}!"))
    journal.close()
    return path


def recorded(exhaustive, tmp_path, statuses):
    path = tmp_path / "record.tsv"
    path.write_text("entry\tcommit\tcells\tpassed\tgaps\tseconds\n" + OLD)
    written = journal_of(tmp_path / "run.jsonl", exhaustive.PLAN, statuses)
    exhaustive.record("abcdef0", [written], path)
    return exhaustive.recorded(path)


def test_whole_entries_are_recorded_with_the_commit_and_totals(exhaustive, tmp_path):
    found = recorded(exhaustive, tmp_path, {"cos": "gap"})
    assert list(found) == [info.id for info in SMALL]
    cos = found["cos"]
    assert cos.commit == "abcdef0"
    assert (cos.passed, cos.gaps, cos.seconds) == (cos.cells - 1, 1, cos.cells)
    assert cos.cells == sum(entry == "cos" for entry, _, _ in exhaustive.PLAN.cells())


@pytest.mark.parametrize("status", [None, "fail", "unexpected pass"])
def test_entries_that_fail_or_lack_a_cell_are_not_recorded(exhaustive, tmp_path, capsys, status):
    found = recorded(exhaustive, tmp_path, {"sin": status, "cos": status})
    assert "cos" not in found and found["sin"].commit == "1234567"
    assert capsys.readouterr().out.count(f"{status}!") == (0 if status is None else 2)


def test_a_journal_of_another_profile_is_refused(exhaustive, tmp_path):
    written = journal_of(tmp_path / "run.jsonl", Plan(SMALL, profile="full"), {})
    with pytest.raises(UsageError, match="profile 'full', this run has 'exhaustive'"):
        exhaustive.record("abcdef0", [written], tmp_path / "record.tsv")


def test_what_stands_in_the_docs_has_no_failing_cell(exhaustive):
    for each in exhaustive.recorded().values():
        assert each.cells == each.passed + each.gaps > 0

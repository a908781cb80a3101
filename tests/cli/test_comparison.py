"""`functx check --compare`: what became of an earlier run's cells."""

import dataclasses
import json

import pytest
from made_runs import CELLS, ENTRIES, results, run
from typer.testing import CliRunner

from functx.cli import check_command, comparison
from functx.cli.app import app
from functx.cli.comparison import compare, load_run
from functx.cli.runner import Plan
from functx.cli.selection import UsageError


JIT = ("sin", "float32", "jit")
VMAP = ("sin", "float32", "vmap")
GRADIENT = ("linalg.norm-inf", "float64", "gradient")
STALE = ("linalg.norm-inf", "float64", "reference")
SUM = ("sum", "float32", "reference")


@pytest.fixture(autouse=True)
def database(monkeypatch):
    monkeypatch.setattr(comparison, "op_db", ENTRIES)
    monkeypatch.setattr(check_command, "op_db", ENTRIES)


def changes(before, now=CELLS, *, planned=None, pattern=None, **settings):
    """Of hand-made cells; `settings` are this run's."""
    infos = [info for info in ENTRIES if pattern in (None, info.id)]
    plan = Plan(tuple(infos), **settings)
    return compare(run(before), plan, planned or now, results(now), pattern)


def changed(cells=CELLS, **statuses):
    """The cells with other statuses, by the names above."""
    return cells | {globals()[name]: status for name, status in statuses.items()}


def without(*cells):
    return {cell: status for cell, status in CELLS.items() if cell not in cells}


def test_a_run_like_the_one_before_changes_nothing():
    same = changes(CELLS)
    kinds = (same.failing, same.passing, same.opened, same.closed, same.gone, same.new)
    assert not any(kinds) and not same.worse and same.elsewhere == 0


def test_cells_that_passed_and_fail_are_worse():
    found = changes(changed(JIT="pass"))
    assert found.failing == [JIT] and found.worse


def test_gaps_that_pass_after_all_fail():
    assert changes(changed(STALE="gap")).failing == [STALE]


def test_cells_that_failed_and_pass_are_no_worse():
    found = changes(changed(VMAP="fail"))
    assert found.passing == [VMAP] and not found.failing and not found.worse


def test_gaps_open_and_close():
    assert changes(changed(GRADIENT="pass")).opened == [GRADIENT]
    assert changes(changed(VMAP="gap")).closed == [VMAP]


def test_cells_come_and_go():
    found = changes(without(JIT), without(VMAP))
    assert (found.new, found.gone) == ([JIT], [VMAP])
    assert found.worse, "it passed"
    assert not changes(CELLS, without(JIT)).worse, "it failed before"


def test_cells_of_a_run_that_was_stopped_are_not_gone():
    assert changes(CELLS, without(VMAP), planned=CELLS).gone == []


def test_what_was_not_asked_for_is_not_compared():
    alone = {cell: status for cell, status in CELLS.items() if cell[0] == "sum"}
    assert changes(CELLS, alone, pattern="sum").gone == []
    assert changes(CELLS, {SUM: "pass"}, dtypes=("float32",), checks=("reference",)).gone == [
        ("sin", "float32", "reference")
    ]


def test_entries_that_the_database_has_no_more_are_gone(monkeypatch):
    monkeypatch.setattr(comparison, "op_db", ENTRIES[1:])
    left = {cell: status for cell, status in CELLS.items() if cell[0] != "sin"}
    plan = Plan(ENTRIES[1:])
    gone = compare(run(), plan, left, results(left)).gone
    assert {cell[0] for cell in gone} == {"sin"} and len(gone) == 5
    plan = Plan(ENTRIES[1:2])
    assert compare(run(), plan, {SUM: "pass"}, results({SUM: "pass"}), "s.*").gone[0][0] == "sin"


def test_runs_of_other_profiles_share_some_cells():
    found = changes(without(JIT), without(VMAP), profile="full")
    assert (found.new, found.gone, found.elsewhere, found.worse) == ([], [], 2, False)


def test_what_took_much_longer_is_shown():
    now = [dataclasses.replace(r, seconds=3.0) if r.operator == "sum" else r for r in results()]
    found = compare(run(), Plan(ENTRIES), CELLS, now)
    assert found.slower == [("sum", "float32", pytest.approx(0.09), 9.0)]
    assert changes(CELLS).slower == []


@pytest.mark.parametrize(
    "text, message",
    [
        (None, "cannot be read: No such file"),
        ("{", "is no JSON"),
        ("[]", "is no run of functx check"),
        ('{"planted": 3}', "is no run of functx check"),
        ('{"format": "functx check", "version": 9}', "has version 9 of the format"),
        ('{"format": "functx check", "version": 1, "cells": []}', "lacks what a run"),
    ],
)
def test_what_is_no_run_is_refused_in_a_line(tmp_path, text, message):
    path = tmp_path / "old.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=message) as refused:
        load_run(path)
    assert "\n" not in str(refused.value)


def test_a_status_that_means_nothing_is_refused(tmp_path):
    path, old = tmp_path / "old.json", run()
    old["cells"][0]["status"] = "passed"
    path.write_text(json.dumps(old))
    with pytest.raises(UsageError, match="must have one of pass, .* as 'status', got 'passed'"):
        load_run(path)


@pytest.fixture
def check(monkeypatch, tmp_path):
    """The command, beside a run in which all that fails passed; no check is run."""
    old = run(changed(JIT="pass", STALE="gap"))
    (tmp_path / "old.json").write_text(json.dumps(old))

    def with_results(cells, *words):
        found = {result.cell: result for result in results(cells)}
        monkeypatch.setattr(Plan, "cells", lambda plan: list(cells))
        monkeypatch.setattr(
            check_command, "run_here", lambda plan, chosen, _: map(found.get, chosen)
        )
        path = str(tmp_path / "old.json")
        return CliRunner().invoke(app, ["check", "--compare", path, *words], env={"COLUMNS": "200"})

    return with_results


def test_the_command_names_what_fails_now(check):
    done = check(CELLS)
    assert done.exit_code == 1
    assert "2 ✗ fails now" in done.stdout and "✗ fails now sin float32 jit" in done.stdout


def test_the_command_fails_for_cells_that_are_gone(check):
    passing = {cell: status for cell, status in CELLS.items() if status in ("pass", "gap")}
    assert check(passing | {JIT: "pass", STALE: "gap"}).exit_code == 0
    del passing[VMAP]
    done = check(passing | {JIT: "pass", STALE: "gap"})
    assert done.exit_code == 1 and "− gone sin float32 vmap" in done.stdout


def test_a_shard_is_compared_with_what_it_holds(check):
    same = changed(JIT="pass", STALE="gap")
    done = check(same, "--shard", "1/3")
    assert done.exit_code == 0 and "nothing changed" in done.stdout
    del same[VMAP], same[SUM]
    done = check(same, "--shard", "1/3")
    assert done.exit_code == 1 and "− gone sin float32 vmap" in done.stdout
    assert "sum" not in done.stdout


def test_each_shard_names_entries_that_the_database_has_no_more(check, monkeypatch):
    monkeypatch.setattr(comparison, "op_db", ENTRIES[1:])
    monkeypatch.setattr(check_command, "op_db", ENTRIES[1:])
    left = {cell: status for cell, status in CELLS.items() if cell[0] != "sin"}
    for shard in ("1/2", "2/2"):
        done = check(left, "--shard", shard)
        assert done.exit_code == 1 and "5 − gone" in done.stdout


def test_the_command_says_that_nothing_changed(check):
    assert "nothing changed" in check(changed(JIT="pass", STALE="gap")).stdout


def test_the_command_refuses_to_compare_with_something_else(tmp_path):
    (tmp_path / "old.json").write_text("{}")
    done = CliRunner().invoke(app, ["check", "sin", "--compare", str(tmp_path / "old.json")])
    assert done.exit_code == 2 and done.stderr.startswith("functx: ")
    assert done.stderr.count("\n") == 1

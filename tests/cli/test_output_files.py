"""The files of a run: refused before it begins where they cannot be written, lost one by one."""

import errno
import json
from types import SimpleNamespace

import jax
import made_runs
import pytest
from typer.testing import CliRunner

from functx.cli import check_command, mutants_command
from functx.cli.app import app
from functx.cli.long_runs.journal import Journal, recorded
from functx.cli.output_files import require_outputs
from functx.cli.runner import Plan, Result
from functx.testing.mutants import Verdict


OPTIONS = ("--report", "--json", "--junit", "--journal")
FULL = OSError(errno.ENOSPC, "No space left on device")


def raising(*args, **kwargs):
    raise FULL


@pytest.fixture
def ran(monkeypatch):
    """The cells that were run, all of which pass."""
    cells = []

    def running(plan, chosen, jobs):
        for cell in chosen:
            cells.append(cell)
            yield Result(*cell, "pass", 0.5, 3, 8.0)

    monkeypatch.setattr(check_command, "op_db", made_runs.ENTRIES)
    monkeypatch.setattr(check_command, "_running", running)
    monkeypatch.setattr(mutants_command, "op_db", made_runs.ENTRIES)
    yield cells
    jax.config.update("jax_enable_x64", True)


def check(*words):
    known = ("check", "sin", "--checks", "reference", "--dtypes", "float32")
    return CliRunner().invoke(app, [str(word) for word in (*known, *words)])


@pytest.mark.parametrize("option", OPTIONS)
def test_a_file_that_cannot_be_written_is_refused_before_the_first_cell(ran, tmp_path, option):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "run"
    done = check(option, path)
    assert done.exit_code == 2 and ran == []
    assert done.stderr == f"functx: {option} {path} cannot be written: Not a directory\n"


def test_mutants_are_not_planted_for_a_file_that_cannot_be_written(ran, tmp_path, monkeypatch):
    monkeypatch.setattr(mutants_command, "hunt_entry", lambda *args: pytest.fail("planted"))
    (tmp_path / "file").touch()
    words = ("mutants", "sin", "--json", str(tmp_path / "file" / "run.json"))
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2 and "run.json cannot be written: Not a directory" in done.stderr


def test_trying_a_file_changes_nothing(tmp_path):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("{}")
    require_outputs({"--json": old, "--report": new})
    assert old.read_text() == "{}" and not new.exists()


@pytest.mark.parametrize("option", OPTIONS[:3])
def test_a_file_that_cannot_be_written_after_all_costs_no_other(ran, tmp_path, monkeypatch, option):
    monkeypatch.setitem(check_command.WRITERS, option, raising)
    paths = {name: tmp_path / name for name in OPTIONS}
    done = check(*(word for pair in paths.items() for word in pair))
    assert done.exit_code == 4
    said = " ".join(done.stdout.split())
    assert f"{option} {paths[option]} cannot be written: No space left on device" in said
    assert {name for name, path in paths.items() if path.exists()} == {*OPTIONS} - {option}


def test_a_journal_that_cannot_be_written_on_costs_no_result(ran, tmp_path, monkeypatch):
    def broken(journal, result):
        journal.error = FULL

    monkeypatch.setattr(Journal, "add", broken)
    done = check("--checks", "reference,jit", "--journal", tmp_path / "j", "--json", tmp_path / "r")
    assert done.exit_code == 4 and "--journal" in done.stdout
    assert len(json.loads((tmp_path / "r").read_text())["cells"]) == len(ran) == 2


def test_a_journal_ends_where_it_cannot_be_written_on(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    journal = Journal(path, Plan(made_runs.ENTRIES))
    first, second, third = made_runs.results()[:3]
    journal.add(first)
    with monkeypatch.context() as patched:
        patched.setattr(journal, "_file", SimpleNamespace(write=raising, close=raising))
        journal.add(second)
        journal.close()
    journal.add(third)
    assert journal.error is FULL
    assert [r.check for r in recorded(path, Plan(made_runs.ENTRIES))] == [first.check]
    journal.close()


def test_mutants_whose_file_cannot_be_written_are_shown(ran, tmp_path, monkeypatch):
    caught = Verdict("sin", "rank 0", "", "reference", "float32", 1)
    monkeypatch.setattr(mutants_command, "hunt_entry", lambda info, entries: [caught])
    monkeypatch.setattr(mutants_command, "write_json", raising)
    words = ("mutants", "sin", "--json", str(tmp_path / "mutants.json"))
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 4 and "1 of 1 mutants caught" in done.stdout
    assert "cannot be written: No space left on device" in " ".join(done.stdout.split())


@pytest.mark.parametrize("other", ["--report", "--junit", "--journal", "--done"])
def test_a_file_is_named_once(ran, tmp_path, other):
    path = tmp_path / "run"
    path.touch()
    (tmp_path / "deep").mkdir()
    done = check("--json", path, other, tmp_path / "." / "deep" / ".." / "run")
    assert done.exit_code == 2 and ran == []
    assert f"name the same file, {tmp_path}" in done.stderr and "--json" in done.stderr
    assert other in done.stderr and path.read_text() == ""

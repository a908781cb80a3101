"""Runs in pieces: stopped, killed, out of time, in parts; nothing is run twice, nothing is lost."""

import io
import json

import jax
import made_runs
import pytest
from rich.console import Console

from functx.cli import check_command
from functx.cli.check_command import LEFT, run_check
from functx.cli.long_runs import journal as check_journal
from functx.cli.long_runs.shards import select_shard
from functx.cli.requests import CheckRequest
from functx.cli.runner import Result
from functx.cli.usage import UsageError


class Runner:
    """Takes the place of what runs cells; stops before the cell of this number."""

    def __init__(self):
        self.ran, self.stop, self.failing = [], None, set()

    def __call__(self, plan, chosen, jobs):
        for n, cell in enumerate(chosen):
            if n == self.stop:
                raise KeyboardInterrupt
            self.ran.append(cell)
            status = "fail" if cell in self.failing else "pass"
            yield Result(*cell, status, 0.5, 3, 8.0)


@pytest.fixture
def runner(monkeypatch):
    made = Runner()
    monkeypatch.setattr(check_command, "op_db", made_runs.ENTRIES)
    monkeypatch.setattr(check_command, "_running", made)
    yield made
    jax.config.update("jax_enable_x64", True)  # as all tests have it: a run may turn it off


def run(**words):
    """The exit status and what was printed."""
    out = io.StringIO()
    known = {"checks": "reference,jit", "dtypes": "float32,float64"}
    status = run_check(CheckRequest(**{**known, **words}), Console(file=out, width=200))
    return status, out.getvalue()


def cells_of(runner, **words):
    """Those of a whole run."""
    run(**words)
    ran, runner.ran = runner.ran, []
    return ran


def test_a_stopped_run_goes_on_where_it_was(runner, tmp_path):
    whole, journal = cells_of(runner), tmp_path / "run.jsonl"
    runner.stop = 5
    assert run(journal=journal)[0] == 130
    runner.stop = None
    status, printed = run(journal=journal)
    assert "; 5 cells from the journal" in printed
    assert status == 0 and runner.ran == whole
    assert f"{len(whole)} pass, 0 fail" in printed
    assert run(journal=journal)[0] == 0 and runner.ran == whole  # there is nothing left


@pytest.mark.parametrize("lost", [1, 30, 10_000])
def test_a_line_that_was_being_written_is_no_result(runner, tmp_path, lost):
    whole, journal = cells_of(runner), tmp_path / "run.jsonl"
    run(journal=journal)
    runner.ran = []
    text = journal.read_text()
    journal.write_text(text[:-lost] if lost < len(text) else "")
    run(journal=journal)
    assert runner.ran == (whole[-1:] if lost < len(text) else whole)
    assert journal.read_text() == text


@pytest.mark.parametrize("left", [1, 40, 130])
def test_a_first_line_that_was_being_written_is_written_anew(runner, tmp_path, left):
    whole, journal = cells_of(runner), tmp_path / "run.jsonl"
    run(journal=journal)
    text, runner.ran = journal.read_text(), []
    journal.write_text(text[:left])
    assert "\n" not in text[:left]
    assert run(journal=journal)[0] == 0 and runner.ran == whole
    assert journal.read_text() == text


def test_what_failed_is_run_again(runner, tmp_path):
    whole, journal = cells_of(runner), tmp_path / "run.jsonl"
    runner.failing = {whole[2]}
    assert run(journal=journal)[0] == 1
    runner.ran, runner.failing = [], set()
    assert run(journal=journal)[0] == 0 and runner.ran == [whole[2]]


def test_no_entry_is_begun_when_time_is_over(runner, tmp_path):
    whole, journal = cells_of(runner), tmp_path / "run.jsonl"
    status, printed = run(journal=journal, minutes=1e-9)
    assert status == LEFT and f"stopped: {len(whole) - 2} not run" in printed
    assert runner.ran == whole[:2]  # an entry's checks in one dtype run together
    while run(journal=journal, minutes=1e-9)[0] == LEFT:
        pass
    assert runner.ran == whole


def test_a_failure_counts_more_than_the_time(runner):
    runner.failing = set(cells_of(runner))
    assert run(minutes=1e-9)[0] == 1


def test_parts_make_the_whole(runner, tmp_path):
    whole = cells_of(runner)
    parts = [select_shard(f"{i}/3", whole) for i in (1, 2, 3)]
    assert sorted(cell for part in parts for cell in part) == sorted(whole)
    journals = [tmp_path / f"{i}.jsonl" for i in (1, 2, 3)]
    for i, journal in enumerate(journals):
        assert run(journal=journal, shard=f"{i + 1}/3")[0] == 0
    assert sorted(runner.ran) == sorted(whole)
    runner.ran, file = [], tmp_path / "run.json"
    assert run(done=tuple(journals), json=file)[0] == 0 and runner.ran == []
    data = json.loads(file.read_text())
    assert data["complete"] and len(data["cells"]) == len(whole)
    assert data["seconds"] >= 0.5 * len(whole)


def test_what_failed_in_another_part_is_not_run_and_fails(runner, tmp_path):
    whole, journal = cells_of(runner), tmp_path / "part.jsonl"
    runner.failing = {whole[0]}
    assert run(journal=journal, shard="1/3")[0] == 1
    theirs, runner.ran, runner.failing = runner.ran, [], set()
    status, printed = run(done=(journal,))
    assert status == 1 and f"{len(whole) - 1} pass, 1 fail" in printed
    assert runner.ran == [cell for cell in whole if cell not in theirs]


@pytest.mark.parametrize(
    "words, said",
    [
        ({"profile": "full"}, "profile 'quick', this run has 'full'"),
        ({"samples": 2}, "samples None, this run has 2"),
        ({"x64": False, "dtypes": "float32"}, "x64 True, this run has False"),
    ],
)
def test_a_journal_of_another_kind_of_run_is_refused(runner, tmp_path, words, said):
    journal = tmp_path / "run.jsonl"
    run(journal=journal)
    before = journal.read_text()
    for given in ({"journal": journal}, {"done": (journal,)}):
        with pytest.raises(UsageError, match=said):
            run(**given, **words)
    assert journal.read_text() == before


@pytest.mark.parametrize(
    "text", ["hello\n", "hello", "[1]\n", '{"format": "functx check"}\n', '{"format": "functx"}']
)
def test_a_file_that_is_no_journal_is_left_alone(runner, tmp_path, text):
    file = tmp_path / "notes.txt"
    file.write_text(text)
    with pytest.raises(UsageError, match="is no journal of functx check; name a new file"):
        run(journal=file)
    assert file.read_text() == text and runner.ran == []


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"status": "ok"}, "one of pass, fail, gap, unexpected pass as 'status', got 'ok'"),
        ({"status": ["pass"]}, "as 'status', got ['pass']"),
        ({"seconds": "0.5"}, "must have a number from 0 on as 'seconds', got '0.5'"),
        ({"seconds": float("nan")}, "must have a number from 0 on as 'seconds', got nan"),
        ({"seconds": True}, "must have a number from 0 on as 'seconds', got True"),
        ({"samples": 2.5}, "must have a whole number from 0 on as 'samples', got 2.5"),
        ({"ulps": -1}, "must have a number from 0 on as 'ulps', got -1"),
        ({"dtype": None}, "must have a text as 'dtype', got None"),
        ({"error": 3}, "must have a text as 'error', got 3"),
        ({"colour": "red"}, "has 'colour', which no result has"),
        (None, "has no 'dtype'"),
        ("half", "is no JSON object"),
    ],
)
def test_a_damaged_line_is_named(runner, tmp_path, changed, said):
    journal = tmp_path / "run.jsonl"
    run(journal=journal)
    lines = journal.read_text().splitlines()
    found = json.loads(lines[2])
    if changed is None:
        del found["dtype"]
    lines[2] = lines[2][:20] if changed == "half" else json.dumps(found | (changed or {}))
    journal.write_text("\n".join(lines) + "\n")
    for words in ({"journal": journal}, {"done": (journal,)}):
        with pytest.raises(UsageError) as refused:
            run(**words)
        assert str(refused.value).startswith(f"{journal}, line 3, ") and said in str(refused.value)
        assert str(refused.value).endswith("; delete the line, and its cell is run again")


def test_a_part_that_holds_nothing_says_so_and_is_a_part(runner, tmp_path):
    whole = cells_of(runner)
    files = {name: tmp_path / f"run.{name}" for name in ("json", "junit", "report")}
    journals = [tmp_path / f"{i}.jsonl" for i in range(1, 5)]
    for i, journal in enumerate(journals, 1):
        status, printed = run(journal=journal, shard=f"{i}/4", **files)
        assert status == 0
        empty = "--shard 4/4 holds nothing: all parts together hold 3 entries" in printed
        assert empty == (i == 4)
    assert json.loads(files["json"].read_text())["cells"] == []
    assert runner.ran == whole and len(journals[3].read_text().splitlines()) == 1
    assert run(done=tuple(journals))[0] == 0 and runner.ran == whole


@pytest.mark.parametrize("word", ["0/3", "4/3", "1", "a/b", "1/0"])
def test_parts_that_are_none(runner, word):
    with pytest.raises(UsageError, match=r"--shard must be a part of several, 1/8 to 8/8, got"):
        run(shard=word)


def test_time_must_be_some(runner):
    with pytest.raises(UsageError, match="--minutes must be more than 0, got 0"):
        run(minutes=0.0)


def test_what_took_longest_is_named(runner):
    printed = run(dtypes="float32,float64")[1]
    assert "cells/s" in printed and "longest: " in printed


def test_results_of_an_entry_that_has_changed_are_run_again(runner, tmp_path, monkeypatch):
    whole, file = cells_of(runner), tmp_path / "run.jsonl"
    run(journal=file)
    runner.ran = []
    changed = whole[0][0]
    of = check_journal.source_digest
    monkeypatch.setattr(
        check_journal, "source_digest", lambda info: "changed" if info.id == changed else of(info)
    )
    left = [cell for cell in whole if cell[0] == changed]
    assert 0 < len(left) < len(whole)
    assert run(journal=file)[0] == 0 and runner.ran == left
    assert run(journal=file)[0] == 0 and runner.ran == left  # there is nothing left
    assert run(done=(file,))[0] == 0 and runner.ran == left

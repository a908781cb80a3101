"""Which cells a plain run of the operator tests makes."""

import dataclasses
import sys
from collections import Counter
from types import SimpleNamespace

import jax
import proved
import pytest

from functx.testing import op_db
from functx.testing.checks import checked_dtypes


TREES = [f"tree {i}" for i in range(60)]
CHECKS = [f"check {i}" for i in range(31)]
ADD = next(info for info in op_db if info.id == "add")


def record_of(path, profile, columns, *rows):
    path.write_text("\n".join("\t".join(row) for row in [("entry", *columns), *rows]) + "\n")
    return proved.Record(path, profile, columns)


def test_an_entry_whose_sources_changed_is_not_proved(tmp_path):
    rows = ("add", proved.source_digest(ADD)), ("sub", "another")
    record = record_of(tmp_path / "proved.tsv", "quick", ("digest",), *rows)
    by_id = {info.id: info for info in op_db}
    found = {name: record.proves(by_id[name]) for name in ("add", "sub", "mul")}
    assert found == {"add": True, "sub": False, "mul": False}


def test_entries_without_cells_in_a_journal_keep_their_rows(monkeypatch, tmp_path):
    """Of the entries with cells, one passes, one fails, and one lacks a cell."""
    few = [next(info for info in op_db if info.id == name) for name in ("add", "sub", "mul", "div")]
    every = [(info.id, check) for info in few for check in ("values", "dtypes")]
    journal = [SimpleNamespace(cell=cell, failing=cell[0] == "mul") for cell in every[2:-1]]
    rows = ("add", "kept"), ("sub", "old"), ("mul", "old"), ("div", "old")
    record = record_of(tmp_path / "proved.tsv", "quick", ("digest",), *rows)
    monkeypatch.setattr(proved, "op_db", few)
    monkeypatch.setattr(proved, "recorded", lambda path, plan: journal)
    plan = SimpleNamespace(cells=lambda: every)
    monkeypatch.setattr(proved, "Plan", lambda infos, profile: plan)
    record.update([record.path])
    source_digest = proved.source_digest(few[1])
    assert record.path.read_text() == f"entry\tdigest\nadd\tkept\nsub\t{source_digest}\n"


def test_an_entry_without_cells_is_not_proved(monkeypatch):
    monkeypatch.setattr(proved, "recorded", lambda path, plan: [])
    monkeypatch.setattr(proved, "Plan", lambda infos, profile: SimpleNamespace(cells=list))
    assert proved._passed([None], "quick") == (set(), [])


def test_the_program_asks_for_cells_of_64_bit(monkeypatch):
    """JAX's default has none of them."""
    seen = []
    update = lambda record, journals: seen.append(jax.config.jax_enable_x64)
    monkeypatch.setattr(proved.Record, "update", update)
    monkeypatch.setattr(sys, "argv", ["proved.py", "some.jsonl"])
    jax.config.update("jax_enable_x64", False)
    try:
        proved.main()
    finally:
        jax.config.update("jax_enable_x64", True)  # as the tests have it
    assert seen == [True]


def test_the_full_profile_is_recorded_entry_by_entry(monkeypatch, tmp_path):
    """Of the entries with cells, one passes and one fails; one passed before, in another tree."""
    few = [next(info for info in op_db if info.id == name) for name in ("add", "sub", "mul", "div")]
    digest = dict(zip(("add", "sub", "mul", "div"), map(proved.source_digest, few), strict=True))
    every = [(info.id, "values") for info in few]
    journal = [SimpleNamespace(cell=cell, failing=cell[0] == "mul") for cell in every[1:3]]
    columns = "digest", "beneath"
    rows = ("add", digest["add"], "earlier"), ("mul", digest["mul"], "earlier"), ("div", "o", "o")
    record = record_of(tmp_path / "proved_in_full.tsv", "full", columns, *rows)
    monkeypatch.setattr(proved, "op_db", few)
    monkeypatch.setattr(proved, "recorded", lambda path, plan: journal)
    plans = []
    plan = SimpleNamespace(cells=lambda: every)
    monkeypatch.setattr(proved, "Plan", lambda infos, profile: plans.append(profile) or plan)
    assert record.left() == ["sub", "div"]
    record.update([record.path])
    now = "sub", digest["sub"], proved.tree_digest()[:16]
    written = [tuple(line.split("\t")) for line in record.path.read_text().splitlines()]
    assert written == [("entry", *columns), rows[0], now, rows[2]]
    assert record.left() == ["mul", "div"] and plans == ["full"]


def test_there_is_no_pattern_once_the_full_profile_has_passed(monkeypatch):
    monkeypatch.setattr(proved.Record, "left", lambda record: [])
    monkeypatch.setattr(sys, "argv", ["proved.py", "--left", "40"])
    with pytest.raises(SystemExit, match="all entries passed"):
        proved.main()


def test_the_record_names_entries_that_there_are():
    ids = {info.id for info in op_db}
    assert proved.QUICK.rows.keys() <= ids and proved.FULL.rows.keys() <= ids


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_eighth_of_the_checks_has_its_turn_and_each_in_some_tree(dtype):
    turns = Counter()
    for tree in TREES:
        chosen = proved.checks_to_run(ADD, dtype, CHECKS, tree)
        assert len(chosen) in (3, 4)
        assert chosen == proved.checks_to_run(ADD, dtype, CHECKS, tree)
        turns.update(chosen)
    assert turns.keys() == set(CHECKS)


def test_another_dtype_runs_whole_or_not_at_all():
    dtypes = checked_dtypes(ADD)
    assert proved.checks_to_run(ADD, "int64", CHECKS, "any") == CHECKS
    runs = Counter(d for tree in TREES for d in proved.dtypes_to_run(ADD, dtypes, tree))
    assert runs["float32"] == runs["float64"] == len(TREES)
    others = [runs[dtype] for dtype in dtypes if dtype not in ("float32", "float64")]
    assert others and all(0 < n < len(TREES) / 4 for n in others)


def test_an_entry_without_float32_runs_the_checks_of_its_widest_dtype():
    integers = dataclasses.replace(ADD, dtypes=("int32", "int64"))
    assert all("int64" in proved.dtypes_to_run(integers, ["int32", "int64"], t) for t in TREES)


def test_few_checks_are_never_none():
    chosen = [proved.checks_to_run(ADD, "float32", ["reference"], tree) for tree in TREES]
    assert chosen == [["reference"]] * len(TREES)


def test_a_change_beneath_the_operators_meets_another_eighth(monkeypatch, tmp_path):
    def digest():
        proved.tree_digest.cache_clear()
        return proved.tree_digest()

    for name in ("_core", "_ops", "testing/opdb"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file.py").write_text("x = 1\n")
    monkeypatch.setattr(proved, "SOURCES", tmp_path)
    before = digest()
    for name in ("_ops", "testing/opdb"):  # the digests of entries hold these
        (tmp_path / name / "file.py").write_text("x = 2\n")
    assert digest() == before
    (tmp_path / "_core" / "file.py").write_text("x = 2\n")
    assert digest() != before
    proved.tree_digest.cache_clear()


def test_a_quarter_of_the_entries_has_its_turn_in_a_tree_and_each_in_some():
    turns = Counter()
    for tree in TREES:
        having = [info.id for info in op_db if proved.has_its_turn(info, tree)]
        assert len(op_db) / 6 < len(having) < len(op_db) / 3
        turns.update(having)
    assert turns.keys() == {info.id for info in op_db}

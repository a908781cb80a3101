"""The record of public models: what of a journal is taken, and what the tables make of it."""

import dataclasses
import importlib
import json
from pathlib import Path

import pytest


pytestmark = pytest.mark.reads_files
MODELS = ["hf:albert", "hf:bart", "hf:gemma"]
EXT = Path(__file__).parents[2] / "docs" / "ext"


@pytest.fixture
def public_models(monkeypatch):
    monkeypatch.syspath_prepend(str(EXT))
    return importlib.import_module("public_models")


def line(model, check, outcome, errors, **notes):
    values = {"model": model, "check": check, "outcome": outcome, "errors": errors}
    return json.dumps(values | {"notes": notes, "seconds": 1.0, "gigabytes": 0.5})


def test_the_last_outcome_of_each_check_is_recorded(public_models, tmp_path, monkeypatch):
    whole = {"values": 3e-7, "gradients": 2e-7}
    in_double = {"values in double": 2e-15, "gradients in double": 1e-15}
    journal, path = tmp_path / "models.jsonl", tmp_path / "record.tsv"
    lines = [
        line("hf:bart", "values", "failed", {}, reason="ValueError: a; b\nc"),
        line("hf:albert", "values", "time", {}),
        line("hf:albert", "values", "agrees", {"values": 1e-16, "gradients": 3e-16}, parameters=7),
        line("hf:albert", "graphs", "agrees", {"budget": 2e-16, "partition": 1e-16}, nodes=9),
        line("hf:gemma", "graphs", "agrees", {"budget": 1e-16}, **{"one batch": "no", "budget": 1}),
        line("hf:gemma", "torchax", "failed", {}, reason="KeyError: b"),
        line("hf:bart", "torchax", "differs", {"values": 2e-15, "gradients": float("nan")}),
        line("hf:unlisted", "values", "agrees", {"values": 0.0}),
        line("hf:gemma", "values", "in float32", whole | in_double, casts="a.py:3: x.float()"),
    ]
    journal.write_text("\n".join(["{}", *lines]) + "\n")
    public_models.record([journal], path)
    found = public_models.recorded(path)
    assert [model for model, check in found if check == "values"] == MODELS
    assert [model for model, check in found if check == "graphs"] == ["hf:albert", "hf:gemma"]
    assert found["hf:albert", "values"].numbers == {"values": 1e-16, "gradients": 3e-16}
    assert found["hf:bart", "values"].words == {"reason": "ValueError: a, b c"}
    public_models.record([], path)
    assert public_models.recorded(path) == found

    monkeypatch.setattr(public_models, "recorded", lambda: found)
    rows = public_models.models_table().splitlines()
    [albert] = [row for row in rows if "`hf:albert`" in row]
    assert (
        albert
        == "| `hf:albert` | 7 | 1e-16 | 3e-16 | 2e-16 | not run | not run | not run | not run |  |"
    )
    [gemma] = [row for row in rows if "`hf:gemma`" in row]
    assert "| 3e-07 (2e-15) | 2e-07 (1e-15) |" in gemma and "`a.py:3: x.float()`" in gemma
    assert "one batch: `no`" in gemma and "budget of 1" in gemma and "nodes" not in albert
    assert "torchax: `KeyError: b`" in gemma
    [bart] = [row for row in rows if "`hf:bart`" in row]
    assert "| refused | refused |" in bart and "`ValueError: a, b c`" in bart
    assert "| nan |" in bart  # not what stands beside it
    counts = public_models.counts_table().splitlines()
    assert counts[0].endswith("| agrees | in float32 | differs | refused | not run |")
    assert counts[2] == f"| values and gradients | 1 | 1 | 0 | 1 | {len(rows) - 5} |"


def test_what_stands_in_the_docs_is_of_the_list_and_explained(public_models):
    found = public_models.recorded()
    for (model, check), row in found.items():
        assert model in public_models.listed() and check in public_models.CHECKS
        assert row.outcome in public_models.OUTCOMES
        casts = row.outcome == "in float32" and "casts" in found[model, "values"].words
        explained = public_models.REASONS.get(model) or row.words or casts
        assert row.outcome in ("agrees", "time", "memory") or explained, dataclasses.astuple(row)

"""The suite's own `--check-json`: what tests recorded, as `functx check` writes it."""

import json
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from check_results import CheckResults, record, wanted
from made_runs import results, SIN

import functx.testing


class Config:
    def __init__(self, **options):
        self.options = {"--device": "cpu", "--profile": "quick"} | options

    def getoption(self, name):
        return self.options.get(name)


@pytest.fixture
def cells():
    """All that a run of one entry plans, in another order than it does."""
    pairs = functx.testing.cells([SIN], ["float32", "float64"], ["reference", "vmap"])
    return {(info.id, dtype, check): "pass" for info, dtype, check in reversed(list(pairs))}


def reports(config, cells, when="call"):
    """Of one test for each cell, in a worker and back: what is left are lists, texts, numbers."""
    for i, result in enumerate(results(cells)):
        node = SimpleNamespace(user_properties=[("seed", 3)])
        record(SimpleNamespace(config=config, node=node), [result])
        properties = json.loads(json.dumps(node.user_properties))
        yield SimpleNamespace(when=when, user_properties=properties, start=i, stop=i + 2)


def write(config, *batches):
    plugin, lines = CheckResults(config), []
    for report in (report for batch in batches for report in batch):
        plugin.pytest_runtest_logreport(report)
    plugin.pytest_terminal_summary(SimpleNamespace(write_line=lines.append))
    return lines


def test_what_tests_record_is_written_in_the_order_of_the_plan(monkeypatch, tmp_path, cells):
    monkeypatch.setattr(functx.testing, "op_db", [SIN])
    path = tmp_path / "check.json"
    config = Config(**{"--check-json": path, "--dtypes": "float32,float64"})
    lines = write(config, reports(config, cells, "setup"), reports(config, cells))
    data = json.loads(path.read_text())
    assert lines == [f"wrote {path}"]
    found = [(cell["operator"], cell["dtype"], cell["check"]) for cell in data["cells"]]
    assert set(found) == set(cells) and found[0][2] == "reference"
    assert [cell[1] for cell in found] == sorted(cell[1] for cell in found)
    assert data["complete"] is False, "others are planned"
    assert data["seconds"] == len(cells) + 1


def test_what_is_asked_for_is_written(monkeypatch, tmp_path, cells):
    monkeypatch.setattr(functx.testing, "op_db", [SIN])
    page, xml = tmp_path / "check.html", tmp_path / "check.xml"
    config = Config(**{"--check-report": page, "--check-junit": xml, "--dtypes": "float32,float64"})
    write(config, reports(config, cells))
    assert page.read_text().startswith("<!doctype html>")
    assert ElementTree.parse(xml).getroot().get("tests") == str(len(cells))
    assert len(list(tmp_path.iterdir())) == 2


def test_nothing_is_recorded_that_nobody_wants():
    config, node = Config(), SimpleNamespace(user_properties=[])
    record(SimpleNamespace(config=config, node=node), results())
    assert not wanted(config) and node.user_properties == []

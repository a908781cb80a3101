"""A run as JSON and as a page: what is written, and that the schema describes it."""

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from made_runs import CELLS, ENTRIES, run
from rich.console import Console

from functx.cli import check_command
from functx.cli.check_command import run_check
from functx.cli.report import condensed, SCHEMA, write_html, write_json
from functx.cli.requests import CheckRequest
from functx.testing import CHECKS


pytestmark = pytest.mark.reads_files


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_a_run_is_as_the_schema_says(validator, monkeypatch, tmp_path):
    monkeypatch.setattr(check_command, "op_db", ENTRIES[:1])
    path = tmp_path / "run.json"
    request = CheckRequest("sin", "reference,vmap_rule", "float32", json=path)
    assert run_check(request, Console(quiet=True)) == 0
    data = json.loads(path.read_text())
    validator.validate(data)
    assert data["settings"]["asked"] == {
        "dtypes": ["float32"],
        "checks": ["reference", "vmap_rule"],
    }


def test_cells_in_every_status_are_as_the_schema_says(validator, tmp_path):
    write_json(tmp_path / "run.json", run())
    data = json.loads((tmp_path / "run.json").read_text())
    validator.validate(data)
    assert data["totals"] == {"pass": 7, "fail": 1, "gap": 1, "unexpected pass": 1}


def described(schema, data, at=""):
    """Fields of `data` that a schema says nothing of."""
    if isinstance(data, list):
        return [name for x in data for name in described(schema.get("items", {}), x, at)]
    if not isinstance(data, dict):
        return []
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    unknown = [f"{at}.{name}" for name in data if name not in known and not others]
    for name, value in data.items():
        unknown += described(known.get(name) or others or {}, value, f"{at}.{name}")
    return unknown


def test_every_field_is_described(validator):
    assert described(validator.schema, run()) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("totals"),
        lambda data: data.update(version=2),
        lambda data: data["cells"][0].pop("error"),
        lambda data: data["cells"][0].update(status="passed"),
        lambda data: data["settings"].pop("asked"),
        lambda data: data["operators"]["sum"]["floor"].update(of="all"),
    ],
)
def test_the_schema_refuses_what_is_no_run(validator, spoil):
    data = run()
    spoil(data)
    assert not validator.is_valid(data)


def test_the_schema_is_shipped():
    assert json.loads((files("functx.cli") / "check.schema.json").read_text())["title"]


def test_a_run_is_read_back_as_it_was_written_a_cell_to_a_line(tmp_path):
    write_json(tmp_path / "run.json", run())
    text = (tmp_path / "run.json").read_text()
    assert json.loads(text) == json.loads(json.dumps(run() | {"date": json.loads(text)["date"]}))
    assert len(re.findall(r'^{"operator": ', text, re.M)) == len(CELLS)


def test_a_run_that_was_stopped_is_not_complete(tmp_path):
    write_html(tmp_path / "run.html", run(planned=50))
    assert run(planned=50)["complete"] is False and run()["complete"] is True
    assert f"not complete: {len(CELLS)} of 50 cells" in (tmp_path / "run.html").read_text()


def test_a_check_compares_what_its_tolerance_is_for():
    data = run(dict.fromkeys((("sin", "float32", check) for check in CHECKS), "pass"))
    compares = {name: check["compares"] for name, check in data["checks"].items()}
    assert set(compares) == set(CHECKS)
    assert compares["reference"] == "reference" and compares["jit"] == "values"
    assert compares["vmap_vjp"] == "derivatives", "which are off by more than values"
    assert compares["vmap_rule"] == compares["refusals"] == "other", "no numbers are compared"


def test_the_page_needs_nothing_but_itself(tmp_path):
    write_html(tmp_path / "deep" / "run.html", run())
    html = (tmp_path / "deep" / "run.html").read_text()
    assert re.findall(r'(?:src|href)="(?!data:)', html) == []
    assert "http://" not in html and "https://" not in html and "@import" not in html


def test_what_cells_say_is_text_in_the_page(tmp_path):
    write_html(tmp_path / "run.html", run())
    html = (tmp_path / "run.html").read_text()
    scripts = re.findall(r"<script[^>]*>.*?</script>", html, re.S)
    assert len(scripts) == 3 and 'expected </script> & "0.25"' not in html


def test_the_page_names_each_text_once():
    many = {("sin", "float32", check): "fail" for check in ("jit", "vmap", "layouts")}
    data = condensed(run(many))
    assert len(data["strings"]) == 4 and len(data["texts"]) == 3
    assert [row[3] for row in data["rows"]] == ["fff"]


def test_another_run_like_it_has_its_settings():
    assert condensed(run())["again"] == ""
    settings = {"device": "gpu", "profile": "full", "samples": 2, "x64": False}
    again = condensed(run(**settings))["again"]
    assert again == " --profile full --device gpu --samples 2 --no-x64"


def fields(schema):
    """The names of all fields that a schema describes."""
    for name, inner in schema.get("properties", {}).items():
        yield name
        yield from fields(inner)
    for word in ("items", "additionalProperties"):
        if word in schema:
            yield from fields(schema[word])


def test_the_docs_explain_every_field(validator):
    page = Path(__file__).parents[2] / "docs" / "how-to" / "read_the_report.md"
    named = set(re.findall(r"`(\w+)`", page.read_text()))
    assert set(fields(validator.schema)) - named == set()

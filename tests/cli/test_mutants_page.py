"""The page of planted mistakes in a real browser."""

import pytest
from browser import Browser, chromium

from functx.cli.mutants_report import Hunt, write_html
from functx.testing.mutants import Verdict


pytestmark = pytest.mark.skipif(chromium() is None, reason="needs chromium, to show the page")

VERDICTS = [
    Verdict("sin", "rank 0", "", "reference", "float32", 1),
    Verdict("sin", "gradient zero", "input", "vjp", "float32", 1),
    *[Verdict("linalg.svd", "gradient zero", "A", "vjp", "float32", 1)] * 2498,
    Verdict("linalg.svd", "gradient zero", "A", touched=1),
]
SHOWN = "[...document.querySelectorAll('#matrix tbody tr:not([hidden]) th')].map(e => e.innerText)"


@pytest.fixture
def page(tmp_path):
    hunt = Hunt(VERDICTS, {"cos": "ValueError: <none>"}, "cpu", 12.5, entries=3, planned=4)
    write_html(tmp_path / "mutants.html", hunt)
    with Browser(tmp_path / "profile") as browser:
        browser.show()
        browser.open(tmp_path / "mutants.html")
        yield browser
        assert browser.errors == []


def test_the_score_is_on_top_and_rounds_no_survivor_away(page):
    tiles = page.run("[...document.querySelectorAll('.tile b')].map(e => e.innerText)")
    assert tiles == ["2500", "1", "2501", "99.9 %", "3"]
    assert "not complete: 3 of 4 entries" in page.run("document.querySelector('.meta').innerText")


def test_survivors_are_named_with_what_they_would_mean(page):
    said = page.run("document.querySelector('.survivors').innerText").split("\n")
    assert said[0] == "cos raises ValueError: <none>"
    assert said[1] == "linalg.svd gradient zero (A): 1 looks"
    assert said[-1].startswith("training goes wrong")


def test_cells_say_caught_of_planted_and_survivors_stand_out(page):
    cells = page.run("""[...document.querySelectorAll('#matrix tbody tr')].map(tr =>
        [...tr.cells].map(td => `${td.innerText}${td.className}`))""")
    assert cells == [["sin", "1/1p", "1/1p"], ["linalg.svd", "2498/2499f", ""]]


def test_the_field_finds_operators_as_the_command_line_does(page):
    for typed, shown in [("LINALG", ["linalg.svd"]), ("s*n", ["sin"]), ("^si", ["sin"]), ("(", [])]:
        page.run("document.querySelector('#filter').select()")
        page.press(*typed)
        assert page.run(SHOWN) == shown
    assert page.run("document.querySelector('#filter').ariaInvalid") == "true"
    assert page.run("document.querySelector('.note').innerText").startswith("This is no glob")


def test_the_page_fits_a_telephone(page):
    page.show(width=390)
    assert page.run("document.documentElement.scrollWidth") <= 390

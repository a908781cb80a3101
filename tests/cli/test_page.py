"""The page of a run in a real browser: what is seen, and what the mouse and the keyboard do."""

import pytest
from browser import Browser, chromium
from made_runs import run

from functx.cli.report import write_html
from functx.testing import CHECKS


pytestmark = pytest.mark.skipif(chromium() is None, reason="needs chromium, to show the page")

CELLS = {
    **dict.fromkeys((("sin", "float32", check) for check in CHECKS), "pass"),
    ("sin", "float32", "jit"): "fail",
    ("sin", "float64", "reference"): "pass",
    ("sin", "float64", "jit"): "pass",
    ("sum", "float32", "reference"): "pass",
    ("sum", "float32", "vmap"): "pass",
    ("linalg.norm-inf", "float64", "reference"): "unexpected pass",
    ("linalg.norm-inf", "float64", "gradient"): "gap",
}
SHOWN = "[...document.querySelectorAll('#matrix tbody tr:not([hidden]) th')].map(e => e.innerText)"
DIALOG = "document.querySelector('dialog').open && document.querySelector('dialog').innerText"
# The cell that has the focus: its row and its column's heading.
FOCUS = """(() => {
  const td = document.activeElement;
  if (!td.matches("td")) return td.id;
  return `${td.parentNode.cells[0].innerText} ${checks[td.cellIndex - 1].name}`;
})()"""
# The least contrast of text in cells and beside the matrix, as WCAG defines it.
CONTRAST = """(() => {
  const light = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number)
    .map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
    .reduce((sum, x, i) => sum + x * [.2126, .7152, .0722][i], 0);
  const behind = e => {
    const color = getComputedStyle(e).backgroundColor;
    return /, 0\\)$/.test(color) ? behind(e.parentNode) : color;
  };
  const texts = "#matrix td:not(:empty), #matrix th, .meta, .line, .tile b, .tile span, h1, button";
  return Math.min(...[...document.querySelectorAll(texts)].map(e => {
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
    return (a + .05) / (b + .05);
  }));
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "run.html"
    write_html(path, run(CELLS, planned=100))
    return path


@pytest.fixture
def page(browser, written):
    browser.show()
    browser.errors.clear()
    browser.open(written)
    browser.run("theme('auto')")  # a test before may have chosen another
    yield browser
    assert browser.errors == []


def click(page, selector):
    page.run(f"document.querySelector({selector!r}).click()")


def write(page, text):
    page.run("document.querySelector('#filter').select()")
    page.press(*text)


def test_totals_are_on_top(page):
    tiles = page.run("[...document.querySelectorAll('.tile')].map(e => e.innerText)")
    count = len(CELLS)
    assert [tile.split("\n")[0] for tile in tiles] == [
        str(count - 3),
        "2",
        "1",
        str(count),
        "12.5 s",
    ]
    assert f"not complete: {count} of 100 cells" in page.run("document.body.innerText")


def test_cells_have_colour_and_text(page):
    cells = """[...document.querySelectorAll('#matrix td:not(:empty)')].map(td =>
        [td.innerText, td.ariaLabel, getComputedStyle(td).backgroundColor])"""
    seen = {(mark, label.split(", ")[0][2:], color) for mark, label, color in page.run(cells)}
    named = {(mark, label) for mark, label, _ in seen}
    assert named == {("✓", "pass"), ("✗", "fail"), ("○", "gap"), ("!", "unexpected pass")}
    colors = {mark: color for mark, _, color in seen}
    assert len({colors["✓"], colors["✗"], colors["○"]}) == 3
    assert page.run("document.querySelector('td.f').ariaLabel") == "1 fail, 1 pass", "the worst"


def test_headings_are_not_cut_off(page):
    cut = page.run("""[...document.querySelectorAll('#matrix thead th:not(.corner)')].filter(th => {
        const range = document.createRange();
        range.selectNodeContents(th.firstChild);
        const text = range.getBoundingClientRect(), cell = th.getBoundingClientRect();
        return th.firstChild.scrollWidth > th.firstChild.clientWidth + 1
            || text.left < cell.left - 1 || text.right > cell.right + 1
            || text.top < cell.top - 1 || text.bottom > cell.bottom + 1;
    }).map(th => th.innerText)""")
    assert cut == []
    headings = page.run("[...document.querySelectorAll('th.group')].map(e => e.innerText)")
    assert {"forward", "conventions", "randomness", "composition"} <= set(headings)


@pytest.mark.parametrize(
    "text, shown",
    [
        ("sin", ["sin"]),
        ("s*", ["sin", "sum"]),
        ("linalg.*", ["linalg.norm-inf"]),
        ("^s(in|um)$", ["sin", "sum"]),
        ("SUM", ["sum"]),
        ("gelu", []),
        ("(", []),
    ],
)
def test_operators_are_found_as_on_the_command_line(page, text, shown):
    write(page, text)
    assert page.run(SHOWN) == shown
    assert page.run("document.querySelector('#count').innerText") == f"{len(shown)} of 3 entries"
    note = page.run(
        "!document.querySelector('.note').hidden && document.querySelector('.note').innerText"
    )
    expected = "This is no glob or regular expression." if text == "(" else "No operator matches."
    assert note == (False if shown else expected)


def test_totals_choose_operators_by_status(page):
    click(page, "button.tile.f")
    assert page.run(SHOWN) == ["sin", "linalg.norm-inf"]
    click(page, "button.tile.f")
    click(page, "button.tile.g")
    assert page.run(SHOWN) == ["linalg.norm-inf"]
    click(page, "#reset")
    page.run("new Promise(done => setTimeout(done))")
    assert len(page.run(SHOWN)) == 3


def choose(page, selector, name):
    page.run(f"""(select => {{
        select.value = [...select.options].find(option => option.text === {name!r}).value;
        select.dispatchEvent(new Event("change"));
    }})(document.querySelector({selector!r}))""")


def test_of_one_dtype_the_cells_of_others_are_empty(page):
    choose(page, "#dtype", "float64")
    assert page.run(SHOWN) == ["sin", "linalg.norm-inf"]
    row = page.run("[...document.querySelector('#matrix tbody tr').cells].map(td => td.ariaLabel)")
    assert [label for label in row if label] == ["1 pass", "1 pass"]


def test_families_are_shown_alone(page):
    choose(page, "#family", "reductions")
    assert page.run(SHOWN) == ["sum"]


def test_a_cell_shows_sample_tolerance_error_and_time(page):
    click(page, "td.f")
    shown = page.run(DIALOG)
    assert "sin · jit" in shown and CHECKS["jit"].summary in shown
    assert "sin(f32[2,3], dim=-1)" in shown
    assert 'AssertionError: sin(f32[2,3]): 0.5 at [0, 1], expected </script> & "0.25"' in shown
    assert "0.030 s · 3 samples · tolerance 16 ulps" in shown, "twice 8: both are computed"
    assert shown.index("float32") < shown.index("float64"), "the worst first"
    assert "functx check sin --checks jit --dtypes float32" in shown


def opened(page, operator, check):
    page.run(
        f"open(operators.find(o => o.id === {operator!r})"
        f".tr.cells[1 + checks.findIndex(c => c.name === {check!r})])"
    )
    return page.run(DIALOG)


def test_a_tolerance_is_what_the_check_allows(page):
    floor = "tolerance 8 ulps of each element, floor 4 ulps of the arguments at the element"
    assert f"{floor} (terms may cancel)" in opened(page, "sum", "reference")
    page.run("dialog.close()")
    floor = "tolerance 16 ulps of each element, floor 8 ulps of the largest"
    assert f"{floor} (terms may cancel)" in opened(page, "sum", "vmap")
    page.run("dialog.close()")
    assert "tolerance 512 ulps of each element" in opened(page, "sin", "vmap_vjp")
    page.run("dialog.close()")
    assert "exact, or by a bound of its own" in opened(page, "sin", "refusals")


def test_a_gap_says_why(page):
    click(page, "td.g")
    assert "Declared gap: LAPACK has none of them" in page.run(DIALOG)


def test_the_keyboard_does_it_all(page):
    page.press("/")
    assert page.run(FOCUS) == "filter"
    page.press(*"s[iu]", "Tab", "Tab", "Tab")
    assert page.run(FOCUS) == "reset" and page.run(SHOWN) == ["sin", "sum"]
    page.press("Tab")
    assert page.run(FOCUS) == "sin reference", "the matrix is one stop"
    page.press("ArrowDown", "ArrowDown", "End")
    assert page.run(FOCUS) == f"sum {list_of_checks(page)[-1]}"
    page.press("Home", ctrl=True)
    page.press("ArrowRight", "Enter")
    assert "sin · dtypes" in page.run(DIALOG) or "sin · jit" in page.run(DIALOG)
    page.press("Escape")
    assert page.run(DIALOG) is False
    assert page.run(FOCUS) == f"sin {list_of_checks(page)[1]}", "back where it was"
    page.press(" ")
    assert page.run(DIALOG)
    page.press("Enter")  # on the button that closes
    assert page.run(DIALOG) is False


def list_of_checks(page):
    return page.run("checks.map(check => check.name)")


def test_what_has_the_focus_is_not_under_the_headings(page):
    page.show(width=500, height=340)
    page.run("document.querySelector('#matrix td').focus()")
    page.press("End", "ArrowDown", "ArrowDown", "ArrowUp", *["ArrowLeft"] * 25)
    inside = """(() => {
        const td = document.activeElement.getBoundingClientRect();
        const name = document.activeElement.parentNode.cells[0].getBoundingClientRect();
        const head = document.querySelector("#matrix thead").getBoundingClientRect();
        return td.left >= name.right - 1 && td.top >= head.bottom - 1;
    })()"""
    assert page.run(inside)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_can_be_read(page, scheme):
    page.show(scheme=scheme)
    ground = page.run("getComputedStyle(document.body).backgroundColor")
    bright = int(ground[4:].split(",")[0]) > 127
    assert bright == (scheme == "light")
    assert page.run(CONTRAST) >= 4.5, "of WCAG 2 for small text"


def test_the_reader_chooses_another_scheme_which_is_kept(page, written):
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.run(ground)
    click(page, "#theme")
    click(page, "#theme")
    assert page.run("document.querySelector('#theme').innerText") == "Theme: dark"
    dark = page.run(ground)
    for _ in range(20):  # the browser writes down what is kept when it finds the time
        page.open(written)
        if page.run(ground) == dark:
            break
    assert page.run(ground) == dark != light


def test_a_phone_shows_it_without_scrolling_sideways(page, written):
    page.show(width=390, height=800, phone=True)
    page.open(written)
    assert page.run("document.documentElement.scrollWidth") == 390
    click(page, "td.f")
    assert page.run("document.querySelector('dialog').scrollWidth") <= 390


def test_times_and_outcomes_are_summed(page):
    page.run("document.querySelector('details.sums').open = true")
    page.run("new Promise(done => setTimeout(done, 50))")
    rows = "[...document.querySelectorAll('#sums tbody tr')]"
    sums = {
        row[0]: row[2:] for row in page.run(f"{rows}.map(e => [...e.cells].map(c => c.innerText))")
    }
    assert sums["jit"] == ["1", "1", "0", "0.1"]
    assert sums["reference"][:3] == ["3", "1", "0"] and sums["reductions"][0] == "2"

"""Every example in the README and the docs runs, in the settings that JAX has by default."""

import contextlib
import doctest
import json
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import typer
from compiling import compiling_anew

import functx
from functx._core import Accepts, Autocast, Promote, REGISTRY
from functx.cli.app import app
from functx.testing import CHECKS


pytestmark = pytest.mark.reads_files
ROOT = Path(__file__).parents[1]
WRITTEN = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "generated" not in path.parts]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LINKING = [*sorted(ROOT.glob("*.md")), *WRITTEN, *NOTEBOOKS]
FENCED = re.compile(r"^(`{3,})(?!\{).*?^\1", re.M | re.S)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SESSION = re.compile(r"^```pycon\n(.*?)^```", re.M | re.S)
PROGRAM = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


@pytest.fixture(autouse=True)
def default_settings():
    filtering = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "off")  # it adds notes to messages
    with (
        functx.x64(False),
        jax.numpy_dtype_promotion("standard"),
        jax.default_matmul_precision(None),
    ):
        yield
    jax.config.update("jax_traceback_filtering", filtering)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda p: str(p.relative_to(ROOT)))
def test_sessions_of_the_docs(page):
    names = {"functx": functx, "jnp": jnp, "jax": jax, "np": np}
    text = "\n".join(SESSION.findall(page.read_text()))
    session = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    alone = compiling_anew() if "profiler.profile(" in text else contextlib.nullcontext()
    with alone:
        assert doctest.DocTestRunner(optionflags=FLAGS).run(session).failed == 0


def test_programs_of_the_readme():
    programs = PROGRAM.findall((ROOT / "README.md").read_text())
    assert programs
    names = {}
    for program in programs:
        exec(compile(program, "README.md", "exec"), names)


@pytest.mark.parametrize("page", LINKING, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for words, target in re.findall(r"\[([^]]*)\]\(([^)\s]+)", prose(page)):
        if "://" in target or "generated" in target:
            continue
        # Sphinx fills in a title where a link has no words; GitHub shows nothing.
        assert words, f"{page.name} links to {target} without a word"
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(there), f"{page.name} links to {target}"


def prose(page):
    """What is written of a page or of a notebook, without its programs."""
    if page.suffix == ".ipynb":
        cells = json.loads(page.read_text())["cells"]
        return "\n".join("".join(x["source"]) for x in cells if x["cell_type"] == "markdown")
    return FENCED.sub("", page.read_text())


def anchors(page):
    """What GitHub, and Sphinx after it, name the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


LOADED = re.compile(r"""!\[[^]]*\]\(\s*https?:|<(?:img|script|link|iframe)\b[^>]*https?:""")


@pytest.mark.parametrize("page", LINKING, ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_load_nothing_from_the_network(page):
    assert not LOADED.search(page.read_text())


def test_the_sites_own_files_load_nothing_from_the_network():
    for path in (ROOT / "docs" / "_static").iterdir():
        if path.suffix in (".css", ".js"):
            assert "//" not in re.sub(r"^//.*$", "", path.read_text(), flags=re.M), path.name


def test_every_table_of_figures_says_how_to_repeat_it():
    sections = (ROOT / "docs" / "performance.md").read_text().split("\n## ")[1:]
    for section in sections:
        [name] = set(re.findall(r"`python -m benchmarks (\w+)`", section))
        assert (ROOT / "benchmarks" / f"{name}.py").exists(), section


def test_pages_for_a_task_end_with_costs_and_what_to_read_next():
    index = (ROOT / "docs" / "index.md").read_text()
    how_to = re.search(r":caption: How to\n(.*?)```", index, re.S)[1].split()
    for page in how_to:
        headings = re.findall(r"^## (.*)$", (ROOT / "docs" / f"{page}.md").read_text(), re.M)
        assert headings[-2:] == ["What it costs", "Read next"], page


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize("field", [Promote, Accepts, Autocast], ids=lambda field: field.__name__)
def test_every_choice_of_a_declaration_is_explained_by_an_operator(field):
    row = rf"^\| `{field.__name__}\.(\w+)` \|.*\| (?:`([\w.]+)` )?\|$"
    examples = dict(re.findall(row, CONTRIBUTING, re.M))
    assert examples.keys() == field.__members__.keys()
    chosen = {name: getattr(spec, field.__name__.lower()) for name, spec in REGISTRY.items()}
    for choice, example in examples.items():
        member = field[choice]
        assert chosen[example] is member if example else member not in chosen.values()


def samples_of(check):
    """What a check looks at, as its declaration says it."""
    return str(getattr(CHECKS[check].samples, "__name__", CHECKS[check].samples))


def test_samples_that_checks_look_at_are_as_explained():
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", CONTRIBUTING, re.M)
    explained = {name: chosen for chosen, names in rows for name in re.findall(r"`(\w+)`", names)}
    assert explained == {name: samples_of(name) for name in explained}
    assert {samples_of(name) for name in CHECKS.keys() - explained.keys()} == {"first_of_sets"}


def test_every_check_answers_a_question():
    page = (ROOT / "docs" / "concepts" / "checks.md").read_text()
    answers = re.findall(r"^\|.*\| ([^|]*) \|$", page, re.M)
    named = {name for cell in answers for name in re.findall(r"`(\w+)`", cell)}
    assert named >= CHECKS.keys()
    assert all(name in CHECKS for name in named), named - CHECKS.keys()


def test_the_options_of_check_are_those_of_its_help():
    page = (ROOT / "docs" / "how-to" / "read_the_report.md").read_text()
    written = re.findall(r"^\| `([^`]+)` \| (.*) \| (?:`(.*)`)? \|$", page, re.M)
    declared = typer.main.get_command(app).commands["check"].params
    assert written == [
        ("/".join((*p.opts, *p.secondary_opts)), p.help, default_of(p)) for p in declared
    ]


def default_of(parameter):
    """As it is typed; nothing where there is none."""
    if parameter.default is True:
        return parameter.opts[0]
    return str(parameter.default or "")

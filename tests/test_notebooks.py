"""The notebooks as they are committed: with the outputs of one clean run, and for any machine.

`tests/notebooks/test_execution.py` runs them.
"""

import ast
import base64
import json
import re
import sys
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "ext"))

import tutorials


FOLDER = ROOT / "notebooks"
PAGES = ROOT / "docs" / "generated"  # where the copies lie, which links are seen from
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MACHINE = re.compile(r"/(?:work|tmp|home|root|Users|opt|usr|var)/|site-packages|ipykernel_\d")
ADDRESS = re.compile(r"\bat 0x[0-9a-f]+")
LARGEST_PICTURE = 60_000  # bytes
pytestmark = [
    pytest.mark.reads_files,
    pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem),
]


def cells(path, kind):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == kind]


def source(cell):
    return "".join(cell["source"])


def program(cell):
    """The cell's code without the lines that are IPython's."""
    lines = source(cell).splitlines()
    return ast.parse("\n".join(line for line in lines if not re.match(r"\s*[%!]", line)))


def shows(cell):
    """Whether something comes out for certain: a call of `print` or `show` outside of functions."""
    outside = [node for node in program(cell).body if not isinstance(node, ast.FunctionDef)]
    calls = [n for top in outside for n in ast.walk(top) if isinstance(n, ast.Call)]
    named = [getattr(c.func, "attr", getattr(c.func, "id", "")) for c in calls]
    return "print" in named or "show" in named


def test_outputs_are_of_one_run_from_the_top(path):
    code = cells(path, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        assert cell["outputs"] or not shows(cell), f"no output of:\n{source(cell)}"


def test_outputs_hold_no_error_and_no_warning(path):
    for cell in cells(path, "code"):
        for output in cell["outputs"]:
            assert output["output_type"] != "error", source(cell)
            assert output.get("name") != "stderr", "".join(output["text"])


def texts(cell):
    """What the outputs say in words; pictures have words beside them that nobody sees."""
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/png" not in data:
            yield "".join(data.get("text/plain", ""))


def test_nothing_tells_of_the_machine(path):
    for cell in cells(path, "code"):
        assert not MACHINE.search(source(cell)), source(cell)
        for text in texts(cell):
            assert not MACHINE.search(text), text
            assert not ADDRESS.search(text), f"end the line with a semicolon: {text}"


def test_pictures_are_small(path):
    for cell in cells(path, "code"):
        for output in cell["outputs"]:
            picture = "".join(output.get("data", {}).get("image/png", ""))
            size = len(base64.b64decode(picture))
            assert size <= LARGEST_PICTURE, f"{size} bytes; a smaller dpi, from:\n{source(cell)}"


def test_it_is_short_and_stands_alone(path):
    code = cells(path, "code")
    assert len(code) <= 15
    for cell in code:
        for node in ast.walk(program(cell)):
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            names.append(getattr(node, "module", None) or "")
            assert not any(name.startswith("functx.cli") for name in names), source(cell)
        assert "sys.path" not in source(cell), source(cell)


def test_metadata_are_the_same_on_every_machine(path):
    notebook = json.loads(path.read_text())
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    for cell in notebook["cells"]:
        assert "execution" not in cell["metadata"], "times of the run, which nobody needs"


def test_the_list_of_tutorials_has_words_for_it(path):
    tutorial = tutorials.read(path.stem)
    assert tutorial.title and "#" not in tutorial.title
    assert 20 < len(tutorial.summary) < 300, tutorial.summary
    in_groups = [name for some in tutorials.GROUPS.values() for name in some]
    assert path.stem in in_groups, "docs/ext/tutorials.py says where it stands"


def test_links_lead_somewhere(path):
    prose = "\n".join(source(cell) for cell in cells(path, "markdown"))
    for target in re.findall(r"\]\(([^)#\s]+)", tutorials.copied(prose)):
        if "://" in target:
            continue
        from_pages = (PAGES / target).resolve()
        made = PAGES in from_pages.parents and from_pages.suffix != ".ipynb"
        place = FOLDER / from_pages.name if from_pages.suffix == ".ipynb" else from_pages
        assert made or place.exists(), f"{path.name} links to {target}"


def test_the_readme_names_it(path):
    assert f"(notebooks/{path.name})" in (ROOT / "README.md").read_text()

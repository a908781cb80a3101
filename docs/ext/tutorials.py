"""The tutorials: copies of the notebooks among the pages, and a page that lists them.

A notebook's first cell is its heading and a paragraph that says what the reader will have; the list
takes its words from there, and its picture from the first output that is one.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TYPE_CHECKING

from written_pages import write_pages


if TYPE_CHECKING:  # the tests, which read this, do without Sphinx
    from sphinx.application import Sphinx


NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# The order to read them in. One that is missing here comes last.
GROUPS = {
    "Begin here": ["whirlwind_tour", "tour", "porting_with_compare", "bring_a_pytorch_model"],
    "Gradients of many things at once": [
        "per_sample_gradients",
        "model_ensembling",
        "maml",
        "influence_functions",
        "neural_tangent_kernels",
    ],
    "Sequences of differing lengths": ["ragged_batches"],
    "Second derivatives": [
        "jacobians_and_hessians",
        "newton_cg_and_laplace",
    ],
    "Science": [
        "lennard_jones",
        "physics_informed_network",
        "stiff_reactions",
        "variational_monte_carlo",
    ],
    "Faster arithmetic": ["mixed_precision"],
    "Programs ahead of time": ["what_a_model_keeps", "from_aot_autograd", "where_memory_goes"],
    "Time": ["profile_a_training_step"],
    "Rules of your own, and a look inside": [
        "implicit_differentiation",
        "custom_functions",
        "autograd",
        "reading_the_database",
    ],
}
_INTRODUCTION = """# Tutorials

Each is a notebook that you can read here with its results, or download and run. Every one is
complete in itself, uses data that a package ships or simulates its own, and ends with what it cost
and what to read next.
"""


@dataclass(frozen=True)
class Tutorial:
    """What the list says about a notebook."""

    name: str
    title: str
    summary: str  # the first sentence below the heading
    picture: bytes | None  # PNG


def tutorials() -> dict[str, list[Tutorial]]:
    """All notebooks by group, in the order of reading."""
    names = {path.stem for path in NOTEBOOKS.glob("*.ipynb")}
    groups = {group: [name for name in some if name in names] for group, some in GROUPS.items()}
    groups["More"] = sorted(names - {name for some in GROUPS.values() for name in some})
    return {group: [read(name) for name in some] for group, some in groups.items() if some}


def read(name: str) -> Tutorial:
    """A notebook's title, first sentence and first picture."""
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]
    heading, _, rest = "".join(cells[0]["source"]).strip().partition("\n")
    paragraph = " ".join(rest.strip().partition("\n\n")[0].split())
    sentence = re.match(r".+?[.!?](?= [A-Z`*]|$)", paragraph)
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    pictures = [o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {})]
    picture = base64.b64decode("".join(pictures[0])) if pictures else None
    return Tutorial(name, heading.lstrip("# "), sentence[0] if sentence else paragraph, picture)


def page(groups: dict[str, list[Tutorial]]) -> str:
    """The list, and the contents for the sidebar."""
    parts = [_INTRODUCTION]
    for group, some in groups.items():
        parts.append(f"## {group}\n\n:::::{{container}} tutorials")
        parts += [_card(tutorial) for tutorial in some]
        parts.append(":::::\n")
    names = [tutorial.name for some in groups.values() for tutorial in some]
    return "\n".join([*parts, "```{toctree}\n:hidden:\n", *names, "```", ""])


def _card(tutorial: Tutorial) -> str:
    picture = f"[![{tutorial.title}](pictures/{tutorial.name}.png)]({tutorial.name}.ipynb)\n\n"
    return (
        f"::::{{container}} tutorial\n{picture if tutorial.picture else ''}"
        f"**[{tutorial.title}]({tutorial.name}.ipynb)**\n\n{tutorial.summary}\n::::"
    )


def copied(text: str) -> str:
    """A notebook's text as it stands among the pages, which lie a folder nearer."""
    return text.replace("](../docs/", "](../")


def write(app: Sphinx) -> None:
    """Writes what changed, and removes what is gone."""
    folder = Path(app.srcdir) / "generated"
    groups = tutorials()
    wanted = {
        f"{path.stem}.ipynb": copied(path.read_text()).encode()
        for path in NOTEBOOKS.glob("*.ipynb")
    }
    wanted["tutorials.md"] = page(groups).encode()
    for some in groups.values():
        wanted |= {f"pictures/{one.name}.png": one.picture for one in some if one.picture}
    write_pages(folder, wanted, [*folder.glob("*.ipynb"), *folder.glob("pictures/*.png")])


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's entry; after `reference`, which removes the pages that it does not know."""
    app.connect("builder-inited", write, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Every example in the README and the docs runs, in the settings that JAX has by default."""

import doctest
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


ROOT = Path(__file__).parents[1]
WRITTEN = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "generated" not in path.parts]
PAGES = [ROOT / "README.md", *WRITTEN]
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
        jax.default_matmul_precision("default"),
    ):
        yield
    jax.config.update("jax_traceback_filtering", filtering)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda p: str(p.relative_to(ROOT)))
def test_sessions_of_the_docs(page):
    names = {"functx": functx, "jnp": jnp, "jax": jax, "np": np}
    text = "\n".join(SESSION.findall(page.read_text()))
    session = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(session).failed == 0


def test_programs_of_the_readme():
    programs = PROGRAM.findall((ROOT / "README.md").read_text())
    assert programs
    names = {}
    for program in programs:
        exec(compile(program, "README.md", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" in target or "generated" in target:
            continue
        assert (page.parent / target).exists(), f"{page.name} links to {target}"

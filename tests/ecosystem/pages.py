"""The programs in the pages of docs/ecosystem, run as users would: each in its own process."""

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path


ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "ecosystem"
PAGES = [page for page in sorted(FOLDER.glob("*.md")) if page.name != "index.md"]
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```", re.M | re.S)
# What of conftest.py would change a user's program. Its devices are the program's to ask for.
SET_BY_TESTS = {"XLA_FLAGS", "JAX_ENABLE_X64", "PYTHONPATH"}


def program(page: Path) -> str:
    """All blocks of a page; empty lines stand for the text, so errors name its lines."""
    text, lines = page.read_text(), []
    for block in BLOCK.finditer(text):
        code = textwrap.dedent(block[2])
        lines += [""] * (text.count("\n", 0, block.start(2)) - len(lines))
        lines += code.splitlines()
    return "\n".join(lines) + "\n"


def packages(source: str) -> set[str]:
    """The top-level packages that a program imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def start(arguments: list[str], **variables: str) -> subprocess.Popen:
    """Python in a process of its own, with JAX as it is by default but on CPUs."""
    inherited = {k: v for k, v in os.environ.items() if k not in SET_BY_TESTS}
    environment = {**inherited, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT), **variables}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=pipe, stderr=pipe, text=True, env=environment
    )


def run(arguments: list[str], **variables: str) -> subprocess.CompletedProcess:
    """The same, until it ends."""
    with start(arguments, **variables) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)

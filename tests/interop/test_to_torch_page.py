"""The program of the page on calling functx from PyTorch runs as users would run it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


pytest.importorskip("torch", reason="pip install '.[torch]' brings torch")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "call_functx_from_pytorch.md"


def test_the_program_of_the_page(tmp_path):
    file = tmp_path / "page.py"
    file.write_text("\n".join(re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)))
    settings = {"XLA_FLAGS", "JAX_ENABLE_X64"}  # the tests', not a user's
    environment = {k: v for k, v in os.environ.items() if k not in settings}
    environment |= {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr

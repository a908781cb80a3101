"""The program of the page about PyTorch's models runs, as users would run it."""

import importlib.util

import pytest
from ecosystem.pages import program, ROOT, run


def test_the_program_of_the_page(tmp_path):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed: pip install '.[parity]'")
    page = ROOT / "docs" / "how-to" / "bring_your_pytorch_model.md"
    file = tmp_path / "page.py"
    file.write_text(program(page))
    done = run([str(file)])
    assert done.returncode == 0, done.stderr[-3000:]

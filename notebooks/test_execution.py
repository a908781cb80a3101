"""Every notebook runs from the top: `python -m pytest -n 2 notebooks`, with `.[notebooks,test]`."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient


NOTEBOOKS = sorted(Path(__file__).parent.glob("*.ipynb"))
SECONDS = 300  # for one cell, which takes a few


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_without_an_error(path, tmp_path, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", os.environ.get("JAX_PLATFORMS", "cpu"))
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}  # what it writes is gone afterwards
    NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()

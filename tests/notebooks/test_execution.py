"""Every notebook runs from the top. The extra `notebooks` installs what that needs."""

import os
from pathlib import Path

import pytest


nbformat, nbclient = map(pytest.importorskip, ("nbformat", "nbclient"))

from conftest import GIVEN_FLAGS


NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
SECONDS = 300  # for one cell, which takes a few


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    """The environment without what the other tests put there, but for the platform."""
    for name in [name for name in os.environ if name.startswith("JAX_")]:
        if name != "JAX_PLATFORMS":
            monkeypatch.delenv(name)
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if GIVEN_FLAGS is not None:
        monkeypatch.setenv("XLA_FLAGS", GIVEN_FLAGS)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=pytest.mark.reads(path)) for path in NOTEBOOKS],
)
def test_it_runs_without_an_error(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}  # what it writes is gone afterwards
    nbclient.NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()

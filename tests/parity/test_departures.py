"""Differences from PyTorch that are declared: each is still there, on the call that shows it."""

import importlib.util
from pathlib import Path

import pytest


pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

from functx.testing import op_db
from functx.testing.checks.conventions import convention_dtype

from .fuzz.declared import covers, PRINCIPLES, stated
from .fuzz.draws import to_call
from .fuzz.running import ENTRIES, every_finding


pytestmark = pytest.mark.reads_files
DEPARTURES = [(i, d) for i in ENTRIES.values() for d in i.call_departures()]


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's, of its own operators
@pytest.mark.parametrize("info, departure", DEPARTURES, ids=lambda x: getattr(x, "id", None))
def test_is_there(info, departure):
    assert len(departure.reason) > 20
    found = list(every_finding(to_call(info, departure.sample)))
    assert any(covers(departure, finding) for finding in found), (
        f"no longer: drop it ({departure.reason}); found {[f.line for f in found]}"
    )


def test_are_known_to_every_variant():
    for info, departure in DEPARTURES:
        assert departure.reason in {d.reason for d in stated(info)}


DOCS = Path(__file__).parents[2] / "docs"


def test_principles_stand_in_the_docs():
    page = (DOCS / "concepts" / "conventions.md").read_text()
    table = page.partition("## Where functx differs from PyTorch on purpose")[2]
    said = [line.strip(" |").rpartition("| ")[2] for line in table.splitlines() if "|" in line]
    assert said[2:] == [why for _, why in PRINCIPLES]


def test_every_difference_that_an_entry_states_stands_in_the_docs():
    spec = importlib.util.spec_from_file_location("departures", DOCS / "ext" / "departures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = module.departures_page().splitlines()
    stated = [(info.name, d.reason) for info, d in DEPARTURES]
    for info in op_db:
        stated += [(info.name, own.reason) for own in info.dtype_departures]
        at_edges = info.conventions(info.make(convention_dtype(info)))
        stated += [(info.name, c.departure) for c in at_edges if c.departure]
    for name, reason in stated:
        why = " ".join(reason.split()).replace("|", "&#124;")
        assert any(x.startswith(f"| `{name}` |") and x.endswith(f"| {why} |") for x in lines)

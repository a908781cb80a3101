"""Differences from PyTorch that are declared: each is still there, on the call that shows it."""

import pytest


pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

from .fuzz.declared import covers, stated
from .fuzz.draws import to_call
from .fuzz.running import ENTRIES, every_finding


DEPARTURES = [(i, d) for i in ENTRIES.values() for d in i.departures(i.make(i.accepted[-1]))]


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

"""Calls with a list of arrays where PyTorch takes them one after another."""

from __future__ import annotations

from collections.abc import Iterator

from functx.testing.make import Make
from functx.testing.opinfo import Departure
from functx.testing.samples import call


def list_departures(make: Make) -> Iterator[Departure]:
    """What takes several arrays takes a list of them."""
    a_list = call([make(2), make(2)])
    yield Departure("accepted", "arrays may come in a list, as in `meshgrid`", a_list, "got list")

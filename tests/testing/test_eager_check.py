"""The check of eager transforms sees mistakes that are planted in them."""

import pytest

from functx._transforms.eager import forward, lanes, reverse
from functx.testing import op_db, run_cell


[MUL] = [info for info in op_db if info.id == "mul"]


def doubled(self, residuals, cotangents, right=reverse.TapeStep.pulled):
    return [x if x is None else 2 * x for x in right(self, residuals, cotangents)]


PLANTED = {
    "cotangents are doubled": (reverse.TapeStep, "pulled", doubled),
    "tangents of what moves are doubled": (
        forward.Duals,
        "tangent_of",
        lambda self, x, right=forward.Duals.tangent_of: 2 * right(self, x),
    ),
    "lanes are reversed": (
        lanes.Lanes,
        "stacked",
        lambda self, y, dim, size, right=lanes.Lanes.stacked: right(self, y, dim, size)[::-1],
    ),
}


@pytest.mark.parametrize("place, name, wrong", PLANTED.values(), ids=PLANTED)
def test_a_planted_mistake_is_seen(place, name, wrong, monkeypatch):
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError, match="eager "):
        run_cell(MUL, "float64", "eager")

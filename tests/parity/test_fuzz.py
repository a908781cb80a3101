"""The first random calls of every entry: PyTorch does the same, or the difference is declared.

`python -m tests.parity.fuzz --seconds 3600` makes many more.
"""

import pytest


pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

from .fuzz.running import ENTRIES, Fuzzing


BLOCKS = {"quick": 1, "full": 10, "exhaustive": 100}  # each of a few calls of one shape


@pytest.mark.parametrize("name", ENTRIES)
def test_nothing_undeclared(name, request):
    fuzzing = Fuzzing(ENTRIES[name])
    blocks = range(BLOCKS[request.config.getoption("--profile")])
    found = [finding for number in blocks for finding in fuzzing.block(number)]
    replay = "python -m tests.parity.fuzz --replay"
    assert not found, "\n".join(f"{f.line}\n  {replay} {f.operator}:{f.seed}" for f in found)
    assert fuzzing.tally.calls

"""The recorded result dtypes are what PyTorch answers: of each operator, in one of its dtypes.

`python -m tests.parity.record_dtypes` records all of them, and should change no file.
"""

import zlib

import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

from functx.testing import ALL_DTYPES
from functx.testing.dtype_facts import recorded

from .record_dtypes import families, pytorchs, record, rows


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's, of its own operators

BY_NAME = {}
for _, infos in families():
    for info in infos:
        if pytorchs(info) is not None:
            BY_NAME.setdefault(info.name, []).append(info)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_recorded(name):
    infos = BY_NAME[name]
    accepted = sorted({dtype for info in infos for dtype in info.accepted})
    dtype = accepted[zlib.crc32(name.encode()) % len(accepted)]
    answers = [a for info in infos if dtype in info.accepted for a in record(info, [dtype])]
    known = {key: row[dtype] for key, row in recorded()[name].items() if row[dtype] != "."}
    # In other dtypes the answers may depend on values where they do not in this one.
    found = rows(answers, {key for key, *_ in answers} - known.keys())
    at = ALL_DTYPES.index(dtype)
    assert {key: row.split()[at] for key, row in found.items()} == known

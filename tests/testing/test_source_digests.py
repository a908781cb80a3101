"""The digest of an entry changes with the files of its operator and of its entry."""

import inspect

import pytest

import functx._ops.magnitude
import functx._ops.nn.convolution_lowerings.depthwise
import functx._ops.pointwise.arithmetic
import functx._ops.pointwise.gamma_slopes
import functx._ops.pointwise.trigonometric
import functx.testing.opdb.nn.padding_extremes
import functx.testing.opdb.pointwise.trigonometric
from functx.testing import op_db
from functx.testing.checks import source_digests


def entry(name):
    return next(info for info in op_db if info.id == name)


@pytest.fixture
def changed(monkeypatch):
    """The ids, of some, of the entries whose digests change with a module's file."""

    def of(module, ids):
        before = {name: source_digests.source_digest(entry(name)) for name in ids}
        digest = source_digests.file_digest
        other = lambda name: b"changed" if name == module.__name__ else digest(name)
        monkeypatch.setattr(source_digests, "file_digest", other)
        after = {name: source_digests.source_digest.__wrapped__(entry(name)) for name in ids}
        return {name for name in ids if before[name] != after[name]}

    return of


@pytest.mark.parametrize(
    ("module", "ids", "expected"),
    [
        (functx._ops.pointwise.trigonometric, ("sin", "add"), {"sin"}),
        (functx.testing.opdb.pointwise.trigonometric, ("sin", "add"), {"sin"}),
        (functx._ops.pointwise.arithmetic, ("sin", "add", "sub"), {"add", "sub"}),
        (functx._ops.nn.convolution_lowerings.depthwise, ("nn.functional.conv2d", "sin"),
         {"nn.functional.conv2d"}),
        # Imported for a function that has rules of its own, and for a constant.
        (functx._ops.magnitude, ("add", "sin"), {"add"}),
        (functx._ops.pointwise.gamma_slopes, ("igamma", "sin"), {"igamma"}),
        (functx.testing.opdb.nn.padding_extremes, ("nn.functional.conv2d", "add"),
         {"nn.functional.conv2d"}),
    ],
)  # fmt: skip
def test_it_changes_with_these_files_alone(changed, module, ids, expected):
    assert changed(module, ids) == expected


def test_every_operator_of_functx_rests_on_its_own_file():
    for info in op_db[::40]:
        module = inspect.getmodule(info.spec.rule).__name__
        assert module in source_digests.files_of(info)

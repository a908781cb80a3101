"""Every function of PyTorch's is told of in the docs."""

import importlib
import json
import re

import pytest

from functx import _remedies
from functx._names import counterpart
from functx.cli.facades import FACADES

from .record_names import functions, RECORD


def test_the_record_is_what_pytorch_has():
    assert json.loads(RECORD.read_text()) == functions()


@pytest.mark.parametrize("space", ["masked", "signal.windows", "special"])
def test_no_function_is_left_unexplained(space):
    facade = f"functx.{space}"
    shown = dir(importlib.import_module(facade))
    lacking = [name for name in functions()[space] if name not in shown]
    assert [name for name in lacking if not counterpart(facade, name)] == []


@pytest.mark.parametrize("pattern", _remedies._BY_FAMILY)
def test_a_family_has_members(pattern):
    names = [name for space in FACADES for name in functions()[space]]
    assert any(re.match(pattern, name) for name in names)


def test_a_remedy_names_what_exists():
    texts = [*_remedies.REMEDIES.values(), *_remedies._BY_FAMILY.values()]
    for path in re.findall(r"functx((?:\.\w+)+)", " ".join(texts)):
        found = importlib.import_module("functx")
        for name in path.strip(".").split("."):
            if not hasattr(found, name):
                importlib.import_module(f"functx{path}")
            found = getattr(found, name)

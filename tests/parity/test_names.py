"""The record of PyTorch's functions, which the docs tell of, is what PyTorch has."""

import json

import pytest

from .record_names import functions, RECORD


pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")


def test_the_record_is_what_pytorch_has():
    assert json.loads(RECORD.read_text()) == functions()

"""How the tests import a library."""

import warnings

import pytest


def library(name: str, extra: str = "ecosystem"):
    """The module, or a skip that says how to install it; its own warnings are none of functx's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"pip install '.[{extra}]' brings {name}")

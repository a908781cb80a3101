"""Families of operators: the folders that they are written in."""

from __future__ import annotations

from functx._core import OpSpec


def family_of(spec: OpSpec) -> str:
    """Its folder: the page that it is on."""
    return spec.rule.__module__.split(".")[2]


def title(family: str) -> str:
    """The heading of a family."""
    known = {"nn": "nn.functional", "fft": "fft", "linalg": "linalg", "special": "special"}
    return known.get(family, family.replace("_", " ").capitalize())

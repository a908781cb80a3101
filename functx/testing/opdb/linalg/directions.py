"""Directions in which matrices may move that are read by one triangle."""

from __future__ import annotations

from typing import Any


def hermitian_part(direction: Any, at: Any) -> Any:
    return (direction + direction.conj().mT) / 2 if direction.ndim > 1 else direction


def symmetric_part(direction: Any, at: Any) -> Any:
    return (direction + direction.mT) / 2

"""The dtypes that the database is checked in."""

from __future__ import annotations

from functx._core import Accepts


ALL_DTYPES: tuple[str, ...] = Accepts.ANY.value
HALVES = ("float16", "bfloat16")

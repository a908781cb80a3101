"""Ragged batches: functions of one sequence, mapped over sequences of differing lengths."""

from __future__ import annotations

from ._names import equip as _equip
from ._nested.arrays import from_padded as from_padded, Nested as Nested, nested as nested
from ._nested.mapping import vmap as vmap


_equip(__name__)

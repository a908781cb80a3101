"""Memory: what a function needs before it runs, what is alive, and what a device has left."""

from __future__ import annotations

from ._memory.analysis import analyze as analyze
from ._memory.report import (
    Buffer as Buffer,
    CompiledMemory as CompiledMemory,
    MemoryReport as MemoryReport,
    MemoryStep as MemoryStep,
)
from ._names import equip as _equip


_equip(__name__)

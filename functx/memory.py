"""Memory: what a function needs before it runs, what is alive, and what a device has left."""

from __future__ import annotations

from ._memory.analysis import analyze as analyze
from ._memory.budgets import budget as budget
from ._memory.devices import (
    max_memory_allocated as max_memory_allocated,
    mem_get_info as mem_get_info,
    memory_allocated as memory_allocated,
    memory_stats as memory_stats,
)
from ._memory.errors import OutOfMemoryError as OutOfMemoryError, OverBudget as OverBudget
from ._memory.exhaustion import explain_out_of_memory as explain_out_of_memory
from ._memory.live import (
    ArrayGroup as ArrayGroup,
    assert_no_leaks as assert_no_leaks,
    LiveArrays as LiveArrays,
    snapshot as snapshot,
)
from ._memory.report import (
    Buffer as Buffer,
    CompiledMemory as CompiledMemory,
    MemoryReport as MemoryReport,
    MemoryStep as MemoryStep,
)
from ._names import equip as _equip


_equip(__name__)

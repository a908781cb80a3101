"""Where a program spends its time: by operator, forward and backward, by line of the source."""

from __future__ import annotations

from ._names import equip as _equip
from ._profiling.comparison import (
    ComparedRow as ComparedRow,
    ProfileComparison as ProfileComparison,
)
from ._profiling.profile import profile as profile
from ._profiling.ranges import (
    mark as mark,
    Range as Range,
    range_end as range_end,
    range_pop as range_pop,
    range_push as range_push,
    range_start as range_start,
    record_function as record_function,
)
from ._profiling.tables import ProfileRow as ProfileRow, ProfileTable as ProfileTable


_equip(__name__)

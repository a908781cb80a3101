"""What is in force in an autocast region: which dtype is the lower one, and whose lists decide.

The region is `user_contexts.autocast_region`, `None` outside of any. Operators read it while
traced.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np


AutocastDevice: TypeAlias = Literal["gpu", "cpu"]


class AutocastRegion(NamedTuple):
    """The dtype of products in the region, and the device whose lists of operators it follows."""

    lower: np.dtype
    device: AutocastDevice

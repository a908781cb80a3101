"""In what running products differ from PyTorch's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from functx.testing.make import Make
from functx.testing.opinfo import Departure
from functx.testing.samples import call


def cumprod_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "the derivative is a product of the others, where PyTorch divides by the element",
        call(make.put([0.0, 2, np.nan], "float64"), 0),
        r"of array 0: (\(?-?nan|.*PyTorch \(?-?nan)",
    )
    yield Departure(
        "value",
        "products are taken of neighbours first, which may leave the range where those from the "
        "start on do not",
        call(make.put([3e38, 2e-38, 0.25, 0.25], "float32"), 0),
        r"\): (\(?-?(0\.0|0|inf|nan)\b|-?[\d.e+-]+j at)",
    )

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo
from functx.testing.samples import call
from functx.testing.tail import Tail

from .exact import airy, elementwise
from .operands import in_double, no_complex, samples_at


FAR = "PyTorch has NaN at infinities"
NO_SLOPE = "PyTorch has no derivative"
PRECISION = "PyTorch has six digits near -2.1, and no more of the phase than of its argument"


def conventions(make: Make) -> Iterator[Convention]:
    ends = call(make.put([np.inf, -np.inf]))
    yield Convention("ends", ends, value=[0, 0], departure=FAR)
    for at in np.inf, -np.inf, -1e20:
        one = call(make.put(at))
        yield Convention(f"slopes at {at}", one, value=0, gradient=0, hessian=0, departure=NO_SLOPE)
    facts = (
        (0.0, 0.3550280538878172, -0.2588194037928068, 0.0),
        (-2.338107410459767, 2.743319340666283e-17, 0.7012108227206914, -6.414175279669438e-17),
        (-4.08794944413097, -2.720348378642871e-16, -0.803111369654864, 1.1120646642315711e-15),
        (-1e3, 0.05597189577301992, 2.6330710195241287, -55.97189577301992),
        (-1e9, -0.0013987219649165895, -90.05231416103278, 1398721.9649165894),
        (2.0, 0.03492413042327438, -0.05309038443365363, 0.06984826084654876),
    )
    for at, value, slope, curvature in facts:
        lost = PRECISION if at in (facts[1][0], -1e9) else ""
        yield Convention(f"at {at}", call(make.put(at)), value=value, departure=lost)
        yield Convention(
            f"slopes at {at}",
            call(make.put(at)),
            gradient=slope,
            hessian=curvature,
            departure=NO_SLOPE,
        )
    orders = call(make.put([-20.0, -4.6, -3.0, -1.0, 0.0, 1.0, 4.5, 20.0]))
    yield Convention("orders", orders, smooth=True, order=4)


OPS = [
    OpInfo(
        functx.special.airy_ai,
        samples_at(
            *(-2.338107410459767, -4.08794944413097, -5, -25, -1e9, 0, 2, 5, 20, 103, 110),
            *(np.inf, -np.inf),
            low=-6,
        ),
        reference=in_double(elementwise(airy)),
        refusals=no_complex,
        conventions=conventions,
        tails=(Tail(lambda mp, x: mp.airyai(x), low=-9, high=99),),
    ),
]

"""torch.signal.windows' names."""

from functx._names import equip as _equip


# Operators, written by `python -m tests.write_facades`.
# isort: split
from functx._ops.signal.windows import (
    bartlett as bartlett,
    blackman as blackman,
    cosine as cosine,
    exponential as exponential,
    gaussian as gaussian,
    general_cosine as general_cosine,
    general_hamming as general_hamming,
    hamming as hamming,
    hann as hann,
    kaiser as kaiser,
    nuttall as nuttall,
)


# End of operators.

_equip(__name__)

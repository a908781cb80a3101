"""torch.masked's names."""

from ._names import equip as _equip


# Operators, written by `python -m tests.write_facades`.
# isort: split
from ._ops.masked.exponentials import logaddexp as logaddexp, logsumexp as logsumexp
from ._ops.masked.extrema import amax as amax, amin as amin, argmax as argmax, argmin as argmin
from ._ops.masked.medians import median as median
from ._ops.masked.moments import std as std, var as var
from ._ops.masked.norms import norm as norm, normalize as normalize
from ._ops.masked.scans import cumprod as cumprod, cumsum as cumsum
from ._ops.masked.softmax import log_softmax as log_softmax, softmax as softmax, softmin as softmin
from ._ops.masked.sums import mean as mean, prod as prod, sum as sum


# End of operators.

_equip(__name__)

"""Sums, extrema, moments, norms and scans over dimensions."""

from .exponentials import *
from .extrema import *
from .logical import *
from .medians import *
from .moments import *
from .norms import *
from .scans import *
from .sums import *

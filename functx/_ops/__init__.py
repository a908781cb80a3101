"""Floor 1: the operators, by family. Importing it fills the registry."""

from . import (
    creation as creation,
    fft as fft,
    indexing as indexing,
    linalg as linalg,
    nn as nn,
    pointwise as pointwise,
    products as products,
    random as random,
    reductions as reductions,
    shape as shape,
    sorting as sorting,
)

"""Sparse Jacobians and Hessians of dense functions: patterns, colourings, few products."""

from __future__ import annotations

from ._names import equip as _equip
from ._sparsity.coloring import color as color, Coloring as Coloring
from ._sparsity.compressed import SparsityPlan as SparsityPlan
from ._sparsity.derivatives import (
    hessian as hessian,
    jacfwd as jacfwd,
    jacobian as jacobian,
    jacrev as jacrev,
)
from ._sparsity.detection import (
    hessian_pattern as hessian_pattern,
    jacobian_pattern as jacobian_pattern,
    probed_pattern as probed_pattern,
)
from ._sparsity.patterns import SparsityPattern as SparsityPattern


_equip(__name__)

"""Curvature: Laplacians, derivatives of any order, diagonals, Gauss-Newton and Fisher matrices."""

from ._curvature.diagonals import (
    hessian_diagonal as hessian_diagonal,
    jacobian_diagonal as jacobian_diagonal,
)
from ._curvature.fisher import empirical_fisher as empirical_fisher, fisher as fisher
from ._curvature.gauss_newton import ggn as ggn
from ._curvature.implicit_matrices import CurvatureMatrix as CurvatureMatrix
from ._curvature.jet import jet as jet, mixed_partial as mixed_partial
from ._curvature.laplacian import (
    forward_laplacian as forward_laplacian,
    laplacian as laplacian,
)
from ._names import equip as _equip


_equip(__name__)

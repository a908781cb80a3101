"""torch.special's names."""

from ._names import equip as _equip


# Operators, written by `python -m tests.write_facades`.
# isort: split
from ._ops.nn.softmax import log_softmax as log_softmax, softmax as softmax
from ._ops.pointwise.exponential import (
    exp2 as exp2,
    expm1 as expm1,
    log1p as log1p,
    logit as logit,
    sigmoid as _sigmoid,
    xlogy as xlogy,
)
from ._ops.pointwise.rounding import round as round
from ._ops.pointwise.special_functions import digamma as digamma, erf as erf, lgamma as _lgamma
from ._ops.pointwise.trigonometric import sinc as sinc
from ._ops.reductions.exponentials import logsumexp as logsumexp
from ._ops.special.airy import airy_ai as airy_ai
from ._ops.special.bessel import (
    bessel_j0 as bessel_j0,
    bessel_j1 as bessel_j1,
    bessel_y0 as bessel_y0,
    bessel_y1 as bessel_y1,
    spherical_bessel_j0 as spherical_bessel_j0,
)
from ._ops.special.entropies import entr as entr, xlog1py as xlog1py
from ._ops.special.gamma import igamma as _igamma, igammac as _igammac, mvlgamma as _mvlgamma
from ._ops.special.modified_bessel import (
    i0 as i0,
    i0e as i0e,
    i1 as i1,
    i1e as i1e,
    modified_bessel_i0 as modified_bessel_i0,
    modified_bessel_i1 as modified_bessel_i1,
    modified_bessel_k0 as modified_bessel_k0,
    modified_bessel_k1 as modified_bessel_k1,
    scaled_modified_bessel_k0 as scaled_modified_bessel_k0,
    scaled_modified_bessel_k1 as scaled_modified_bessel_k1,
)
from ._ops.special.normal import (
    erfc as erfc,
    erfcx as erfcx,
    erfinv as erfinv,
    log_ndtr as log_ndtr,
    ndtr as ndtr,
    ndtri as ndtri,
)
from ._ops.special.orthogonal_polynomials import (
    chebyshev_polynomial_t as chebyshev_polynomial_t,
    chebyshev_polynomial_u as chebyshev_polynomial_u,
    chebyshev_polynomial_v as chebyshev_polynomial_v,
    chebyshev_polynomial_w as chebyshev_polynomial_w,
    hermite_polynomial_h as hermite_polynomial_h,
    hermite_polynomial_he as hermite_polynomial_he,
    laguerre_polynomial_l as laguerre_polynomial_l,
    legendre_polynomial_p as legendre_polynomial_p,
    shifted_chebyshev_polynomial_t as shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u as shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v as shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w as shifted_chebyshev_polynomial_w,
)
from ._ops.special.zeta import polygamma as polygamma, zeta as zeta


expit = _sigmoid
gammainc = _igamma
gammaincc = _igammac
gammaln = _lgamma
multigammaln = _mvlgamma
psi = digamma
# End of operators.

_equip(__name__)

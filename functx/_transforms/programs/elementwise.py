"""Primitives that act on each element alone."""

from __future__ import annotations


# Each element of the result is a function of the operands' elements in its place.
ELEMENTWISE = frozenset(
    """
    abs acos acosh add add_any asin asinh atan atan2 atanh cbrt conj convert_element_type copy
    copy_p cos cosh digamma div erf erf_inv erfc exp exp2 expm1 imag integer_pow lgamma log log1p
    logistic max min mul neg optimization_barrier pow real reduce_precision rem rsqrt select_n sin
    sinh sqrt square sub tan tanh
    """.split()
)
# The same of results that have no derivative, or no Taylor series that is known here.
ELEMENTWISE_BESIDE = frozenset(
    """
    and bessel_i0e bessel_i1e ceil clamp clz complex eq eq_to floor ge gt igamma igamma_grad_a
    igammac is_finite le le_to lt lt_to ne nextafter not or polygamma population_count
    random_gamma_grad regularized_incomplete_beta round shift_left shift_right_arithmetic
    shift_right_logical sign stop_gradient threefry2x32 to_edtype xor zeta
    """.split()
)

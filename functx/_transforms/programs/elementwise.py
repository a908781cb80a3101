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

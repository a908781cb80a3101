"""Rules of primitives whose results are, element by element, functions of the operands'."""

from __future__ import annotations

from collections.abc import Sequence

from jax import Array, lax

from functx._transforms.programs.elementwise import ELEMENTWISE, ELEMENTWISE_BESIDE

from .equations import PaddedEquation, PaddingRule


def elementwise(equation: PaddedEquation) -> Sequence[Array]:
    """Padding gives padding. Operands that all elements share get no cotangents from there."""
    return equation.bound([_spread(equation, i) for i in range(len(equation.operands))])


def _spread(equation: PaddedEquation, i: int) -> Array:
    """Operand `i`, in the shape of the results if it has one element for several of theirs."""
    x, shape, out = equation.operands[i], equation.shapes[i], equation.out_shapes[0]
    if shape == out or equation.is_constant(i):
        return x
    dims = range(len(out) - len(shape), len(out))
    x = lax.broadcast_in_dim(x, equation.sizes.padded_shape(out), dims)
    return equation.sizes.gated(x, out)


def unchanged(equation: PaddedEquation) -> Sequence[Array]:
    """Elements stay where they are, whatever their dimensions are called."""
    return equation.bound()


_UNCHANGED = """
bitcast_convert_type device_put from_edtype grad_gate grad_gate_tangent name optimization_barrier
once_differentiable_input pvary result_name squeeze stand_in transpose random_wrap
random_unwrap random_fold_in expand_dims stack
"""

ELEMENTWISE_RULES: dict[str, PaddingRule] = {
    **dict.fromkeys((*ELEMENTWISE, *ELEMENTWISE_BESIDE), elementwise),
    **dict.fromkeys(_UNCHANGED.split(), unchanged),
}

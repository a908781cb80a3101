"""Rules of primitives that are linear in each operand, and add products up."""

from __future__ import annotations

from collections.abc import Sequence

from jax import Array

from .equations import CannotHonour, PaddedEquation, PaddingRule, require_known
from .sizes import fitted


def _with_zeros(equation: PaddedEquation) -> list[Array]:
    """All operands: a factor that is not zero may be infinite, and its cotangent may be."""
    return [equation.filled(i, 0) for i in range(len(equation.operands))]


def product(equation: PaddedEquation) -> Sequence[Array]:
    """Zeros in padding add nothing, and neither do they to the cotangents of the operands."""
    return equation.gated(equation.bound(_with_zeros(equation)))


def convolution(equation: PaddedEquation) -> Sequence[Array]:
    """What is beyond the end of a sequence is as the padding of a convolution: zeros."""
    params, (out,) = equation.params, equation.out_shapes
    for low, high in params["padding"]:
        require_known((low, high), "its padding")
    kernel = params["dimension_numbers"].rhs_spec
    require_known([equation.shapes[1][dim] for dim in kernel[2:]], "the size of its kernel")
    (result,) = equation.bound(_with_zeros(equation))
    return equation.gated([fitted(result, equation.sizes.padded_shape(out))])


def correlation(equation: PaddedEquation) -> Sequence[Array]:
    """The same of convolutions and what their derivatives are made of."""
    geometry, sizes = equation.params["geometry"], equation.sizes
    for low, high in geometry.pads:
        require_known((low, high), "its padding")
    require_known(geometry.kernel, "the size of its kernel")
    image = tuple(map(sizes.padded, geometry.image))
    (result,) = equation.bound(_with_zeros(equation), geometry=geometry._replace(image=image))
    (out,) = equation.out_shapes
    whole = sizes.padded_shape(out)
    if any(have > n for have, n in zip(result.shape, whole, strict=True)):
        raise CannotHonour("its padding depends on the length")
    return equation.gated([fitted(result, whole)])


PRODUCTS: dict[str, PaddingRule] = {
    "dot_general": product,
    "conv_general_dilated": convolution,
    "correlation": correlation,
}

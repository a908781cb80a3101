"""Rules of primitives whose results see windows of an operand: convolutions, pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from functx._ops.nn.convolution_lowerings.xla_kernels import by_lanes

from .equations import DependenceRule, TracedEquation
from .row_sets import mapped, numbers, Rows, united


class WindowDimension(NamedTuple):
    """One dimension that a window moves along, in XLA's words."""

    size: int
    window: int
    results: int
    stride: int = 1
    low: int = 0  # the padding in front
    base_dilation: int = 1
    window_dilation: int = 1

    def meetings(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where a result, a place of the window and an element of the operand meet."""
        result, place = (x.ravel() for x in np.indices((self.results, self.window)))
        at = result * self.stride + place * self.window_dilation - self.low
        element, rest = np.divmod(at, self.base_dilation)
        met = (rest == 0) & (element >= 0) & (element < self.size)
        return result[met], place[met], element[met]


def meetings(dimensions: Sequence[WindowDimension]) -> list[np.ndarray]:
    """The same of all dimensions: numbers of results, of places and of elements."""
    found = [np.zeros(1, np.int64)] * 3
    for dimension in dimensions:
        sizes = dimension.results, dimension.window, dimension.size
        found = [
            (x[:, None] * size + y[None, :]).ravel()
            for x, y, size in zip(found, dimension.meetings(), sizes, strict=True)
        ]
    return found


def _convolved(equation: TracedEquation) -> Rows:
    params, (image, kernel), (out,) = equation.params, equation.shapes, equation.out_shapes
    layout = params["dimension_numbers"]
    along = zip(
        (image[d] for d in layout.lhs_spec[2:]),
        (kernel[d] for d in layout.rhs_spec[2:]),
        (out[d] for d in layout.out_spec[2:]),
        params["window_strides"],
        (low for low, _ in params["padding"]),
        params["lhs_dilation"],
        params["rhs_dilation"],
        strict=True,
    )
    result, place, element = meetings([WindowDimension(*one) for one in along])
    batches, groups = params["batch_group_count"], params["feature_group_count"]
    # [batch, filter, channel of a group, meeting]
    n, f, c = np.ogrid[: out[layout.out_spec[0]], : out[layout.out_spec[1]], : _channels(equation)]
    per_group = max(1, f.size // groups)
    of_batch = n + n.size * (f // max(1, f.size // batches)) if batches > 1 else n + 0 * f
    channel = c + c.size * (f // per_group) if groups > 1 else c + 0 * f
    images, kernels, results = (
        numbers(shape).transpose(spec).reshape(*(shape[d] for d in spec[:2]), -1)
        for shape, spec in [
            (image, layout.lhs_spec),
            (kernel, layout.rhs_spec),
            (out, layout.out_spec),
        ]
    )
    to = results[n[..., None], f[..., None], result]
    at = (
        images[of_batch[..., None], channel[..., None], element],
        kernels[f[..., None], c[..., None], place],
    )
    sizes = (n.size, f.size, c.size, result.size)
    to, *at = (np.broadcast_to(x, sizes).ravel() for x in (to, *at))
    parts = []
    for i in equation.dependent:
        nonzero = equation.may_be_nonzero(1 - i)
        met = slice(None) if nonzero is None else nonzero.ravel()[at[1 - i]]
        parts.append(mapped(equation.rows[i], to[met], at[i][met], equation.out_size))
    return united(parts)


def _channels(equation: TracedEquation) -> int:
    return equation.shapes[1][equation.params["dimension_numbers"].rhs_spec[1]]


def _windows(
    equation: TracedEquation, size: Sequence[int], results: Sequence[int]
) -> list[np.ndarray]:
    params, ones = equation.params, (1,) * len(size)
    along = zip(
        size,
        params["window_dimensions"],
        results,
        params["window_strides"],
        (low for low, _ in params["padding"]),
        params.get("base_dilation", ones),
        params.get("window_dilation", ones),
        strict=True,
    )
    return meetings([WindowDimension(*one) for one in along])


def _pooled(equation: TracedEquation) -> list[Rows]:
    """Each result depends on its window."""
    (out, *_), (shape, *_) = equation.out_shapes, equation.shapes
    result, _, element = _windows(equation, shape, out)
    rows = mapped(equation.rows[0], result, element, equation.out_size)
    return [rows] * len(equation.out_shapes)


def _put_back(equation: TracedEquation) -> Rows:
    """Of `select_and_scatter_add`: an element of a window gets what the window's result got.

    Which element that is depends on values that tangents do not reach.
    """
    source, shape = equation.shapes
    result, _, element = _windows(equation, shape, source)
    return mapped(equation.rows[0], element, result, equation.out_size)


def program_of_correlation(equation: TracedEquation) -> Any:
    """The program of functx's own primitive of convolutions, in XLA's."""

    def run(*operands: Any) -> Any:
        return by_lanes(equation.params["wanted"], equation.params["geometry"], *operands)

    return jax.make_jaxpr(run)(*(x.aval for x in equation.eqn.invars))


_POOLING = "reduce_window_sum reduce_window_max reduce_window_min select_and_gather_add"

WINDOWS: dict[str, DependenceRule] = {
    "conv_general_dilated": _convolved,
    **dict.fromkeys(_POOLING.split(), _pooled),
    "select_and_scatter_add": _put_back,
}

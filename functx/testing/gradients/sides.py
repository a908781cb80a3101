"""Jacobians by differences beside those by the derivative rules, over whole points."""

from __future__ import annotations

import numpy as np

from functx._core import describe
from functx.testing.hiding import of_findings

from .analytical import forward_blocks, Pull, reverse_blocks
from .comparison import failed, JacobianBlock, Tolerances
from .numerical import basis, numerical_blocks, projection, units
from .point import Point


__tracebackhide__ = of_findings


Block = np.ndarray


class JacobianSides:
    """Both sides of the Jacobians at a point: by differences, computed once, and by the rules."""

    def __init__(self, point: Point, tolerances: Tolerances, eps: float, fast_mode: bool) -> None:
        self.point, self.tolerances, self.eps, self.fast_mode = point, tolerances, eps, fast_mode
        random = np.random.default_rng(0)  # the same projections in each run
        towards = (lambda x: projection(x, random)) if fast_mode else basis
        self.columns = [towards(x) for x in point.inputs]
        self.rows = {i: towards(point.outputs[i]) for i in point.inexact}
        self.numerical = [
            numerical_blocks(point, j, columns, eps, point.numbers)
            for j, columns in enumerate(self.columns)
        ]

    def hold_no_derivative(self) -> None:
        """By differences, the derivatives of all outputs are zero."""
        for j, blocks in enumerate(self.numerical):
            for i, block in blocks.items():
                if block.any():
                    failed(
                        self.point.who,
                        "Numerical gradient for function expected to be zero: no output can have a "
                        f"derivative, but output {i} ({describe(self.point.outputs[i])}) changes "
                        f"with input {j} (`{self.point.names[j]}`)",
                        "stop_gradient and integers end differentiation",
                    )

    def hold_reverse(self, pull: Pull, which: list[int]) -> None:
        point = self.point
        for i in which:
            analytical = reverse_blocks(point, pull, i, self.rows[i])
            again = reverse_blocks(point, pull, i, self.rows[i])
            self._require_repetition(i, analytical, again)
            for part in reversed(range(len(units(point.outputs[i])))):
                for j, numerical in enumerate(self.numerical):
                    self._hold_rows(
                        pull, JacobianBlock(point, i, j, False, part), analytical, numerical
                    )

    def _hold_rows(
        self, pull: Pull, pair: JacobianBlock, analytical: list[Block], numerical: dict[int, Block]
    ) -> None:
        point, i, j = self.point, pair.i, pair.j
        a, n = analytical[j], numerical[i]
        scale, slowly = 1.0, None
        if self.fast_mode:
            u, v = self.columns[j], self.rows[i]
            u, v = u.reshape(len(u), -1), v.reshape(len(v), -1)
            a, n = np.einsum("vpjq,uj->vpuq", a, u), np.einsum("vi,ipuq->vpuq", v, n)
            scale = float(u.sum() * v.sum())
            every = basis(point.outputs[i])
            slowly = lambda: (reverse_blocks(point, pull, i, every)[j], self._slow_block(i, j))
        pair.hold(self.tolerances, a, n, scale, slowly)

    def hold_forward(self, which: list[int]) -> None:
        point = self.point
        for j, numerical in enumerate(self.numerical):
            analytical = forward_blocks(point, j, self.columns[j], which)
            for part in reversed(range(len(units(point.inputs[j])))):
                for i in which:
                    scale, slowly = 1.0, None
                    if self.fast_mode:
                        scale = float(self.columns[j].sum())
                        slowly = lambda i=i, j=j: (
                            forward_blocks(point, j, basis(point.inputs[j]), [i])[i],
                            self._slow_block(i, j),
                        )
                    pair = JacobianBlock(point, i, j, True, part)
                    pair.hold(self.tolerances, analytical[i], numerical[i], scale, slowly)

    def _slow_block(self, i: int, j: int) -> Block:
        every = basis(self.point.inputs[j])
        return numerical_blocks(self.point, j, every, self.eps, [i])[i]

    def _require_repetition(self, i: int, first: list[Block], again: list[Block]) -> None:
        tolerance = self.tolerances.again
        for j, (a, b) in enumerate(zip(first, again, strict=True)):
            with np.errstate(invalid="ignore"):  # infinities, the same twice
                off = np.max(np.abs(a - b), initial=0)
            if off > tolerance:
                failed(
                    self.point.who,
                    "Backward is not reentrant: with the same inputs and cotangents it gives, the "
                    f"second time, a gradient of output {i} with respect to input {j} "
                    f"(`{self.point.names[j]}`) that differs by {off}; "
                    f"nondet_tol={tolerance}",
                    "where that is expected, pass a larger `nondet_tol`",
                )

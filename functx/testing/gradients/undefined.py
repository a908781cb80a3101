"""Cotangents and tangents that are known to be zero, and zeros that are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from functx import jvp, vjp
from functx._core import describe
from functx.testing.hiding import of_findings

from .analytical import Pull
from .batching import normal_like
from .comparison import failed, failed_by, Tolerances
from .numerical import real_parts
from .point import Point


__tracebackhide__ = of_findings


_LEFT_OUT = "check_undefined_grad=False leaves this out"


def hold_zero_cotangents(point: Point, pull: Pull) -> None:
    """Zeros pulled back are zeros: a gradient is a multiple of its cotangent."""
    for j, gradient in enumerate(pull(point.cotangents({}))):
        if real_parts(gradient).any():
            failed(
                point.who,
                f"backward not multiplied by grad_output: of cotangents that are zero, the "
                f"gradient of input {j} (`{point.names[j]}`) is\n{gradient}",
            )


def hold_undefined_cotangents(
    point: Point, pull: Pull, which: Sequence[int], tolerances: Tolerances
) -> None:
    """Outputs that nothing depends on give what cotangents of zeros give.

    Left out of the differentiated function, they have cotangents that JAX knows to be zero:
    a rule for symbolic zeros meets them here. Each is left out alone, and all but each.
    """
    random = np.random.default_rng(3)
    drawn = {i: normal_like(point.outputs[i], random) for i in which}
    alone = [(i,) for i in which]
    others = [tuple(i for i in which if i != out) for out in which]
    for kept in dict.fromkeys(alone + others) if len(which) > 1 else ():
        expected = pull(point.cotangents({i: drawn[i] for i in kept}))

        def defined(*xs: Any, kept: tuple[int, ...] = kept) -> list[Any]:
            outputs = point(*xs)
            return [outputs[i] for i in kept]

        try:
            got = vjp(defined, *point.inputs)[1]([drawn[i] for i in kept])
        except Exception as error:  # given zeros, the same rule did not raise
            failed_by(
                point.who,
                error,
                "Expected backward function to handle undefined output grads: where only outputs "
                f"{list(kept)} of {list(which)} have cotangents, got: {error}",
                _LEFT_OUT,
            )
        for j, (g, e) in enumerate(zip(got, expected, strict=True)):
            if not tolerances.same(real_parts(g), real_parts(e)):
                failed(
                    point.who,
                    "Expected backward function to handle undefined output grads: where only "
                    f"outputs {list(kept)} of {list(which)} have cotangents, the gradient of input "
                    f"{j} (`{point.names[j]}`) is\n{g}\nand with zeros for the others\n{e}",
                )


def hold_undefined_tangents(point: Point, which: Sequence[int], tolerances: Tolerances) -> None:
    """Inputs that do not move give what tangents of zeros give."""
    random = np.random.default_rng(4)
    drawn = {j: normal_like(x, random) for j, x in enumerate(point.inputs)}
    for still in drawn if len(drawn) > 1 else ():
        moving = {j: t for j, t in drawn.items() if j != still}

        def moved(*xs: Any, still: int = still) -> Any:
            return point(*xs[:still], point.inputs[still], *xs[still:])

        expected = jvp(point, point.inputs, point.tangents(moving))[1]
        rest = tuple(x for j, x in enumerate(point.inputs) if j != still)
        try:
            got = jvp(moved, rest, tuple(moving.values()))[1]
        except Exception as error:
            failed_by(
                point.who,
                error,
                f"Expected forward mode to handle an undefined tangent of input {still} "
                f"(`{point.names[still]}`), got: {error}",
                _LEFT_OUT,
            )
        for i in which:
            if not tolerances.same(real_parts(got[i]), real_parts(expected[i])):
                failed(
                    point.who,
                    f"Mismatch in tangent values for output {i} when input {still} "
                    f"(`{point.names[still]}`, {describe(point.inputs[still])}) has an undefined "
                    f"tangent: got\n{got[i]}\nand with zeros\n{expected[i]}",
                    _LEFT_OUT,
                )

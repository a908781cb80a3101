"""The demand of `strict=True`: that outputs depend on inputs, as derivatives see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from functx._core import fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._core.rules.tangent_types import tangent_type
from functx._transforms.unused import Recorded


def require_dependence(
    who: str,
    function: Callable[..., Any],
    inputs: tuple[Any, ...],
    what: str,
    *,
    all_inputs: bool = False,
    pairs: bool = False,
    when: str = "",
) -> None:
    """Refuses a `function` of arrays with an output that depends on none of `inputs`.

    `all_inputs`: also where an input is one on which no output depends. `pairs`: also where one
    output does not depend on one input. `what` names the outputs, `when` completes the sentence.
    """

    def linearized() -> list[list[bool]]:
        _, push = jax.linearize(function, *inputs)
        tangents = tuple([tangent_type(jnp.asarray(x)) for x in inputs])
        program, _ = Recorded.of(lambda tangents: push(*tangents), tangents)
        return [program.depends(i) for i in range(len(inputs))]

    by_input = outside_grad_mode(linearized)()
    of_outputs = list(zip(*by_input, strict=True))
    sentence = f"This is not allowed in strict mode{when}"
    for o, of_output in enumerate(of_outputs):
        name = what.format(o)
        if not any(of_output):
            fail(who, f"{name} is independent of the inputs. {sentence}")
        for i, depends in enumerate(of_output):
            if pairs and not depends:
                fail(who, f"{name} is independent of input {i}. {sentence}")
    for i, of_input in enumerate(by_input):
        if all_inputs and not any(of_input):
            name = what.replace(" {}", "")
            fail(who, f"{name} is independent of input {i}. {sentence}")

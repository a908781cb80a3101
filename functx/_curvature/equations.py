"""One equation of a recorded program as a function, and what is known of its derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from functx._core.jax_compat import JaxprEqn, Literal, Var
from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.tangent_types import inexact
from functx._transforms.programs.interpreting import bind
from functx._transforms.programs.walking import dropped, type_of


# Linear in all operands that have tangents, taken together.
LINEAR = frozenset(
    """
    add add_any all_gather all_to_all broadcast_in_dim complex concatenate conj copy copy_p
    convert_element_type cumsum dynamic_slice dynamic_update_slice expand_dims fft gather imag neg
    optimization_barrier pad ppermute psum real reduce_precision reduce_sum reduce_window_sum rev
    reshape scatter scatter-add select_n slice split squeeze stack sub tile transpose unstack
    """.split()
)
# Linear but for kinks, where their derivatives are constant by convention.
PIECEWISE_LINEAR = frozenset("clamp cummax cummin max min reduce_max reduce_min sort top_k".split())
# Linear in each of two operands.
BILINEAR = frozenset({"conv_general_dilated", "dot_general", "mul"})
# Linear in the operand with this number, where the others do not move.
LINEAR_IN = {"div": 0, "triangular_solve": 1}
# Constant but for jumps.
CONSTANT = frozenset({"ceil", "floor", "round", "sign", "stop_gradient"})


class ActiveEquation:
    """An equation as a function of those of its operands that move and have tangents.

    `run(*xs)` returns the results that have tangents, and the others. `slots` are the numbers of
    the operands, `xs` their values.
    """

    def __init__(self, eqn: JaxprEqn, values: Sequence[Any], moves: Sequence[bool]) -> None:
        # Each operand is a variable of its own, also where an equation reads one twice.
        atoms: list[Any] = [x if isinstance(x, Literal) else Var(x.aval) for x in eqn.invars]
        self.eqn, self.values = eqn.replace(invars=atoms), values
        self.slots = [i for i, moving in enumerate(moves) if moving]
        self.xs = tuple(values[i] for i in self.slots)

    def run(self, *xs: Any) -> tuple[list[Any], list[Any]]:
        operands = list(self.values)
        for i, x in zip(self.slots, xs, strict=True):
            operands[i] = x
        results = differentiable_bind(self.eqn, operands)
        return [y for y in results if has_tangents(y)], [y for y in results if not has_tangents(y)]

    def merged(self, moving: Sequence[Any], still: Sequence[Any]) -> list[Any]:
        """What `run` returned, or values in its place, in the order of the results."""
        one, other = iter(moving), iter(still)
        return [next(one) if is_active_result(x) else next(other) for x in self.eqn.outvars]

    @property
    def is_linear(self) -> bool:
        """Whether the second derivatives are zero."""
        name = self.eqn.primitive.name
        if name in LINEAR or name in PIECEWISE_LINEAR:
            return True
        if name == "abs":
            return not jnp.iscomplexobj(self.xs[0])
        return len(self.slots) == 1 and (name in BILINEAR or LINEAR_IN.get(name) == self.slots[0])


def is_active_result(x: Any) -> bool:
    """Whether a result of an equation is read and has tangents."""
    return not dropped(x) and inexact(type_of(x))


def has_tangents(x: Any) -> bool:
    """Whether an array or number has tangents; `None`, a result that is not read, has none."""
    return x is not None and jnp.issubdtype(jnp.result_type(x), jnp.inexact)


def is_constant(eqn: JaxprEqn) -> bool:
    """Whether no result has a derivative that is not zero."""
    return eqn.primitive.name in CONSTANT or not any(map(is_active_result, eqn.outvars))


def differentiable_bind(eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
    """What the equation computes, with a forward mode where `jax.custom_vjp` has none.

    The forward rule is the transpose of the reverse rule.
    """
    if not eqn.primitive.name.startswith("custom_vjp_call"):
        return bind(eqn, operands)

    def run(*operands: Any) -> list[Any]:
        return [jnp.zeros(()) if y is None else y for y in bind(eqn, operands)]

    def pull(primals: Any, output: Any, cotangent: Any) -> Any:
        pairs = zip(output, cotangent, strict=True)
        # A `custom_vjp` wants float0 for the cotangents of integers, a rule of functx sees None.
        given = [jax.numpy.zeros(y.shape, jax.dtypes.float0) if c is None else c for y, c in pairs]
        return jax.vjp(run, *primals)[1](given)

    results = derivative_rules(run, vjp=pull, name="custom_vjp")(*operands)
    return [None if dropped(x) else y for x, y in zip(eqn.outvars, results, strict=True)]

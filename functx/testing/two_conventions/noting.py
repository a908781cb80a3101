"""Records functx's rule of an operator and JAX's for the same, side by side in one program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.interpreters import partial_eval

from functx._core import OpSpec
from functx._core.context.user_contexts import in_place_of_rules
from functx._core.jax_compat import ClosedJaxpr, jaxpr_as_fun, JaxprEqn
from functx._transforms.programs.partition import partition
from functx._transforms.programs.walking import CALLS, opened

from .jax_rules import JAX_RULES


_MARK = "functx_rule_and_jax_rule"


class BesideRules(NamedTuple):
    """A call by functx's rule and by JAX's: functions of the operands, of all results in order."""

    functx: Callable[..., Sequence[Any]]
    jax: Callable[..., Sequence[Any]]


def recorded_with_both(f: Callable[..., Any], *arrays: Any) -> ClosedJaxpr:
    """The program of `f`, in which calls of operators that JAX has, too, hold both rules."""
    with in_place_of_rules(_both):
        return jax.make_jaxpr(f)(*arrays)


def both_of(eqn: JaxprEqn) -> BesideRules | None:
    """The two rules that the equation holds, if it is made for them."""
    if eqn.primitive.name not in CALLS or not eqn.params["name"].startswith(_MARK):
        return None
    outputs = len(eqn.outvars) // 2
    # What transforms have made of such an equation takes and gives other numbers of arrays.
    if eqn.params["name"] != _name(len(eqn.invars), outputs):
        return None
    program = eqn.params["jaxpr"]
    return BesideRules(
        _pruned(program, [True] * outputs + [False] * outputs),
        _pruned(program, [False] * outputs + [True] * outputs),
    )


def holds_both(eqn: JaxprEqn) -> bool:
    """Whether the equation is made for two rules."""
    return eqn.primitive.name in CALLS and eqn.params["name"].startswith(_MARK)


def _name(inputs: int, outputs: int) -> str:
    return f"{_MARK}_{inputs}_{outputs}"


def _pruned(program: Any, wanted: list[bool]) -> Callable[..., Sequence[Any]]:
    jaxpr, consts = opened(program)
    pruned, _ = partial_eval.dce_jaxpr(jaxpr, wanted, instantiate=True)
    return jaxpr_as_fun(ClosedJaxpr(pruned, list(consts)))


def _both(spec: OpSpec, given: dict[str, Any]) -> Any:
    """What an operator computes while it is recorded: functx's results, JAX's beside them."""
    jax_rule = JAX_RULES.get(spec.name)
    call = partition(given)
    if jax_rule is None or not call.arrays:
        return spec.rule(**given)
    results: Any = None

    def by_functx(*arrays: Any) -> list[Any]:
        nonlocal results
        leaves, results = jax.tree.flatten(spec.rule(**call.whole(arrays)))
        return [*map(jnp.asarray, leaves)]

    def by_jax(*arrays: Any) -> list[Any]:
        every = spec.parameters.defaults | call.whole(arrays)
        ordered = {name: every[name] for name in spec.parameters.signature.parameters}
        return [y for y in jax.tree.leaves(jax_rule(**ordered)) if y is not None]

    ours = jax.make_jaxpr(by_functx)(*call.arrays)
    try:
        with in_place_of_rules(None), jax.numpy_dtype_promotion("standard"):
            theirs = jax.make_jaxpr(by_jax)(*call.arrays)
    except (TypeError, ValueError, ArithmeticError):  # JAX takes no such arguments: 0-d ones
        return spec.rule(**given)
    moving = [i for i, y in enumerate(ours.out_avals) if _inexact(y)]
    types = [(ours.out_avals[i].shape, ours.out_avals[i].dtype) for i in moving]
    if not moving or types != [(y.shape, y.dtype) for y in theirs.out_avals]:
        return spec.rule(**given)

    def both(*arrays: Any) -> list[Any]:
        a, b = jaxpr_as_fun(ours)(*arrays), jaxpr_as_fun(theirs)(*arrays)
        other = dict(zip(moving, b, strict=True))
        return [*a, *(other.get(i, y) for i, y in enumerate(a))]

    both.__name__ = _name(len(call.arrays), len(ours.out_avals))
    return results.unflatten(jax.jit(both)(*call.arrays)[: len(ours.out_avals)])


def _inexact(y: Any) -> bool:
    return jnp.issubdtype(y.dtype, jnp.inexact)

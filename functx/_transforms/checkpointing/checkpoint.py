"""Functions whose backward pass computes again what it does not keep."""

from __future__ import annotations

import functools as ft
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, overload

import jax
import jax.numpy as jnp

from functx._core import describe, fail
from functx._core.jax_compat import ClosedJaxpr, Jaxpr, jaxpr_as_fun
from functx._core.numbers.weak_types import strong_tree
from functx._core.randomness.ambient_generator import (
    drawing,
    draws_of,
    recording,
    upcoming_draw,
)
from functx._core.randomness.generators import advance_all, generators_among
from functx._transforms.arguments import require_bools, require_callable
from functx._transforms.concretization import tracing
from functx._transforms.generics import P, Y
from functx._transforms.partitioning.choices import Choice, choice_of
from functx._transforms.partitioning.following import following
from functx._transforms.programs.labels import operator_of
from functx._transforms.programs.partition import Partition, partition
from functx._transforms.programs.walking import equations

from .names import is_name, names_given
from .naming import operator_calls, with_named_results
from .policies import Decide, decision, is_jax_policy


__all__ = ["checkpoint"]


@overload
def checkpoint(
    func: Callable[P, Y],
    *,
    policy: Any = None,
    budget: float | None = None,
    prevent_cse: bool = True,
) -> Callable[P, Y]: ...
@overload
def checkpoint(
    *, policy: Any = None, budget: float | None = None, prevent_cse: bool = True
) -> Callable[[Callable[P, Y]], Callable[P, Y]]: ...
def checkpoint(
    func: Callable[..., Any] | None = None,
    *args: Any,
    policy: Any = None,
    budget: float | None = None,
    prevent_cse: bool = True,
    **kwargs: Any,
) -> Any:
    """`func`, whose backward pass computes intermediate values again instead of keeping them.

    Values and derivatives are those of `func`, under any nest of transforms. `func` runs once while
    it is traced; the backward pass replays what was recorded, random numbers included.

    - `func`: takes and returns any trees; leaves that are no arrays (Python's numbers, strings,
      None, functions) are handed through. Without it, `checkpoint` is a decorator with the options
      given.
    - `args`, `kwargs`: none are taken: call the function that is returned.
    - `policy`: what is kept all the same. None keeps nothing but arguments. A list of operators,
      `functx.matmul` or `"matmul"`, keeps their results, and the sums, products and factors inside
      that their derivatives read. A function `policy(operator, *avals)` is asked once for each call
      of an operator, in order, and returns a `CheckpointPolicy` or a bool: `avals` have the shape
      and dtype of each array that the operator takes. One of `jax.checkpoint_policies` decides by
      primitives. `"min_cut"` needs the fewest bytes of all plans that compute no product,
      convolution, decomposition, loop or random number again.
    - `budget`: in place of a policy, how many bytes the derivative may need besides arguments,
      results and cotangents: an int, or a float from [0, 1], a fraction of what it keeps without a
      checkpoint. functx finds what to keep, so that as little as possible is computed again. What
      is computed again at once counts, too. A body of a loop gets its share. It is an estimate: the
      compiler may need less, or more for a moment.
    - `prevent_cse`: whether the compiler is kept from undoing the checkpoint. False is safe, and
      faster, in the body of a `scan`.

    Errors: TypeError for a policy of another kind or answer, ValueError for a list that holds
    anything but operators; where the derivative is taken, ValueError for a budget that is too
    small, which names the least.

    >>> def layer(w, x):
    ...     return functx.exp(functx.matmul(x, w)).sum()
    >>> w, x = jnp.ones((4, 4)), jnp.ones((2, 4))
    >>> saving = functx.checkpoint(layer, policy=[functx.matmul])
    >>> bool(jnp.allclose(functx.grad(saving)(w, x), functx.grad(layer)(w, x)))
    True
    >>> functx.checkpointing.checkpoint_report(saving, w, x).recomputed
    Counter({'exp': 1})
    """
    if args or kwargs:
        _refuse_options(args, kwargs)
    require_bools("checkpoint", prevent_cse=prevent_cse)
    if func is None:
        options = {"policy": policy, "budget": budget, "prevent_cse": prevent_cse}
        return ft.partial(checkpoint, **options)
    require_callable("checkpoint", func)
    choice = choice_of("checkpoint", policy, budget)
    by_primitives = choice is not None or policy is None or is_jax_policy(policy)
    decide = None if by_primitives else decision("checkpoint", policy)

    def recomputing(body: Callable[..., Any]) -> Callable[..., Any]:
        if choice is not None:
            return ft.partial(_planned, body, choice, prevent_cse)
        if decide is None:
            return jax.checkpoint(body, policy=policy, prevent_cse=prevent_cse)
        return ft.partial(_selective, body, decide, prevent_cse)

    @ft.wraps(func)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        given, returned = partition((args, kwargs)), list[Partition]()
        draws = list[tuple[int, ...]]()  # from generators in the arguments

        def body(*arrays: Any) -> Any:
            args, kwargs = given.whole(arrays)
            returned.append(partition(strong_tree(tracing("checkpoint", func, *args, **kwargs))))
            draws.append(draws_of(generators_among((args, kwargs))))
            return returned[-1].arrays

        arrays = [x if isinstance(x, jax.Array) else jnp.asarray(x) for x in given.arrays]
        if upcoming_draw() is None:  # whoever is in force here says why
            arrays = recomputing(body)(*arrays)
        else:
            arrays = drawing(recomputing(recording(body)), *arrays)
        advance_all((args, kwargs), draws[-1])
        return returned[-1].whole(arrays)

    return checkpointed


def _planned(func: Callable[..., Any], choice: Choice, prevent_cse: bool, *args: Any) -> Any:
    """`func(*args)`, whose derivative does as the plan says that `choice` makes."""
    program, shapes = jax.make_jaxpr(func, return_shape=True)(*args)
    run = following(program, choice, prevent_cse)
    return jax.tree.unflatten(jax.tree.structure(shapes), run(*jax.tree.leaves(args)))


def _refuse_options(args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoReturn:
    """Refuses what PyTorch's function takes, which calls `func` and has other options."""
    got = describe(args[0]) if args else f"`{next(iter(kwargs))}`"
    fail(
        "checkpoint",
        f"it takes `func`, `policy` and `prevent_cse`, and calls nothing; got also {got}",
        hint="functx.checkpoint(f)(x) calls f; there is one variant, which always restores random "
        "numbers and recomputes no more than is needed",
        error=TypeError,
    )


def _selective(func: Callable[..., Any], decide: Decide, prevent_cse: bool, *args: Any) -> Any:
    """`func(*args)`, saving the results of the operators that `decide` picks."""
    program, shapes = jax.make_jaxpr(func, return_shape=True)(*args)
    tag = _unused_name(program.jaxpr)
    names = tuple(
        tag if decide(operator_of(eqn), *(x.aval for x in eqn.invars)) else None
        for eqn in operator_calls(program.jaxpr)
    )
    named = ClosedJaxpr(with_named_results(program.jaxpr, names), program.consts)
    run = jax.checkpoint(jaxpr_as_fun(named), policy=_saving(tag), prevent_cse=prevent_cse)
    return jax.tree.unflatten(jax.tree.structure(shapes), run(*jax.tree.leaves(args)))


def _unused_name(jaxpr: Jaxpr) -> str:
    """A name that marks what this checkpoint saves, and none inside it."""
    taken = {eqn.params["name"] for eqn in equations(jaxpr) if is_name(eqn.primitive)}
    return next(name for i in itertools.count() if (name := f"functx.checkpoint.{i}") not in taken)


@ft.cache
def _saving(name: str) -> Callable[..., bool]:
    """The policy, for JAX, that saves values of this name; cached, so that equal ones are one."""

    def policy(primitive: Any, *_: Any, **params: Any) -> bool:
        if is_name(primitive):
            return params["name"] == name
        return primitive.name == "custom_jvp_call" and name in _results(params["call_jaxpr"].jaxpr)

    return policy


def _results(jaxpr: Jaxpr) -> Iterator[str]:
    """The names of the results of an operator that is not differentiated, and so still a call."""
    yield from names_given(jaxpr)
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "custom_jvp_call":
            yield from _results(eqn.params["call_jaxpr"].jaxpr)

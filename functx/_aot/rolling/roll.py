"""`roll`: equal layers of a function as one loop; `repeated_layers`: which there are."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable
from typing import Any, overload

import jax

from functx._aot.graphs.signature import is_spec
from functx._core import describe, explain_unknown_keywords, fail
from functx._core.randomness.ambient_generator import drawing, recording
from functx._transforms.arguments import require_callable
from functx._transforms.concretization import tracing
from functx._transforms.generics import P, Y
from functx._transforms.programs.partition import is_array, partition
from functx._transforms.programs.recording import record

from .layers import EqualLayers
from .planning import LoopPlans
from .running import run_rolled


__all__ = ["RepeatedLayers", "repeated_layers", "roll"]


@dataclasses.dataclass(frozen=True)
class RepeatedLayers:
    """Equal layers that follow each other, as `repeated_layers` finds them.

    - `layers`: how many there are.
    - `equations`: how many equations one of them has; a call of an operator is one.
    - `carried`: the types of what each layer takes from the one before, such as `f32[2,16,64]`.
    - `stacked`: the types of what differs from layer to layer, such as parameters: of one layer.
    - `shared`: the types of what all layers read.
    - `collected`: the types of what is read of each layer after the last: of one layer.
    """

    layers: int
    equations: int
    carried: tuple[str, ...]
    stacked: tuple[str, ...]
    shared: tuple[str, ...]
    collected: tuple[str, ...]

    def __str__(self) -> str:
        parts = [f"{self.layers} layers of {self.equations} equations"]
        for name in ("carried", "stacked", "shared", "collected"):
            types = getattr(self, name)
            parts += [f"{name}: {', '.join(types)}"] if types else []
        return "\n  ".join(parts)


@overload
def roll(func: Callable[P, Y], *, min_layers: int = 3) -> Callable[P, Y]: ...
@overload
def roll(*, min_layers: int = 3) -> Callable[[Callable[P, Y]], Callable[P, Y]]: ...
@explain_unknown_keywords()
def roll(func: Callable[..., Any] | None = None, *, min_layers: int = 3) -> Any:
    """`func`, with equal layers that follow each other as one loop, which compiles as one layer.

    - `func`: a function of trees of arrays. It is recorded as by `jax.jit`, so it may not ask for
      the value of an array. Without it, `roll` is a decorator with the option given.
    - `min_layers`: the fewest layers that become a loop, 2 or more.

    Returns a function that takes what `func` takes and returns what it returns: values and
    derivatives are equal but for rounding. It can be transformed and compiled as `func` can, and
    is recorded anew at each call, so that `jax.jit` belongs around it.

    Layers are equal where their equations are, whatever arrays these read. What a layer takes from
    the one before is carried by a `jax.lax.scan`; what differs, such as parameters, is stacked
    when the function is called; and what is read of each layer comes back as rows. Arguments and
    gradients keep their names and shapes. Layers inside of compiled functions, checkpoints, loops
    and other layers are found, too. Functions with own derivative rules are whole, and equal where
    the programs of the functions and of their derivatives are.

    A layer computes at least a product, a convolution or the like of what the layer before
    computed; chains of sums and other functions of single elements stay as they are, as the
    compiler fuses them. So do equations with effects, such as `jax.debug.print`, and what they
    stand between. `functx.aot.repeated_layers` shows what is found.

    Errors: TypeError for a `func` that is not callable and for a `min_layers` that is no integer,
    ValueError for one below 2, those that `func` raises, and JAX's ConcretizationTypeError where it
    asks for a value.

    >>> def network(weights, x):
    ...     for w in weights:
    ...         x = functx.tanh(x @ w)
    ...     return functx.sum(x)
    >>> weights, x = [jnp.eye(3, dtype="float32")] * 8, jnp.ones((2, 3), "float32")
    >>> gradients = jax.jit(functx.grad(functx.aot.roll(network)))(weights, x)
    >>> len(gradients), gradients[0].shape
    (8, (3, 3))
    """
    if func is None:
        return ft.partial(roll, min_layers=min_layers)
    require_callable("roll", func)
    _require_least("roll", min_layers)

    @ft.wraps(func)
    def rolled(*args: Any, **kwargs: Any) -> Any:
        return drawing(ft.partial(_run, func, min_layers), *args, **kwargs)

    return rolled


def _run(func: Callable[..., Any], least: int, upcoming: Any, *args: Any, **kwargs: Any) -> Any:
    """The output of `func` and its count of draws, from the next draw of the ambient generator."""
    given = partition((args, kwargs))

    def function(upcoming: Any, *arrays: Any) -> Any:
        args, kwargs = given.whole(arrays)
        return tracing("roll", recording(func), upcoming, *args, **kwargs)

    recorded = record(function, upcoming, *given.arrays)
    arrays = jax.tree.leaves((upcoming, given.arrays))
    return recorded.output(run_rolled(recorded.closed, arrays, LoopPlans(least)))


def repeated_layers(
    func: Callable[..., Any], *specs: Any, min_layers: int = 3, **keyword_specs: Any
) -> tuple[RepeatedLayers, ...]:
    """What `functx.aot.roll(func)` makes loops of at arguments like `specs`.

    - `func`: a function of trees of arrays, which is recorded as by `jax.jit`.
    - `specs`, `keyword_specs`: the arguments. Each leaf is an array or a `jax.ShapeDtypeStruct`,
      whose sizes may be symbolic; any other leaf is a constant.
    - `min_layers`: the fewest layers that become a loop, 2 or more.

    Returns a `RepeatedLayers` for each loop, those inside of layers after the one around them.
    Nothing is computed.

    Errors: TypeError for a `func` that is not callable and for a `min_layers` that is no integer,
    ValueError for one below 2, those that `func` raises, and JAX's ConcretizationTypeError where it
    asks for a value.

    >>> def network(weights, x):
    ...     for w in weights:
    ...         x = functx.tanh(x @ w)
    ...     return x
    >>> weights, x = [jnp.eye(3, dtype="float32")] * 8, jnp.ones((2, 3), "float32")
    >>> print(*functx.aot.repeated_layers(network, weights, x))
    8 layers of 2 equations
      carried: f32[2,3]
      stacked: f32[3,3]
    """
    require_callable("repeated_layers", func)
    _require_least("repeated_layers", min_layers)
    given = partition((specs, keyword_specs), lambda x: is_array(x) or is_spec(x))

    def function(*arrays: Any) -> Any:
        args, kwargs = given.whole(arrays)
        return tracing("repeated_layers", func, *args, **kwargs)

    program = record(function, *given.arrays).closed
    return tuple(map(_shown, LoopPlans(min_layers).loops(program)))


def _shown(loop: EqualLayers) -> RepeatedLayers:
    def types(atoms: Any) -> tuple[str, ...]:
        return tuple(describe(x.aval) for x in atoms)

    return RepeatedLayers(
        len(loop.places),
        len(loop.places[0]),
        types(loop.carried),
        types(atoms[0] for atoms in loop.stacked),
        types(loop.shared),
        types(variables[0] for variables in loop.collected),
    )


def _require_least(who: str, min_layers: Any) -> None:
    if isinstance(min_layers, bool) or not isinstance(min_layers, int):
        message = f"`min_layers` must be an integer, got {describe(min_layers)}"
        fail(who, message, error=TypeError)
    if min_layers < 2:
        message = f"`min_layers` must be at least 2, got {min_layers}"
        fail(who, message, hint="one layer is no loop", error=ValueError)

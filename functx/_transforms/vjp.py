"""Vector-Jacobian products."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, overload

import jax

from functx._core.manual_axes import varying_axes, varying_over

from .arguments import numbered, require_callable, require_differentiable
from .conjugation import conjugate, conjugate_leaf
from .generics import Aux, Y
from .outputs import checking, require_arrays
from .tangents import Kept, kept_leaves, matched


__all__ = ["vjp"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Pullback:
    """What `vjp` returns: cotangents of the outputs in, cotangents of the primals out.

    A pytree, so that it may leave `jax.jit`.
    """

    pull: Any
    kept: tuple[Kept, ...] = dataclasses.field(metadata={"static": True})
    structure: Any = dataclasses.field(metadata={"static": True})
    complex_primals: bool = dataclasses.field(metadata={"static": True})
    axes: tuple[frozenset[str], ...] = dataclasses.field(metadata={"static": True})

    def __call__(self, cotangents: Any) -> tuple[Any, ...]:
        """One cotangent per primal, in a tuple even if there is one."""
        leaves = matched(
            "vjp", "cotangents", cotangents, self.kept, self.structure, "the output of `func`"
        )
        leaves = map(varying_over, map(conjugate_leaf, leaves), self.axes)
        gradients = self.pull(self.structure.unflatten(leaves))
        return conjugate(gradients) if self.complex_primals else gradients


@overload
def vjp(
    func: Callable[..., Y], *primals: Any, has_aux: Literal[False] = False
) -> tuple[Y, Pullback]: ...
@overload
def vjp(
    func: Callable[..., tuple[Y, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[Y, Pullback, Aux]: ...
@overload
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool) -> tuple[Any, ...]: ...
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `func` at `primals`, and its vector-Jacobian product there.

    Returns `(output, vjp_fn)`, and `(output, vjp_fn, aux)` if `has_aux` and `func` returns
    `(output, aux)`. `vjp_fn(cotangents)` takes one tree like the output and returns a tuple
    with one cotangent per primal.

    Dtypes: primals are real or complex; cotangents have the dtypes of the outputs. Integer
    and boolean outputs have no cotangent, whatever is passed for them is ignored, `None`
    too. Complex cotangents follow PyTorch: they are the conjugates of JAX's.

    >>> output, vjp_fn = functx.vjp(jnp.multiply, jnp.float32(2), jnp.float32(3))
    >>> vjp_fn(jnp.float32(1))
    (Array(3., dtype=float32), Array(2., dtype=float32))
    """
    require_callable("vjp", func)
    any_complex = require_differentiable("vjp", primals, numbered("primals", len(primals)))
    function = checking("vjp", func, has_aux, require_arrays)
    output, pull, *aux = jax.vjp(function, *primals, has_aux=has_aux)
    kept, structure = kept_leaves(output)
    axes = tuple([varying_axes(y) for y in jax.tree.leaves(output)])
    return (output, Pullback(pull, kept, structure, any_complex, axes), *aux)

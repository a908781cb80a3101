"""Vector-Jacobian products."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, overload

import jax

from functx._core import explain_unknown_keywords
from functx._core.context.grad_modes import outside_grad_mode
from functx._core.devices.manual_axes import varying_axes, varying_over

from .arguments import differentiable, numbered, require_bools, require_callable
from .conjugation import conjugate, conjugate_leaf
from .eager import eager_vjp
from .generics import Aux, Y
from .outputs import checking, require_arrays
from .programs.recording import HoldsProgram
from .residuals.packing import packed
from .residuals.single_use import Once
from .sparse_arrays import holds_sparse, of_values, SparseLayout
from .sparse_products import SparsePullback
from .tangents import leaf_types, LeafType, matched
from .trials import on_trial
from .unused import pulled, require_unused, Unused


__all__ = ["vjp"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Pullback(HoldsProgram):
    """What `vjp` returns: cotangents of the outputs in, cotangents of the primals out.

    A pytree, so that it may leave `jax.jit`.
    """

    made_by, remedy = "vjp", "pickle the function and the primals, and call vjp where they arrive"

    pull: Any
    types: tuple[LeafType, ...] = dataclasses.field(metadata={"static": True})
    structure: Any = dataclasses.field(metadata={"static": True})
    complex_primals: bool = dataclasses.field(metadata={"static": True})
    axes: tuple[frozenset[str], ...] = dataclasses.field(metadata={"static": True})
    paths: tuple[str, ...] = dataclasses.field(metadata={"static": True})
    unused: Unused = dataclasses.field(metadata={"static": True})

    def __call__(self, cotangents: Any) -> tuple[Any, ...]:
        """One cotangent per primal, in a tuple even if there is one."""
        leaves = matched(
            "vjp", "cotangents", cotangents, self.types, self.structure, "the output of `func`"
        )
        leaves = map(varying_over, map(conjugate_leaf, leaves), self.axes)
        cotangents = self.structure.unflatten(leaves)
        gradients = outside_grad_mode(pulled)("vjp", self.pull, cotangents, self.unused, self.paths)
        return conjugate(gradients) if self.complex_primals else gradients


@overload
def vjp(
    func: Callable[..., Y],
    *primals: Any,
    has_aux: Literal[False] = False,
    retain: bool = True,
    unused: Unused = "zeros",
) -> tuple[Y, Pullback]: ...
@overload
def vjp(
    func: Callable[..., tuple[Y, Aux]],
    *primals: Any,
    has_aux: Literal[True],
    retain: bool = True,
    unused: Unused = "zeros",
) -> tuple[Y, Pullback, Aux]: ...
@overload
def vjp(
    func: Callable[..., Any],
    *primals: Any,
    has_aux: bool,
    retain: bool = True,
    unused: Unused = "zeros",
) -> tuple[Any, ...]: ...
@explain_unknown_keywords()
def vjp(
    func: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    retain: bool = True,
    unused: Unused = "zeros",
) -> Any:
    """The value of `func` at `primals`, and its vector-Jacobian product there.

    Returns `(output, vjp_fn)`, and `(output, vjp_fn, aux)` with `has_aux`. `vjp_fn(cotangents)`
    takes one tree like the output and returns a tuple with one cotangent per primal.

    - `func`: a function of trees of arrays that returns a tree of arrays.
    - `primals`: the positional arguments, trees of floating or complex arrays.
    - `has_aux`: whether `func` returns `(output, aux)`.
    - `retain`: whether `vjp_fn` keeps what it needs for another call. With False it lets go of that
      after the first call.
    - `unused`: the cotangent of an array on which no output depends: `"zeros"`, `"none"` for None,
      or `"error"`.

    Shapes and dtypes: cotangents have those of the outputs, results those of the primals. Integer
    and boolean outputs have no cotangent: whatever is passed for them is ignored, None too. Complex
    cotangents follow PyTorch: they are the conjugates of JAX's.
    Errors: TypeError for integer primals, TypeError or ValueError for cotangents that are not like
    the outputs, RuntimeError for a second call that needs what `retain=False` let go, and for
    `unused="error"`.

    >>> output, vjp_fn = functx.vjp(jnp.multiply, jnp.float32(2), jnp.float32(3))
    >>> vjp_fn(jnp.float32(1))
    (Array(3., dtype=float32), Array(2., dtype=float32))
    """
    require_callable("vjp", func)
    require_bools("vjp", has_aux=has_aux, retain=retain)
    require_unused("vjp", unused)
    paths = numbered("primals", len(primals))
    layout = SparseLayout.of(primals) if holds_sparse(primals) else None
    if layout is not None:
        func, primals = of_values(func, layout), layout.values(primals)
    primals, any_complex = differentiable("vjp", primals, paths)
    function = on_trial(checking("vjp", func, has_aux, require_arrays), func)
    output, pull, *aux = outside_grad_mode(eager_vjp)(function, *primals, has_aux=has_aux)
    types, structure = leaf_types(output)
    axes = tuple([varying_axes(y) for y in jax.tree.leaves(output)])
    vjp_fn = Pullback(packed(pull), types, structure, any_complex, axes, paths, unused)
    if layout is not None or holds_sparse(output):
        layout = layout or SparseLayout.of(primals)
        vjp_fn = SparsePullback(vjp_fn, layout, SparseLayout.of(output))
    return (output, vjp_fn if retain else Once(vjp_fn), *aux)

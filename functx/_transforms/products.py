"""Products with the Hessian, which never build it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import jax

from functx._core import explain_unknown_keywords, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._core.devices.manual_axes import varying_like

from .arguments import differentiable, numbered
from .conjugation import conjugate
from .eager import eager_jvp
from .generics import Aux, X, Y
from .gradients import gradients_of
from .outputs import signed
from .residuals.packing import packed
from .sparse_arrays import holds_sparse, of_values, SparseLayout
from .tangents import matched


__all__ = ["hvp", "vhp"]


@overload
def hvp(
    func: Callable[..., Y], primals: X, tangents: Any, *, has_aux: Literal[False] = False
) -> tuple[Y, X]: ...
@overload
def hvp(
    func: Callable[..., tuple[Y, Aux]], primals: X, tangents: Any, *, has_aux: Literal[True]
) -> tuple[Y, X, Aux]: ...
@overload
def hvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, has_aux: bool
) -> tuple[Any, ...]: ...
@explain_unknown_keywords()
def hvp(func: Callable[..., Any], primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """The value of the scalar `func`, and its Hessian times `tangents`: forward over reverse.

    Returns `(value, product)`, and `(value, product, aux)` with `has_aux`, at the cost of a few
    evaluations of `func`.

    - `func`: a function of trees of arrays that returns one floating number, or `(value, aux)`.
    - `primals`: a tuple of positional arguments, or one argument that is no tuple.
    - `tangents`: a tree like `primals` in structure, shapes and dtypes.
    - `has_aux`: whether `func` returns `(value, aux)`.

    Shapes and dtypes: the product has those of `primals`. For complex primals it is the derivative
    of `grad` along `tangents`.
    Errors: TypeError for integer primals and for tangents of other dtypes, ValueError for tangents
    of another structure or shape and outputs that are no scalars.

    >>> f = lambda x: (x**3).sum()
    >>> x, v = jnp.asarray([1, 2], "float32"), jnp.asarray([1, 0], "float32")
    >>> functx.hvp(f, x, v)
    (Array(9., dtype=float32), Array([6., 0.], dtype=float32))
    """
    gradient, values, directions, joined = _checked(
        "hvp", "tangents", func, primals, tangents, has_aux
    )
    _, product, (value, aux) = outside_grad_mode(eager_jvp)(
        gradient, values, directions, has_aux=True
    )
    product = joined(product)
    product = product if isinstance(primals, tuple) else product[0]
    return (value, product, aux) if has_aux else (value, product)


@overload
def vhp(
    func: Callable[..., Y], primals: X, cotangents: Any, *, has_aux: Literal[False] = False
) -> tuple[Y, X]: ...
@overload
def vhp(
    func: Callable[..., tuple[Y, Aux]], primals: X, cotangents: Any, *, has_aux: Literal[True]
) -> tuple[Y, X, Aux]: ...
@overload
def vhp(
    func: Callable[..., Any], primals: Any, cotangents: Any, *, has_aux: bool
) -> tuple[Any, ...]: ...
@explain_unknown_keywords()
def vhp(func: Callable[..., Any], primals: Any, cotangents: Any, *, has_aux: bool = False) -> Any:
    """The value of the scalar `func`, and `cotangents` times its Hessian: reverse over reverse.

    Returns `(value, product)`, and `(value, product, aux)` with `has_aux`. It serves functions that
    have no forward mode; where both work, `hvp` is cheaper.

    - `func`: a function of trees of arrays that returns one floating number, or `(value, aux)`.
    - `primals`: a tuple of positional arguments, or one argument that is no tuple.
    - `cotangents`: a tree like `primals` in structure, shapes and dtypes.
    - `has_aux`: whether `func` returns `(value, aux)`.

    Shapes and dtypes: the product has those of `primals`.
    Errors: TypeError for integer primals and for cotangents of other dtypes, ValueError for
    cotangents of another structure or shape and outputs that are no scalars.

    >>> f = lambda x: (x**3).sum()
    >>> x, v = jnp.asarray([1, 2], "float32"), jnp.asarray([1, 0], "float32")
    >>> functx.vhp(f, x, v)
    (Array(9., dtype=float32), Array([6., 0.], dtype=float32))
    """
    gradient, values, directions, joined = _checked(
        "vhp", "cotangents", func, primals, cotangents, has_aux
    )
    outputs, pull, (value, aux) = outside_grad_mode(jax.vjp)(gradient, *values, has_aux=True)
    cotangents = jax.tree.map(varying_like, conjugate(directions), outputs)
    product = conjugate(outside_grad_mode(packed(pull))(cotangents))
    product = joined(product)
    product = product if isinstance(primals, tuple) else product[0]
    return (value, product, aux) if has_aux else (value, product)


def _checked(
    who: str, name: str, func: Callable[..., Any], primals: Any, directions: Any, has_aux: bool
) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], Callable[[Any], Any]]:
    """What both products need: the gradient, the primals and the directions, checked."""
    if not isinstance(primals, tuple):
        primals, directions = (primals,), (directions,)
        paths: tuple[str, ...] = ("primals",)
    else:
        paths = numbered("primals", len(primals))
    if not primals:
        fail(who, "`primals` must not be empty", error=ValueError)
    layout = None
    if holds_sparse(primals):
        layout = SparseLayout.of(primals)
        directions = layout.matched(who, name, directions, "`primals`")
        func, primals = of_values(func, layout), layout.values(primals)
    compute = gradients_of(who, func, tuple(range(len(primals))), has_aux)
    primals = differentiable(who, primals, paths).values
    likes, structure = jax.tree.flatten(primals)
    leaves = matched(who, name, directions, likes, structure, "`primals`")

    @signed
    def gradient(*values: Any) -> tuple[Any, Any]:
        gradients, value, aux = compute(values, {})
        return gradients, (value, aux)

    joined = layout.joined if layout is not None else _as_it_is
    return gradient, primals, structure.unflatten(leaves), joined


def _as_it_is(product: Any) -> Any:
    return product

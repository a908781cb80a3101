"""Gradients of scalar functions."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, Concatenate, Literal, overload

import jax
import numpy as np

from functx._core import explain_unknown_keywords
from functx._core.context.grad_modes import outside_grad_mode
from functx._core.devices.manual_axes import varying_like

from .arguments import (
    Argnums,
    checked_argnums,
    differentiable,
    pick,
    require_bools,
    require_callable,
)
from .conjugation import conjugate
from .generics import Aux, P, X, Y
from .integers import apart_from_integers
from .numbers import array_of_program
from .outputs import checking, require_scalar
from .residuals.packing import packed
from .tangents import LeafType
from .unused import pulled, require_unused, Unused


__all__ = ["grad", "grad_and_value", "value_and_grad"]


@overload
def grad(
    func: Callable[Concatenate[X, P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[Concatenate[X, P], X]: ...
@overload
def grad(
    func: Callable[Concatenate[X, P], tuple[Any, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[Concatenate[X, P], tuple[X, Aux]]: ...
@overload
def grad(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@explain_unknown_keywords()
def grad(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[..., Any]:
    r"""The gradient of `func`, which returns one real scalar.

    - `func`: a function of trees of arrays that returns one floating number, or `(loss, aux)`.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(loss, aux)`, so that `(gradient, aux)` comes back.
    - `unused`: the gradient of an array on which `func` does not depend at all (to depend and have
      a derivative of zero is another thing): `"zeros"`, `"none"` for None, or `"error"`.
    - `allow_int`: whether integers, booleans and keys may be among the arguments. They have no
      gradient: a NumPy array of JAX's dtype `float0`, which holds nothing, takes its place, as in
      `jax.grad`.

    Shapes and dtypes: those of the argument, a tree if the argument is one; a tuple of `argnums`
    gives a tuple. Complex arguments get PyTorch's gradient,
    $\partial L/\partial x + i\,\partial L/\partial y$.
    Errors: TypeError for integer arguments without `allow_int` and for outputs of integers,
    ValueError for outputs that are no scalars, RuntimeError for `unused="error"`.

    >>> functx.grad(lambda x: (x**2).sum())(jnp.asarray([1, 2], "float32"))
    Array([2., 4.], dtype=float32)
    >>> functx.grad(lambda x, w: x * w, argnums="w")(jnp.float32(3), w=jnp.float32(2))
    Array(3., dtype=float32)
    """
    compute = gradients_of("grad", func, argnums, has_aux, unused, allow_int)

    @ft.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        gradients, _, aux = compute(args, kwargs)
        return (gradients, aux) if has_aux else gradients

    return gradient


@overload
def grad_and_value(
    func: Callable[Concatenate[X, P], Y],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[Concatenate[X, P], tuple[X, Y]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, P], tuple[Y, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[Concatenate[X, P], tuple[X, tuple[Y, Aux]]]: ...
@overload
def grad_and_value(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@explain_unknown_keywords()
def grad_and_value(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[..., Any]:
    r"""The gradient and the value of `func`, which returns one real scalar, in PyTorch's order.

    The returned function gives `(gradient, value)`, and `(gradient, (value, aux))` with `has_aux`.

    - `func`: a function of trees of arrays that returns one floating number, or `(value, aux)`.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(value, aux)`.
    - `unused`: the gradient of an array on which `func` does not depend: `"zeros"`, `"none"` for
      None, or `"error"`.
    - `allow_int`: whether integers, booleans and keys may be among the arguments. Their gradients
      are NumPy arrays of the dtype `float0`, which hold nothing.

    Shapes and dtypes: the gradient has those of the argument; a tuple of `argnums` gives a tuple.
    Complex arguments get PyTorch's gradient, $\partial L/\partial x + i\,\partial L/\partial y$.
    Errors: TypeError for integer arguments without `allow_int` and for outputs of integers,
    ValueError for outputs that are no scalars, RuntimeError for `unused="error"`.

    >>> functx.grad_and_value(lambda x: x**2)(jnp.float32(3))
    (Array(6., dtype=float32), Array(9., dtype=float32))
    """
    compute = gradients_of("grad_and_value", func, argnums, has_aux, unused, allow_int)

    @ft.wraps(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        gradients, value, aux = compute(args, kwargs)
        return gradients, (value, aux) if has_aux else value

    return gradient_and_value


@overload
def value_and_grad(
    func: Callable[Concatenate[X, P], Y],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[Concatenate[X, P], tuple[Y, X]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, P], tuple[Y, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[Concatenate[X, P], tuple[tuple[Y, Aux], X]]: ...
@overload
def value_and_grad(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@explain_unknown_keywords()
def value_and_grad(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[..., Any]:
    r"""The value and the gradient of `func`, which returns one real scalar, in JAX's order.

    The returned function gives `(value, gradient)`, and `((value, aux), gradient)` with `has_aux`.

    - `func`: a function of trees of arrays that returns one floating number, or `(value, aux)`.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(value, aux)`.
    - `unused`: the gradient of an array on which `func` does not depend: `"zeros"`, `"none"` for
      None, or `"error"`.
    - `allow_int`: whether integers, booleans and keys may be among the arguments. Their gradients
      are NumPy arrays of the dtype `float0`, which hold nothing.

    Shapes and dtypes: the gradient has those of the argument; a tuple of `argnums` gives a tuple.
    Complex arguments get PyTorch's gradient, $\partial L/\partial x + i\,\partial L/\partial y$.
    Errors: TypeError for integer arguments without `allow_int` and for outputs of integers,
    ValueError for outputs that are no scalars, RuntimeError for `unused="error"`.

    >>> functx.value_and_grad(lambda x: x**2)(jnp.float32(3))
    (Array(9., dtype=float32), Array(6., dtype=float32))
    """
    compute = gradients_of("value_and_grad", func, argnums, has_aux, unused, allow_int)

    @ft.wraps(func)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        gradients, value, aux = compute(args, kwargs)
        return (value, aux) if has_aux else value, gradients

    return value_and_gradient


def gradients_of(
    who: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    unused: Unused = "zeros",
    allow_int: bool = False,
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Any, Any]]:
    """A function from a call's arguments to gradients, value and aux (or None)."""
    require_callable(who, func)
    require_bools(who, has_aux=has_aux, allow_int=allow_int)
    require_unused(who, unused)
    which = checked_argnums(who, argnums)
    single = not isinstance(argnums, tuple)

    def compute(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        picked, whole = pick(who, func, which, args, kwargs), None
        values, any_complex = differentiable(who, picked.values, picked.paths, allow_int)
        picked = picked._replace(values=values)
        if allow_int:
            picked, whole = apart_from_integers(picked)
        function, values, paths = picked
        loss = checking(who, function, has_aux, require_scalar)
        value, pull, *aux = jax.vjp(loss, *values, has_aux=has_aux)
        one = np.ones((), LeafType.of(value).dtype)
        gradients = pulled(who, packed(pull), varying_like(one, value), unused, paths)
        gradients = jax.tree.map(array_of_program, gradients)  # it may be that NumPy's 1
        if any_complex:
            gradients = conjugate(gradients)
        if whole is not None:
            gradients = whole(gradients)
        return gradients[0] if single else gradients, value, aux[0] if has_aux else None

    return outside_grad_mode(compute)

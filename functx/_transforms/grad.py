"""Gradients of scalar functions."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any, Concatenate, Literal, overload, TypedDict, Unpack

from functx._core import explain_unknown_keywords

from .arguments import Argnums
from .generics import Aux, FirstOne, FirstThree, FirstTwo, P, X, X1, X2, Y
from .gradients import gradients_of
from .unused import Unused


__all__ = ["grad", "grad_and_value", "value_and_grad"]


class GradOptions(TypedDict, total=False):
    """What the transforms take by keyword."""

    unused: Unused
    allow_int: bool


@overload
def grad(
    func: Callable[Concatenate[X, P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], X]: ...
@overload
def grad(
    func: Callable[Concatenate[X, P], tuple[Any, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[X, Aux]]: ...
@overload
def grad(
    func: Callable[Concatenate[X, X1, P], Any],
    argnums: Literal[1],
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], X1]: ...
@overload
def grad(
    func: Callable[Concatenate[X, X1, P], tuple[Any, Aux]],
    argnums: Literal[1],
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[X1, Aux]]: ...
@overload
def grad(
    func: Callable[Concatenate[X, P], Any],
    argnums: FirstOne,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[X]]: ...
@overload
def grad(
    func: Callable[Concatenate[X, P], tuple[Any, Aux]],
    argnums: FirstOne,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[tuple[X], Aux]]: ...
@overload
def grad(
    func: Callable[Concatenate[X, X1, P], Any],
    argnums: FirstTwo,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[X, X1]]: ...
@overload
def grad(
    func: Callable[Concatenate[X, X1, P], tuple[Any, Aux]],
    argnums: FirstTwo,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[tuple[X, X1], Aux]]: ...
@overload
def grad(
    func: Callable[Concatenate[X, X1, X2, P], Any],
    argnums: FirstThree,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, X2, P], tuple[X, X1, X2]]: ...
@overload
def grad(
    func: Callable[Concatenate[X, X1, X2, P], tuple[Any, Aux]],
    argnums: FirstThree,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, X2, P], tuple[tuple[X, X1, X2], Aux]]: ...
@overload
def grad(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    **options: Unpack[GradOptions],
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
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[X, Y]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, P], tuple[Y, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[X, tuple[Y, Aux]]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, X1, P], Y],
    argnums: Literal[1],
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[X1, Y]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, X1, P], tuple[Y, Aux]],
    argnums: Literal[1],
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[X1, tuple[Y, Aux]]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, P], Y],
    argnums: FirstOne,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[tuple[X], Y]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, P], tuple[Y, Aux]],
    argnums: FirstOne,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[tuple[X], tuple[Y, Aux]]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, X1, P], Y],
    argnums: FirstTwo,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[tuple[X, X1], Y]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, X1, P], tuple[Y, Aux]],
    argnums: FirstTwo,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[tuple[X, X1], tuple[Y, Aux]]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, X1, X2, P], Y],
    argnums: FirstThree,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, X2, P], tuple[tuple[X, X1, X2], Y]]: ...
@overload
def grad_and_value(
    func: Callable[Concatenate[X, X1, X2, P], tuple[Y, Aux]],
    argnums: FirstThree,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, X2, P], tuple[tuple[X, X1, X2], tuple[Y, Aux]]]: ...
@overload
def grad_and_value(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    **options: Unpack[GradOptions],
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
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[Y, X]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, P], tuple[Y, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[tuple[Y, Aux], X]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, X1, P], Y],
    argnums: Literal[1],
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[Y, X1]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, X1, P], tuple[Y, Aux]],
    argnums: Literal[1],
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[tuple[Y, Aux], X1]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, P], Y],
    argnums: FirstOne,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[Y, tuple[X]]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, P], tuple[Y, Aux]],
    argnums: FirstOne,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, P], tuple[tuple[Y, Aux], tuple[X]]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, X1, P], Y],
    argnums: FirstTwo,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[Y, tuple[X, X1]]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, X1, P], tuple[Y, Aux]],
    argnums: FirstTwo,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, P], tuple[tuple[Y, Aux], tuple[X, X1]]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, X1, X2, P], Y],
    argnums: FirstThree,
    has_aux: Literal[False] = False,
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, X2, P], tuple[Y, tuple[X, X1, X2]]]: ...
@overload
def value_and_grad(
    func: Callable[Concatenate[X, X1, X2, P], tuple[Y, Aux]],
    argnums: FirstThree,
    *,
    has_aux: Literal[True],
    **options: Unpack[GradOptions],
) -> Callable[Concatenate[X, X1, X2, P], tuple[tuple[Y, Aux], tuple[X, X1, X2]]]: ...
@overload
def value_and_grad(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    **options: Unpack[GradOptions],
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

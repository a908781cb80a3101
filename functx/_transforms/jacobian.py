"""Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Literal, overload, TypedDict, Unpack

from jax import Array

from functx._core import explain_unknown_keywords
from functx._core.randomness.ambient_generator import Randomness

from .arguments import Argnums
from .generics import Aux, FirstOne, FirstThree, FirstTwo, K, P, X, X1, X2
from .holomorphy import require_holomorphic_pairs, require_reverse_pairs
from .jacobian_assembly import forward_jacobian, reverse_jacobian


__all__ = ["hessian", "jacfwd", "jacrev"]


class JacobianOptions(TypedDict, total=False):
    """What the transforms take by keyword."""

    chunk_size: int | str | None
    max_bytes: int | None
    as_real: bool


class JacfwdOptions(JacobianOptions, total=False):
    """What `jacfwd` takes by keyword."""

    randomness: Randomness


@overload
def jacrev(
    func: Callable[Concatenate[X, P], Array],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, P], X]: ...
@overload
def jacrev(
    func: Callable[Concatenate[X, P], tuple[Array, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, P], tuple[X, Aux]]: ...
@overload
def jacrev(
    func: Callable[Concatenate[X, X1, P], Array],
    argnums: Literal[1],
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, X1, P], X1]: ...
@overload
def jacrev(
    func: Callable[Concatenate[X, P], Array],
    argnums: FirstOne,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, P], tuple[X]]: ...
@overload
def jacrev(
    func: Callable[Concatenate[X, X1, P], Array],
    argnums: FirstTwo,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, X1, P], tuple[X, X1]]: ...
@overload
def jacrev(
    func: Callable[Concatenate[X, X1, P], tuple[Array, Aux]],
    argnums: FirstTwo,
    *,
    has_aux: Literal[True],
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, X1, P], tuple[tuple[X, X1], Aux]]: ...
@overload
def jacrev(
    func: Callable[Concatenate[X, X1, X2, P], Array],
    argnums: FirstThree,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, X1, X2, P], tuple[X, X1, X2]]: ...
@overload
def jacrev(
    func: Callable[Concatenate[X, P], tuple[Array, ...]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, P], tuple[X, ...]]: ...
@overload
def jacrev(
    func: Callable[Concatenate[X, P], list[Array]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, P], list[X]]: ...
@overload
def jacrev(
    func: Callable[Concatenate[X, P], dict[K, Array]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, P], dict[K, X]]: ...
@overload
def jacrev(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    **options: Unpack[JacobianOptions],
) -> Callable[P, Any]: ...
@explain_unknown_keywords()
def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `func`, one vector-Jacobian product per output element.

    - `func`: a function of trees of floating or complex arrays that returns a tree of arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(jacobian, aux)` comes back.
    - `chunk_size`: how many rows are computed at once; fewer need less memory and more time. None
      is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `as_real`: whether complex leaves count as two reals, in last dimensions of size 2:
      `c64[*n] -> c64[*m]` gives `f32[*m, 2, *n, 2]`.

    Shapes: `func: [*n] -> [*m]` gives `[*m, *n]`. A tree of outputs is the outer tree of the
    result, a tuple of `argnums` the next, and the trees of the arguments the inner one.
    Dtypes: those of the inputs. A complex output of complex inputs has its complex derivative, the
    same as in `jacfwd`; a real output of complex inputs has its gradients, as `grad` has them, for
    rows; a complex output of real inputs is refused. `as_real=True` takes them all.
    Errors: TypeError for integer inputs; ValueError where a function of complex inputs is not
    holomorphic, which one more product finds out (while being recorded, the result is NaN, and
    `functx.debug.checked` raises), for a `chunk_size` below 1, and for `max_bytes` without
    `"auto"`.

    Prefer `jacfwd` when outputs outnumber inputs.

    >>> functx.jacrev(jnp.sin)(jnp.zeros(2, "float32"))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return reverse_jacobian(
        "jacrev",
        func,
        argnums,
        has_aux,
        chunk_size,
        max_bytes,
        require_reverse_pairs,
        as_real=as_real,
    )


@overload
def jacfwd(
    func: Callable[Concatenate[X, P], Array],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, P], X]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[X, P], tuple[Array, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, P], tuple[X, Aux]]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[X, X1, P], Array],
    argnums: Literal[1],
    has_aux: Literal[False] = False,
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, X1, P], X1]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[X, P], Array],
    argnums: FirstOne,
    has_aux: Literal[False] = False,
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, P], tuple[X]]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[X, X1, P], Array],
    argnums: FirstTwo,
    has_aux: Literal[False] = False,
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, X1, P], tuple[X, X1]]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[X, X1, P], tuple[Array, Aux]],
    argnums: FirstTwo,
    *,
    has_aux: Literal[True],
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, X1, P], tuple[tuple[X, X1], Aux]]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[X, X1, X2, P], Array],
    argnums: FirstThree,
    has_aux: Literal[False] = False,
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, X1, X2, P], tuple[X, X1, X2]]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[X, P], tuple[Array, ...]],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, P], tuple[X, ...]]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[X, P], list[Array]],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, P], list[X]]: ...
@overload
def jacfwd(
    func: Callable[Concatenate[X, P], dict[K, Array]],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    **options: Unpack[JacfwdOptions],
) -> Callable[Concatenate[X, P], dict[K, X]]: ...
@overload
def jacfwd(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    **options: Unpack[JacfwdOptions],
) -> Callable[P, Any]: ...
@explain_unknown_keywords()
def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: Randomness = "error",
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `func`, one Jacobian-vector product per input element.

    - `func`: a function of trees of floating or complex arrays that returns a tree of arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(jacobian, aux)` comes back.
    - `randomness`: what draws from the ambient generator give in the columns: `"error"` refuses
      them, `"same"` gives all columns the same numbers, which is the derivative of one random
      function, `"different"` gives each column its own.
    - `chunk_size`: how many columns are computed at once; fewer need less memory and more time.
      None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `as_real`: whether complex leaves count as two reals, in last dimensions of size 2:
      `c64[*n] -> c64[*m]` gives `f32[*m, 2, *n, 2]`.

    Shapes: `func: [*n] -> [*m]` gives `[*m, *n]`. A tree of outputs is the outer tree of the
    result, a tuple of `argnums` the next, and the trees of the arguments the inner one.
    Dtypes: those of the outputs. A complex output of complex inputs has its complex derivative; a
    complex output of real inputs is fine, and a real output of complex inputs is refused: use
    `jacrev`, or `as_real=True`. With `randomness="different"`, holomorphy is not checked.
    Errors: TypeError for integer inputs; ValueError where a function of complex inputs is not
    holomorphic, for a `chunk_size` below 1, and for `max_bytes` without `"auto"`; RuntimeError for
    draws with `randomness="error"`.

    Prefer `jacrev` when inputs outnumber outputs.

    >>> functx.jacfwd(lambda x: x**2)(jnp.asarray([1, 2], "float32"))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    return forward_jacobian(
        "jacfwd", func, argnums, has_aux, randomness, chunk_size, max_bytes, as_real=as_real
    )


@overload
def hessian(
    func: Callable[Concatenate[Array, P], Array],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[Array, P], Array]: ...
@overload
def hessian(
    func: Callable[Concatenate[Array, P], tuple[Array, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[Array, P], tuple[Array, Aux]]: ...
@overload
def hessian(
    func: Callable[Concatenate[X, Array, P], Array],
    argnums: Literal[1],
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[X, Array, P], Array]: ...
@overload
def hessian(
    func: Callable[Concatenate[Array, Array, P], Array],
    argnums: FirstTwo,
    *,
    has_aux: Literal[False] = False,
    **options: Unpack[JacobianOptions],
) -> Callable[Concatenate[Array, Array, P], tuple[tuple[Array, Array], tuple[Array, Array]]]: ...
@overload
def hessian(
    func: Callable[Concatenate[Array, Array, P], tuple[Array, Aux]],
    argnums: FirstTwo,
    *,
    has_aux: Literal[True],
    **options: Unpack[JacobianOptions],
) -> Callable[
    Concatenate[Array, Array, P], tuple[tuple[tuple[Array, Array], tuple[Array, Array]], Aux]
]: ...
@overload
def hessian(
    func: Callable[P, Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    **options: Unpack[JacobianOptions],
) -> Callable[P, Any]: ...
@explain_unknown_keywords()
def hessian(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | str | None = None,
    max_bytes: int | None = None,
    as_real: bool = False,
) -> Callable[..., Any]:
    """The second derivative of `func`: `jacfwd` of `jacrev`, forward over reverse mode.

    - `func`: a function of trees of floating or complex arrays that returns a tree of them.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.
    - `has_aux`: whether `func` returns `(output, aux)`, so that `(hessian, aux)` comes back.
    - `chunk_size`: how many Hessian-vector products are computed at once; fewer need less memory
      and more time. None is all; `"auto"` takes as many as fit into `max_bytes`.
    - `max_bytes`: the bound for `"auto"`, by an upper estimate. None is 1 GiB.
    - `as_real`: whether complex leaves count as two reals, in last dimensions of size 2.

    Shapes: `func: [*n] -> [*m]` gives `[*m, *n, *n]`. A tree of outputs is the outer tree of the
    result; a tuple of `argnums` and the trees of the arguments come next, twice.
    Dtypes: those of the outputs and inputs promoted. Without `as_real`, complex outputs of complex
    inputs (holomorphic) and real outputs of real inputs have a Hessian; `hvp` takes real functions
    of complex inputs.
    Errors: TypeError for integers, ValueError for functions that are not holomorphic, a
    `chunk_size` below 1, and `max_bytes` without `"auto"`.

    >>> functx.hessian(lambda x: (x**3).sum())(jnp.asarray([1, 2], "float32"))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    rows = reverse_jacobian(
        "hessian", func, argnums, has_aux, None, None, require_holomorphic_pairs, as_real=as_real
    )
    return forward_jacobian(
        "hessian", rows, argnums, has_aux, None, chunk_size, max_bytes, as_real=as_real, judged=True
    )

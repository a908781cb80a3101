"""Linear systems given by a function, differentiated by their equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.flatten_util import ravel_pytree

from functx._core import category, describe, fail
from functx._core.rules.custom_derivatives import derivative_rules
from functx._transforms.arguments import require_bools
from functx._transforms.numbers import as_array, as_arrays, giving_arrays, is_python_number

from .closures import explicit, Solver


__all__ = ["custom_linear_solve"]

LinearFunction = Callable[[Any], Any]
LinearSolve = Callable[[LinearFunction, Any], Any]
Closed = Callable[..., Any]  # a function of what the map closes over, and of the unknown


def custom_linear_solve(
    matvec: LinearFunction,
    b: Any,
    solve: LinearSolve | None = None,
    *,
    transpose_solve: LinearSolve | None = None,
    symmetric: bool = False,
) -> Any:
    r"""The $x$ with `matvec(x)` $= b$, whose derivatives solve systems of the same kind.

    The derivatives follow from the equation, $\dot x = A^{-1}(\dot b - \dot A x)$, and its
    transpose, so that the steps of `solve` are never differentiated: it may be a loop, or a call to
    NumPy.

    - `matvec`: a linear function from a tree of arrays to one like it. Derivatives in whatever it
      closes over are those of the matrix.
    - `b`: the right-hand side, a tree of floating or complex arrays.
    - `solve(matvec, b)`: returns the solution. None makes the matrix, a column for each call of
      `matvec`, and solves by LU decomposition: for up to some thousand unknowns.
    - `transpose_solve(vecmat, b)`: solves the transposed system, which reverse mode needs. None is
      `solve`, given the transposed map.
    - `symmetric`: whether `matvec` is its own transpose.

    Shapes and dtypes: those of `b`.
    Errors: ValueError if `matvec(b)` or the solution is not like `b`.

    >>> def derivative(x):  # of a cord that is fixed at its ends
    ...     return 2 * x - jnp.pad(x[1:], (0, 1)) - jnp.pad(x[:-1], (1, 0))
    >>> b = jnp.ones(3, "float32")
    >>> functx.implicit.custom_linear_solve(derivative, b, symmetric=True).round(4)
    Array([1.5, 2. , 1.5], dtype=float32)
    """
    who = "custom_linear_solve"
    for name, func in [("matvec", matvec), ("solve", solve), ("transpose_solve", transpose_solve)]:
        if not callable(func) and (func is not None or name == "matvec"):
            fail(who, f"`{name}` must be callable, got {describe(func)}", error=TypeError)
    require_bools(who, symmetric=symmetric)
    b = like_result(matvec, b)
    require_inexact(who, "b", b)
    require_like(who, "`matvec(b)`", jax.eval_shape(giving_arrays(matvec), b), b)
    forward = Solver(who, "solve", "matvec", solve or dense_solve)
    back = Solver(who, "transpose_solve", "matvec", transpose_solve) if transpose_solve else forward
    return solved(matvec, b, forward, back, symmetric=symmetric)


def solved(
    matvec: LinearFunction, b: Any, forward: Solver, backward: Solver, *, symmetric: bool = False
) -> Any:
    """The solution of `matvec(x) = b` by `forward`, of the transposed system by `backward`."""
    function, closed = explicit(matvec, b)
    transposed = function if symmetric else _transposed(function)
    return _system(function, transposed, forward, backward)(b, *closed)


def _system(function: Closed, transposed: Closed, solver: Solver, back: Solver) -> Any:
    """A function from `(b, *closed)` to the solution of `function(closed, x) = b`.

    Its rules call it again, so that they have derivatives too. JAX's `lax.custom_linear_solve`
    fails where only a part of what it is transposed over has a cotangent.
    """

    def forward(b: Any, active: Any, fixed: Any) -> Any:
        found = numbers_like(solver.solve(lambda x: function((active, fixed), x), b), b)
        require_like(solver.who, f"what `{solver.name}` returns", found, b)
        return found

    def jvp(primals: Any, x: Any, tangents: Any) -> Any:
        _, active, fixed = primals
        along = (active,), (tangents[1],)
        change = jax.jvp(lambda active: function((active, fixed), x), *along)[1]
        return system(jax.tree.map(lax.sub, tangents[0], change), active, fixed)

    def vjp(primals: Any, x: Any, cotangent: Any) -> Any:
        _, active, fixed = primals
        pulled = _system(transposed, function, back, solver)(cotangent, active, fixed)
        pull = jax.vjp(lambda active: function((active, fixed), x), active)[1]
        return pulled, jax.tree.map(jnp.negative, *pull(pulled)), None

    ruled = derivative_rules(forward, jvp=jvp, vjp=vjp, name=solver.who)

    def system(*args: Any) -> Any:
        with solver.running():
            return ruled(*args)

    return system


def _transposed(function: Closed) -> Closed:
    def transposed(closed: Any, y: Any) -> Any:
        return jax.linear_transpose(lambda x: function(closed, x), y)(y)[0]

    return transposed


def dense_solve(matvec: LinearFunction, b: Any) -> Any:
    """Solves by LU decomposition of the matrix of `matvec`, over the real numbers.

    A map of complex numbers need be linear over the real ones only, as derivatives are.
    """
    right, unravel = _real_vector(b)
    units = jnp.eye(right.size, dtype=right.dtype)
    columns = jax.vmap(lambda unit: _real_vector(matvec(unravel(unit)))[0], 0, 1)(units)
    return unravel(jnp.linalg.solve(columns, right))


def _real_vector(tree: Any) -> tuple[Array, Callable[[Array], Any]]:
    """All numbers of a tree as one real vector, and the way back."""
    leaves, structure = jax.tree.flatten(tree)
    parts = [(x.real, x.imag) if jnp.iscomplexobj(x) else (x,) for x in leaves]
    vector, unravel = ravel_pytree(parts)

    def back(vector: Array) -> Any:
        whole = [p[0] if len(p) == 1 else lax.complex(*p) for p in unravel(vector)]
        return structure.unflatten(whole)

    return vector, back


def like_result(func: Callable[[Any], Any], given: Any) -> Any:
    """`given`, an argument of `func`, as arrays; its numbers in the dtypes that `func` returns.

    These are what the numbers meet in `func`. Where it returns no tree like `given`, or meets
    nothing, they have the default dtype.
    """
    arrays = jax.tree.map(lambda x: jnp.asarray(as_array(x)), given)
    if not any(map(is_python_number, jax.tree.leaves(given))):
        return arrays

    def type_of(x: Any, array: Array) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(array.shape, array.dtype, weak_type=is_python_number(x))

    result = jax.eval_shape(func, jax.tree.map(type_of, given, arrays))
    return jax.tree.map(jnp.asarray, numbers_like(given, result))


def numbers_like(tree: Any, like: Any) -> Any:
    """`tree` as arrays, its floats and complex numbers in the dtypes of `like`, a tree alike."""
    if jax.tree.structure(tree) != jax.tree.structure(like):
        return as_arrays(tree)
    return jax.tree.map(_number_like, tree, like)


def _number_like(x: Any, like: Any) -> Any:
    """A number in the dtype of `like`, an array, if that holds it; an array as it is."""
    floating = is_python_number(x) and isinstance(x, (float, complex))
    if floating and category(like.dtype) >= category(type(x)) and not like.weak_type:
        return jnp.asarray(x, like.dtype)
    return as_array(x)


def require_like(who: str, what: str, got: Any, like: Any) -> None:
    """Refuses a tree whose structure, shapes or dtypes differ from those of `like`."""
    if jax.tree.structure(got) != jax.tree.structure(like):
        expected = jax.tree.structure(like)
        fail(
            who,
            f"{what} must be a tree like {expected}, got {jax.tree.structure(got)}",
            error=ValueError,
        )
    for (path, x), y in zip(
        jax.tree_util.tree_leaves_with_path(got), jax.tree.leaves(like), strict=True
    ):
        if jnp.shape(x) != jnp.shape(y) or jnp.result_type(x) != jnp.result_type(y):
            where = jax.tree_util.keystr(path)
            fail(
                who,
                f"{what}{where and f' at {where}'} must be {describe(jnp.asarray(y))}, "
                f"got {describe(x)}",
                error=ValueError,
            )


def require_inexact(who: str, name: str, tree: Any) -> None:
    """Refuses a tree in which a leaf has no derivative."""
    for path, x in jax.tree_util.tree_leaves_with_path(tree):
        if not jnp.issubdtype(jnp.result_type(x), jnp.inexact):
            fail(
                who,
                f"`{name}{jax.tree_util.keystr(path)}` must be floating or complex, "
                f"got {describe(x)}",
                error=TypeError,
            )

"""The patterns of Jacobians and Hessians, found by tracing or by probing."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import scipy.sparse as sp
from jax.core import Tracer

from functx._core import describe, explain_unknown_keywords, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._transforms.arguments import Argnums
from functx._transforms.jacobian_assembly import forward_jacobian
from functx._transforms.programs.recording import record
from functx._transforms.programs.walking import type_of
from functx._transforms.tangents import LeafType

from .calls import DerivativeOf, LinearProgram, pulling, pushing, size_of
from .equations import TracedValue, UNKNOWN
from .patterns import SparsityPattern
from .row_sets import identity_rows, no_rows
from .tracing import DependenceTracing


def jacobian_pattern(
    func: Callable[..., Any], argnums: Argnums = 0
) -> Callable[..., SparsityPattern]:
    """The pattern of the Jacobian of `func`: which outputs may depend on which inputs.

    Nothing is computed at the arguments: the program of the derivative is recorded, and the set of
    inputs that each element depends on goes through it, equation by equation. The pattern holds for
    all values of all arguments; it may be too large, never too small. Arrays that `func` closes
    over are constants whose values count: what is multiplied with their zeros or read at their
    indices is told apart. So close over masks and indices, and pass what varies.

    - `func`: a function of trees of real arrays that returns a tree of real arrays.
    - `argnums`: the arguments to differentiate: a position (negative counts from the end), the name
      of an argument, or a tuple of those.

    Returns a function of the arguments of `func`, of which arrays may be `jax.ShapeDtypeStruct`s.
    Shapes: `func: [*n] -> [*m]` has a `SparsityPattern` of `prod(m)` rows and `prod(n)` columns.
    Errors: TypeError for integer or complex arguments and complex outputs, ValueError for symbolic
    sizes, RuntimeError for a pattern of more than 2^29 entries.

    Source: A. Griewank and A. Walther, "Evaluating Derivatives", SIAM 2008, section 7.1.

    >>> functx.sparsity.jacobian_pattern(lambda x: x[1:] * x[:-1])(jnp.zeros(4)).to_dense() * 1
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    return pattern_of(DerivativeOf.checked("jacobian_pattern", func, argnums, "jacobian"))


def hessian_pattern(
    func: Callable[..., Any], argnums: Argnums = 0
) -> Callable[..., SparsityPattern]:
    """The pattern of the Hessian of `func`: which two inputs `func` ties together nonlinearly.

    It is the pattern of the gradient's Jacobian, made symmetric: linear operations leave nothing in
    the gradient's derivative, and a nonlinear one of some inputs leaves their pairs. All that
    `jacobian_pattern` says of constants holds here.

    - `func`: a function of trees of real arrays that returns one real scalar.
    - `argnums`: the arguments to differentiate, as `jacobian_pattern` takes them.

    Returns a function of the arguments of `func`.
    Shapes: `func: [*n] -> []` has a symmetric `SparsityPattern` of `prod(n)` rows and columns.
    Errors: those of `jacobian_pattern`, and ValueError for outputs that are no scalars.

    >>> functx.sparsity.hessian_pattern(lambda x: (x[0] * x[1] + x[2]).sum())(jnp.zeros(3))
    SparsityPattern([3, 3], 2 entries)
    """
    return pattern_of(DerivativeOf.checked("hessian_pattern", func, argnums, "hessian"))


@explain_unknown_keywords()
def probed_pattern(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    points: int = 3,
    seed: int = 0,
    scale: float = 0.1,
) -> Callable[..., SparsityPattern]:
    """The entries of the dense Jacobian of `func` that are not zero at some of a few points.

    It is exact where tracing is too cautious, at the price of a dense Jacobian, and may be too
    small: an entry that is zero at all the points is missing. Use it to judge a traced pattern, or
    `traced & probed` where that risk is accepted; `check=True` of `functx.sparsity.jacfwd` refuses
    a pattern that is too small for a call. Of a Hessian, probe the gradient,
    `probed_pattern(functx.grad(func))`.

    - `func`, `argnums`: as `jacobian_pattern` takes them.
    - `points`: how many points: the arguments, and others near them.
    - `seed`: of the random numbers.
    - `scale`: how far the others are: argument `x` becomes `x + scale * (1 + |x|) * normal`.

    Returns a function of the arguments of `func`. A point with an entry that is NaN is left out.
    Errors: those of `jacobian_pattern`; ValueError for less than one point, RuntimeError where all
    points give NaN, and while being traced.

    >>> functx.sparsity.probed_pattern(lambda x: jnp.cumsum(x))(jnp.ones(3)).nnz
    6
    """
    of = DerivativeOf.checked("probed_pattern", func, argnums, "jacobian")
    if type(points) is not int or points < 1:
        fail(of.who, f"`points` must be a positive int, got {describe(points)}", error=ValueError)

    @ft.wraps(func)
    def probed(*args: Any, **kwargs: Any) -> SparsityPattern:
        call = of.at(args, kwargs)
        leaves = jax.tree.leaves(call.values)
        if any(isinstance(x, Tracer) for x in leaves):
            fail(of.who, "the arguments are being traced, and have no values to probe at")
        rng, found = np.random.default_rng(seed), []
        jacobian = forward_jacobian(
            of.who,
            call.function,
            tuple(range(len(call.values))),
            False,
            None,
            None,
            None,
            as_real=False,
        )
        for point in range(points):
            near = [_near(x, rng, scale) if point else x for x in leaves]
            matrix = _dense(jacobian(*call.structure.unflatten(near)), call.inputs)
            if not np.isnan(matrix).any():
                found.append(matrix != 0)
        if not found:
            fail(of.who, f"the Jacobian has NaN at each of the {points} points")
        return SparsityPattern(np.any(found, axis=0))

    return probed


def _near(x: Any, rng: np.random.Generator, scale: float) -> Any:
    noise = np.asarray(rng.standard_normal(x.shape))
    return (x + (scale * (1 + abs(x)) * noise)).astype(x.dtype)


def _dense(jacobian: Any, inputs: tuple[LeafType, ...]) -> np.ndarray:
    """Blocks `[*output, *input]`, for each output those of all inputs, as one matrix."""
    blocks, rows = jax.tree.leaves(jacobian), []
    for start in range(0, len(blocks), len(inputs)):
        of_output = zip(blocks[start : start + len(inputs)], inputs, strict=True)
        rows.append(np.hstack([np.asarray(b).reshape(-1, _size(x)) for b, x in of_output]))
    return np.vstack(rows)


def _size(x: LeafType) -> int:
    return int(np.prod(x.shape, dtype=int))


def pattern_of(of: DerivativeOf) -> Callable[..., SparsityPattern]:
    """The pattern of a derivative, as a function of the arguments."""

    @ft.wraps(of.func)
    @outside_grad_mode
    def pattern(*args: Any, **kwargs: Any) -> SparsityPattern:
        try:
            matrix, coarse = _traced(of.who, pushing(of, args, kwargs))
        except TypeError as error:
            if "custom_vjp" not in str(error):  # a function of JAX's that has no forward mode
                raise
            matrix, coarse = _traced(of.who, pulling(of, args, kwargs))
            matrix = matrix.T
        if of.kind == "hessian":
            matrix = matrix + matrix.T
        return SparsityPattern(matrix, coarse=coarse)

    return pattern


def _traced(who: str, linear: LinearProgram) -> tuple[Any, tuple[str, ...]]:
    """The sets of a derivative's results, as one matrix."""
    inputs = size_of(who, linear.vectors)
    program = record(linear.function, *linear.specs)
    types = [*map(type_of, program.jaxpr.outvars)]
    results = [LeafType(x.shape, x.dtype) for x in types]
    size_of(who, results)
    tracing, start, given = DependenceTracing(who, inputs), 0, []
    for x in linear.vectors:
        given.append(TracedValue(identity_rows(start, _size(x), inputs)))
        start += _size(x)
    unknown = [UNKNOWN] * (len(program.jaxpr.invars) - len(given))
    with jax.ensure_compile_time_eval():
        found = tracing.run(program, [*given, *unknown])
    rows = [
        no_rows(_size(x), inputs) if value.rows is None else value.rows
        for value, x in zip(found, results, strict=True)
    ]
    return sp.vstack(rows, format="csr"), tuple(tracing.coarse)

"""`check_function`: a `Function`'s rules against each other and against finite differences."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx import Function
from functx._core import describe, fail
from functx._transforms.functions.applied import AppliedFunction
from functx._transforms.functions.binding import bound
from functx._transforms.functions.layout import layout_of
from functx._transforms.functions.rules import FunctionRules, rules_of
from functx._transforms.functions.trees import is_made_array
from functx._transforms.programs.dependence import depending_outputs
from functx.testing.hiding import of_findings

from .analytical import forward_blocks, pullback, reverse_blocks
from .comparison import failed, GradcheckError, Tolerances
from .numerical import basis, numerical_blocks
from .point import inexact, Point, point_of
from .precision import narrow, narrowest, widened


__tracebackhide__ = of_findings


def check_function(
    function: type[Function],
    *args: Any,
    eps: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
) -> None:
    """Asserts that the rules of `function`, a `functx.Function`, are right at `args`.

    Its `backward` and its `jvp`, those that it has, are held against finite differences of its
    values and against each other, element by element; its `vmap`, if it has one, against one lane
    after the other. Outputs that are marked as non-differentiable are left out.

    - `args`: as for `function.apply`, small. Integers and what is no array are passed on.
    - `eps`, `atol`, `rtol`: of the differences and the comparisons. By default 1e-6, 1e-5 and 1e-3
      if all arrays that are differentiated are in double precision, otherwise 1e-2, 1e-2 and 2e-2.

    In single precision, where differences are rough, the same numbers are then checked in double
    precision too, with 1e-4, 1e-5 and 1e-3, also with 64 bit off; not if the function does not
    compute in it, nor if `eps`, `atol` or `rtol` is given.

    A function that casts to float32 or less inside is judged at the rough tolerances alone: a rule
    of it that is 1 % off passes. Check it without the cast, or give `rtol`.

    Raises `GradcheckError` (a `RuntimeError`) that says which rule is wrong, for which input and
    which output. Rules are linear in cotangents and tangents or wrong; of second derivatives
    `gradgradcheck` judges.

    >>> class Square(functx.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**2
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad_output
    >>> functx.testing.check_function(Square, jnp.arange(3.0))
    """
    if not (isinstance(function, type) and issubclass(function, Function)):
        fail(
            "check_function",
            f"`function` must be a subclass of functx.Function, got {describe(function)}",
            hint="gradcheck(f, inputs) checks any function",
            error=TypeError,
        )
    rules = rules_of(function, Function)

    point = _point(function, args)
    double = all(x.dtype in (np.float64, np.complex128) for x in point.inputs)
    step, absolute, relative = _IN_DOUBLE if double else _IN_SINGLE
    tolerances = Tolerances(
        absolute if atol is None else atol, relative if rtol is None else rtol, 0.0
    )
    _hold(point, rules, step if eps is None else eps, tolerances)
    if not double and eps is atol is rtol is None:
        _hold_widened(function, args, rules)


_IN_DOUBLE, _IN_SINGLE = (1e-6, 1e-5, 1e-3), (1e-2, 1e-2, 2e-2)
_WIDENED_STEP = 1e-4  # what is written for single precision may stop at errors of 1e-7


def _point(function: type[Function], args: tuple[Any, ...]) -> Point:
    def arrays(*args: Any) -> list[Any]:
        return [y for y in jax.tree.leaves(function.apply(*args)) if is_made_array(y)]

    names = [f"args[{i}]" for i in range(len(args))]
    return point_of(f"check_function({function.__name__})", arrays, args, names=names)


def _hold(point: Point, rules: FunctionRules, eps: float, tolerances: Tolerances) -> None:
    _hold_derivatives(point, rules, eps, tolerances)
    if rules.vmap is not None:
        _hold_lanes(point, tolerances)


def _hold_widened(function: type[Function], args: tuple[Any, ...], rules: FunctionRules) -> None:
    """The rules are right in double precision, if the function computes in it."""
    _, absolute, relative = _IN_DOUBLE
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda x: widened(x) if is_made_array(x) and inexact(x) else x, args)
        try:
            point = _point(function, wide)
            if any(map(narrow, filter(inexact, point.outputs))) or _narrows(rules, wide):
                return
            _hold(point, rules, _WIDENED_STEP, Tolerances(absolute, relative, 0.0))
        except GradcheckError as error:
            error.add_note("This is of the same numbers in double precision")
            raise
        except Exception:  # it is made for other dtypes, in which it has passed
            return


def _narrows(rules: FunctionRules, args: tuple[Any, ...]) -> bool:
    """Whether `forward` leaves double precision inside."""
    layout, operands = layout_of(*bound(rules, args, {}))
    forward = lambda *leaves: AppliedFunction(layout).run((), leaves)
    return narrowest(forward, operands) is not None


def _hold_derivatives(
    point: Point, rules: FunctionRules, eps: float, tolerances: Tolerances
) -> None:
    which = _moving_outputs(point)
    bases = [basis(x) for x in point.inputs]
    given: dict[str, dict[tuple[int, int], np.ndarray]] = {}
    if rules.backward is not None and which:
        pull = pullback(point)
        rows = {i: reverse_blocks(point, pull, i, basis(point.outputs[i])) for i in which}
        given["backward"] = {(i, j): rows[i][j] for i in which for j in range(len(bases))}
    if rules.jvp is not None:
        columns = [forward_blocks(point, j, u, which) for j, u in enumerate(bases)]
        given["jvp"] = {(i, j): columns[j][i] for i in which for j in range(len(bases))}
    told: list[str] = []
    for j, u in enumerate(bases):
        values = numerical_blocks(point, j, u, eps, which)
        for i in which:
            blocks = {rule: block[i, j] for rule, block in given.items()}
            told += _judged(point, i, j, blocks, values[i], tolerances)
    if told:
        hint = "rows are elements of the output, columns of the input, complex ones as two"
        failed(point.who, "\n".join(told), hint)


def _judged(
    point: Point,
    i: int,
    j: int,
    blocks: dict[str, np.ndarray],
    numerical: np.ndarray,
    tolerances: Tolerances,
) -> Iterator[str]:
    wrong = {rule for rule, x in blocks.items() if not tolerances.close(x, numerical)}
    if not wrong:
        return
    others = [rule for rule in blocks if rule not in wrong]
    named = " and ".join(f"`{rule}`" for rule in sorted(wrong))
    beside = ""
    if others:
        beside = f"; `{others[0]}` agrees with finite differences"
    elif len(wrong) == 2 and tolerances.close(blocks["jvp"], blocks["backward"]):
        beside = (
            "; they agree with each other, so that `forward` may be what is wrong, or the point"
        )
    rows = np.prod(numerical.shape[:2], dtype=int)
    shown = {**{rule: blocks[rule] for rule in sorted(wrong)}, "finite differences": numerical}
    matrices = [f"{name}:\n{block.reshape(rows, -1)}" for name, block in shown.items()]
    verb = "are" if len(wrong) == 2 else "is"
    what = f"output {i} with respect to input {j} (`{point.names[j]}`)"
    yield "\n".join([f"{named} {verb} wrong for {what}{beside}", *matrices])


def _moving_outputs(point: Point) -> list[int]:
    """The outputs that have tangents: neither integers nor marked."""
    push = jax.linearize(point, *point.inputs)[1]
    depends = depending_outputs(jax.make_jaxpr(push)(*point.inputs).jaxpr)
    return [i for i, does in enumerate(depends) if does and inexact(point.outputs[i])]


def _hold_lanes(point: Point, tolerances: Tolerances) -> None:
    """The rule for lanes, for any choice of inputs that have lanes, gives what a loop gives."""
    count = len(point.inputs)
    lanes = [jnp.stack([x, x * 0.5, x + 0.125]) for x in point.inputs]
    for dims in itertools.product((0, None), repeat=count):
        if all(dim is None for dim in dims):
            continue
        given = [
            x if dim == 0 else one for x, one, dim in zip(lanes, point.inputs, dims, strict=True)
        ]
        got = jax.vmap(point, dims)(*given)
        each = [point(*_lane(given, dims, k)) for k in range(3)]
        for i, (y, want) in enumerate(
            zip(got, map(np.stack, zip(*each, strict=True)), strict=True)
        ):
            if y.shape != want.shape or not tolerances.close(y, want):
                failed(
                    point.who,
                    f"`vmap` is wrong for output {i}, where the arrays that are differentiated "
                    f"have in_dims={dims}\nvmap:\n{y}\none lane after the other:\n{want}",
                )


def _lane(given: Sequence[Any], dims: Sequence[int | None], k: int) -> list[Any]:
    return [x[k] if dim == 0 else x for x, dim in zip(given, dims, strict=True)]

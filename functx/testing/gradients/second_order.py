"""`gradgradcheck`: `gradcheck` of the gradient, as a function of inputs and cotangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from functx import vjp
from functx._core.context.grad_modes import without_grad_mode
from functx._transforms.arguments import kind_of
from functx._transforms.tangents import matched
from functx.testing.hiding import of_findings

from .checks import Checks, require_one_of, require_option
from .comparison import Tolerances, verdict
from .point import ArrayTuple, Point, point_of, warn_of_low_precision


__tracebackhide__ = of_findings


@without_grad_mode
def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
    argnums: int | tuple[int, ...] | None = None,
) -> bool:
    r"""Whether the second derivatives of `func` are those of its gradient, by differences.

    The function of `inputs` and `grad_outputs` that gives the gradient of the inputs is checked as
    by `gradcheck`: $|a - n| \le \mathrm{atol} + \mathrm{rtol}\,|n|$ for each element $a$ of its
    Jacobian by the derivative rules and $n$ by central differences. Whether the gradient itself is
    right is for `gradcheck` to find out. In messages `grad_outputs` count as inputs, after the
    others.

    - `func`: takes the inputs, returns a tree of arrays. It is called as it is, eagerly.
    - `inputs`: a tuple of arguments, trees of arrays, or a single one. Floating and complex arrays
      are differentiated, in double precision if the check is to mean something.
    - `grad_outputs`: cotangents, a tree like the output of `func`; integer outputs have None. None
      draws random numbers between -1 and 1.
    - `argnums`: the arguments to differentiate, a position or several; None is all.
    - `eps`: how far elements move, up and down; `atol`, `rtol`: of the comparison.
    - `raise_exception`: False returns False where the check fails. Other exceptions propagate.
    - `nondet_tol`: how much two runs of reverse mode may differ.
    - `check_rev_over_rev`, `check_fwd_over_rev`: whether to check reverse and forward mode over
      reverse mode.
    - `check_undefined_grad`: whether cotangents that are known to be zero must do what zeros do.
    - `check_grad_dtypes`: whether gradients must have the dtypes of the inputs.
    - `check_batched_grad`: whether `vmap` over cotangents must give what a loop gives.
    - `fast_mode`: whether random projections of each Jacobian, $v^\top J u$, are compared instead
      of all its elements.
    - `masked`: changes nothing: the stored values of a sparse input, a `BCOO`, are differentiated.
    - `gen_non_contig_grad_outputs`: no meaning for JAX's arrays, which have no strides.

    Errors: `GradcheckError` (a RuntimeError) where the check fails; ValueError if nothing is
    differentiated; AssertionError for options that contradict each other, as `check_undefined_grad`
    or `check_batched_grad` without `check_rev_over_rev`, and for outputs whose shape or dtype
    changes when inputs move.

    >>> from functx.testing import gradgradcheck
    >>> gradgradcheck(functx.sin, jnp.arange(3, dtype="float64"), check_fwd_over_rev=True)
    True
    """
    del gen_non_contig_grad_outputs, masked
    who, forward, reverse = "gradgradcheck", check_fwd_over_rev, check_rev_over_rev
    require_one_of(who, check_fwd_over_rev=forward, check_rev_over_rev=reverse)
    require_option(who, check_undefined_grad, reverse, "check_undefined_grad", "check_rev_over_rev")
    require_option(who, check_batched_grad, reverse, "check_batched_grad", "check_rev_over_rev")
    checks = Checks(
        eps,
        Tolerances(atol, rtol, nondet_tol),
        fast_mode,
        undefined_grad=check_undefined_grad,
        grad_dtypes=check_grad_dtypes,
        batched_grad=check_batched_grad,
        batched_forward_grad=False,
        forward_ad=forward,
        backward_ad=reverse,
    )
    point = point_of(who, func, inputs, argnums)
    if not point.inexact:
        return True
    given = _random(point) if grad_outputs is None else _given(point, grad_outputs)
    gradient = _gradient_point(point, given)
    warn_of_low_precision(gradient)
    return verdict(raise_exception, lambda: checks.hold(gradient, every=True))


def _gradient_point(point: Point, given: dict[int, Any]) -> Point:
    """The gradient at `point`, as a function of its inputs and of cotangents, there `given`."""
    count = len(point.inputs)

    def gradient(*leaves: Any) -> ArrayTuple:
        cotangents = dict(zip(given, leaves[count:], strict=True))
        return vjp(point, *leaves[:count])[1](point.cotangents(cotangents))

    names = [f"grad_outputs[{k}]" for k in range(len(given))]
    return point_of(
        point.who, gradient, (*point.inputs, *given.values()), names=[*point.names, *names]
    )


def _random(point: Point) -> dict[int, Any]:
    random = np.random.default_rng(5)

    def drawn(y: Any) -> Any:
        parts = random.uniform(-1, 1, (2, *y.shape))
        number = parts[0] + 1j * parts[1] if kind_of(y) == "complex" else parts[0]
        return jnp.asarray(np.asarray(number, y.dtype))

    return {i: drawn(point.outputs[i]) for i in point.inexact}


def _given(point: Point, grad_outputs: Any) -> dict[int, Any]:
    leaves = matched(
        point.who,
        "grad_outputs",
        grad_outputs,
        point.outputs,
        point.structure,
        "the output of `func`",
    )
    return {i: leaves[i] for i in point.inexact}

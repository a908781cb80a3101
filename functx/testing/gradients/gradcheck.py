"""`gradcheck`: derivatives by the rules, against finite differences of the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from functx._core import require_bool
from functx._core.context.grad_modes import without_grad_mode
from functx.testing.hiding import of_findings

from .checks import Checks, require_one_of, require_option
from .comparison import Tolerances, verdict
from .point import point_of, warn_of_low_precision


__tracebackhide__ = of_findings


@without_grad_mode
def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    argnums: int | tuple[int, ...] | None = None,
) -> bool:
    r"""Whether the derivatives of `func` at `inputs` are those of its values, by differences.

    Holds $|a - n| \le \mathrm{atol} + \mathrm{rtol}\,|n|$ for each element $a$ of a Jacobian by
    the derivative rules and $n$ by central differences, $(f(x + \epsilon e) - f(x - \epsilon
    e)) / 2 \epsilon$.

    - `func`: takes the inputs, returns a tree of arrays. It is called as it is, eagerly, so it
      may call NumPy or look at values; `jax.jit(func)` is checked faster.
    - `inputs`: a tuple of arguments, trees of arrays, or a single one. Floating and complex
      arrays are differentiated, in double precision if the check is to mean something; integers,
      Python numbers and what is no array are passed on.
    - `argnums`: the arguments to differentiate, if not all.
    - `eps`, `atol`, `rtol`: of the differences and the comparison.
    - `raise_exception`: False returns False where the check fails. Other exceptions propagate.
    - `nondet_tol`: how much two runs of reverse mode may differ.
    - `check_undefined_grad`: cotangents, and with `check_forward_ad` tangents, that are known to
      be zero do what zeros do.
    - `check_grad_dtypes`: gradients have the dtypes of the inputs.
    - `check_batched_grad`, `check_batched_forward_grad`: `vmap` over cotangents, or tangents,
      gives what a loop gives.
    - `check_forward_ad`, `check_backward_ad`: the modes to check.
    - `fast_mode`: random projections of each Jacobian, $v^\top J u$, instead of all its elements.
    - `masked`: of a sparse input, a `BCOO`: True moves and compares its stored values alone. False
      or None, the default, moves every element, and one that is not stored must have no influence,
      since its gradient is zero. It changes nothing for dense arrays.

    Complex: derivatives by the real and by the imaginary part of each element. A gradient of a
    complex output is that of its real part, and of its imaginary part; gradients and cotangents
    are in PyTorch's convention, that of `functx.vjp`.

    Errors: `GradcheckError` (a `RuntimeError`) where the check fails; ValueError if nothing is
    differentiated; AssertionError for options that contradict each other, and for outputs whose
    shape or dtype changes when inputs move.

    >>> from functx.testing import gradcheck
    >>> gradcheck(functx.sin, jnp.arange(3, dtype="float64"), check_forward_ad=True)
    True
    >>> gradcheck(lambda x: x + jax.lax.stop_gradient(x), jnp.ones(3), raise_exception=False)
    False
    """
    who, forward, reverse = "gradcheck", check_forward_ad, check_backward_ad
    require_one_of(who, check_forward_ad=forward, check_backward_ad=reverse)
    require_option(who, check_batched_grad, reverse, "check_batched_grad", "check_backward_ad")
    require_option(
        who, check_batched_forward_grad, forward, "check_batched_forward_grad", "check_forward_ad"
    )
    checks = Checks(
        eps,
        Tolerances(atol, rtol, nondet_tol),
        fast_mode,
        undefined_grad=check_undefined_grad,
        grad_dtypes=check_grad_dtypes,
        batched_grad=check_batched_grad,
        batched_forward_grad=check_batched_forward_grad,
        forward_ad=forward,
        backward_ad=reverse,
    )
    if masked is not None:
        require_bool(who, "masked", masked)
    point = point_of(who, func, inputs, argnums, masked=bool(masked))
    warn_of_low_precision(point)
    return verdict(raise_exception, lambda: checks.hold(point))

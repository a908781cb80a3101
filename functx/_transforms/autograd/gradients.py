"""Gradients of chosen inputs, with the arguments and the refusals of `torch.autograd.grad`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, explain_unknown_keywords, fail
from functx._core.context.grad_modes import outside_grad_mode
from functx._core.devices.manual_axes import varying_like
from functx._core.rules.tangent_types import tangent_type
from functx._transforms.arguments import (
    differentiable,
    kind_of,
    numbered,
    require_bools,
)
from functx._transforms.conjugation import conjugate, conjugate_leaf
from functx._transforms.eager import eager_vjp
from functx._transforms.outputs import checking, require_arrays
from functx._transforms.residuals.packing import packed
from functx._transforms.unused import Recorded, unused_path


__all__ = ["grad"]

_WHO = "autograd.grad"


@explain_unknown_keywords(_WHO)
def grad(
    outputs: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
    has_aux: bool = False,
) -> Any:
    """Cotangents of `inputs`, from those of what `outputs` makes of them: `torch.autograd.grad`.

    Nothing is recorded before it is asked, so `outputs` is a function of the inputs where PyTorch
    takes arrays. Returns a tuple, one cotangent per input, and `(cotangents, aux)` if `has_aux` and
    `outputs` returns `(output, aux)`. It can be differentiated in turn.

    - `inputs`: the arguments, an array or a tuple or list of them.
    - `grad_outputs`: cotangents, one per output; `None`, or none of them, for 1 where an output is
      one real number.
    - `allow_unused`: `None` is the gradient of an input on which no output depends; by default
      that is an error.
    - `is_grads_batched`: `grad_outputs` have a further first dimension, and so do the gradients.
    - `materialize_grads`: zeros instead of `None`.

    Errors: RuntimeError where PyTorch raises one: an output or an input outside of what is
    differentiated, shapes that do not match.

    >>> w, x = jnp.float32(2), jnp.float32(3)
    >>> functx.autograd.grad(lambda w, x: w * x, (w, x))
    (Array(3., dtype=float32), Array(2., dtype=float32))
    >>> functx.autograd.grad(lambda w, x: w * 2, (w, x), allow_unused=True)
    (Array(2., dtype=float32), None)
    """
    options = {"is_grads_batched": is_grads_batched, "materialize_grads": materialize_grads}
    require_bools(_WHO, **options, has_aux=has_aux)
    if allow_unused is not None:
        require_bools(_WHO, allow_unused=allow_unused)
    values = _checked(outputs, inputs, allow_unused, materialize_grads)
    paths = numbered("inputs", len(values))
    values, any_complex = differentiable(_WHO, values, paths)
    function = checking(_WHO, outputs, has_aux, require_arrays)
    output, pull, *aux = outside_grad_mode(eager_vjp)(function, *values, has_aux=has_aux)
    leaves, structure = jax.tree.flatten(output)
    roots = [i for i, y in enumerate(leaves) if kind_of(y) in ("real", "complex")]
    if len(roots) < len(leaves):
        other = next(i for i in range(len(leaves)) if i not in roots)
        fail(
            _WHO,
            f"output[{other}], {describe(leaves[other])}, does not require grad",
            hint="integers and booleans have no derivative: return them as aux (has_aux=True)",
        )
    cotangents = _cotangents(leaves, grad_outputs, is_grads_batched)

    @outside_grad_mode
    def gradients() -> Any:
        lane = [tangent_type(jnp.asarray(y)) for y in leaves]
        program, _ = Recorded.of(packed(pull), structure.unflatten(lane))
        depends = program.depends()
        if not (allow_unused or materialize_grads):
            _require_all_used(program, len(leaves), depends, paths)
        run = jax.vmap(program) if is_grads_batched else program
        pulled = run(*map(conjugate_leaf, map(varying_like, cotangents, leaves)))
        keep = [used or materialize_grads for used in depends]
        return program.structure.unflatten(
            [x if kept else None for x, kept in zip(pulled, keep, strict=True)]
        )

    found = gradients()
    found = conjugate(found) if any_complex else found
    return (found, aux[0]) if has_aux else found


def _checked(
    outputs: Any, inputs: Any, allow_unused: bool | None, materialize_grads: bool
) -> tuple[Any, ...]:
    if not callable(outputs):
        fail(
            _WHO,
            f"`outputs` must be a function of `inputs`, got {describe(outputs)}",
            hint="arrays record nothing: functx.autograd.grad(lambda x: ..., x)",
            error=TypeError,
        )
    if materialize_grads and allow_unused is False:
        fail(
            _WHO,
            "Expected allow_unused to be True or not passed when materialize_grads=True, got False",
            error=ValueError,
        )
    values = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    if not values:
        fail(_WHO, "grad requires non-empty inputs.", error=ValueError)
    return values


def _require_all_used(
    program: Recorded, outputs: int, depends: list[bool], paths: tuple[str, ...]
) -> None:
    for i in range(outputs):
        if not any(program.depends(i)):
            fail(
                _WHO,
                f"output[{i}] does not require grad: it does not depend on `inputs`",
                hint="Set allow_unused=True for None instead of an error",
            )
    if not all(depends):
        name = unused_path(program.structure, depends, paths)
        fail(
            _WHO,
            f"`{name}` is not used: no output depends on it",
            hint="Set allow_unused=True for None instead of an error, or materialize_grads=True "
            "for zeros",
        )


def _cotangents(outputs: Sequence[Any], given: Any, batched: bool) -> list[Any]:
    """A cotangent for each output: the one that was given for it, or 1."""
    leaves = [None] * len(outputs)
    if given is not None:
        leaves = jax.tree.leaves(given, is_leaf=lambda x: x is None)
    if len(leaves) != len(outputs):
        fail(
            _WHO,
            f"`grad_outputs` must be like the outputs, of which there are {len(outputs)}, got "
            f"{len(leaves)}",
            error=ValueError,
        )
    return [
        _implicit(i, y, batched) if ct is None else _explicit(i, y, ct, batched)
        for i, (y, ct) in enumerate(zip(outputs, leaves, strict=True))
    ]


def _implicit(i: int, output: Any, batched: bool) -> Any:
    if np.size(output) != 1 or kind_of(output) != "real" or batched:
        fail(
            _WHO,
            "grad can be implicitly created only for real scalar outputs, not for output"
            f"[{i}], {describe(output)}",
            hint="pass its cotangent in grad_outputs",
        )
    return jnp.ones_like(output)


def _explicit(i: int, output: Any, cotangent: Any, batched: bool) -> Any:
    kind, shape, expected = kind_of(cotangent), np.shape(cotangent), np.shape(output)
    if kind == "other":
        got = describe(cotangent)
        fail(_WHO, f"`grad_outputs[{i}]` must be an array, got {got}", error=TypeError)
    if batched and (not shape or shape[1:] != expected):
        fail(
            _WHO,
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as "
            f"the batch dimension, and the others must be those of its output: output[{i}] is "
            f"{describe(output)}, got {describe(cotangent)}",
        )
    if not batched and shape != expected:
        fail(
            _WHO,
            f"Mismatch in shape: grad_output[{i}] has a shape of {shape} and output[{i}] has a "
            f"shape of {expected}.",
        )
    if (kind == "complex") != (kind_of(output) == "complex"):
        fail(
            _WHO,
            f"`grad_outputs[{i}]` must be {'complex' if kind != 'complex' else 'real'}, as output"
            f"[{i}], {describe(output)}, got {describe(cotangent)}",
            error=TypeError,
        )
    return jnp.asarray(cotangent, jnp.result_type(output))

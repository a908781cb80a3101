"""Gradients of scalar functions, for every transform that takes some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from functx._core.context.grad_modes import outside_grad_mode
from functx._core.devices.manual_axes import varying_like

from .arguments import (
    Argnums,
    checked_argnums,
    differentiable,
    pick,
    Picked,
    require_bools,
    require_callable,
)
from .conjugation import conjugate
from .eager import eager_vjp
from .integers import apart_from_integers
from .numbers import array_of_program
from .outputs import checking, require_scalar
from .residuals.packing import packed
from .sparse_arrays import holds_sparse, of_values, SparseLayout
from .tangents import LeafType
from .trials import on_trial
from .unused import pulled, require_unused, Unused


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
        layout = SparseLayout.of(picked.values) if holds_sparse(picked.values) else None
        if layout is not None:
            function, values, paths = picked
            picked = Picked(of_values(function, layout), layout.values(values), paths)
        values, any_complex = differentiable(who, picked.values, picked.paths, allow_int)
        picked = picked._replace(values=values)
        if allow_int:
            picked, whole = apart_from_integers(picked)
        function, values, paths = picked
        loss = on_trial(checking(who, function, has_aux, require_scalar), func)
        value, pull, *aux = eager_vjp(loss, *values, has_aux=has_aux)
        one = np.ones((), LeafType.of(value).dtype)
        gradients = pulled(who, packed(pull), varying_like(one, value), unused, paths)
        gradients = jax.tree.map(array_of_program, gradients)  # it may be that NumPy's 1
        if any_complex:
            gradients = conjugate(gradients)
        if whole is not None:
            gradients = whole(gradients)
        if layout is not None:
            gradients = layout.joined(tuple(gradients))
        return gradients[0] if single else gradients, value, aux[0] if has_aux else None

    return outside_grad_mode(compute)

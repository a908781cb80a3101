"""Own derivative rules: a function whose derivative is what its author says, to every order.

Two primitives do it. `function_call` runs the function; its derivative binds `function_tangent`,
a map that is linear in its last operands, means the forward rule, and has the reverse rule as its
transpose. Both stay whole under partial evaluation, so no transform ever sees the implementation:
`jax.custom_jvp` forgets its rule at second order under `scan`, `jax.custom_vjp` has no forward
mode, and neither derives the missing half.
"""

# JAX itself is typed in part.
# pyright: strict, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core.context.grad_modes import apply_grad_mode, without_grad_mode
from functx._core.context.user_contexts import showing_singular
from functx._core.devices.manual_axes import equally_varying
from functx._core.errors import describe, fail
from functx._core.numbers.product_precision import by_jax_alone, chosen_precision
from functx._core.numbers.weak_types import strong

from .function_primitives import function_call, RuledCall
from .tangent_maps import Leaves, TangentMap, transposed
from .tangent_types import inexact, tangent_type


Tree: TypeAlias = Any  # a `PyTreeDef`, of which type checkers know nothing
Of: TypeAlias = Literal["both", "primals", "output"]
JVP = Callable[[tuple[Any, ...], Any, tuple[Any, ...]], Any]
VJP = Callable[[tuple[Any, ...], Any, Any], Sequence[Any]]

_R = TypeVar("_R")
_ARRAYS = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)


def derivative_rules(
    forward: Callable[..., _R],
    *,
    jvp: JVP | None = None,
    vjp: VJP | None = None,
    name: str | None = None,
    of: Of = "both",
) -> Callable[..., _R]:
    """`forward`, differentiated by `jvp` and `vjp` instead of through its implementation.

    - `forward(*args)`: trees of arrays in, a tree of arrays out. What is static, close over; what
      is traced, pass as an argument.
    - `jvp(primals, output, tangents)`: the tangent of the output, a tree like it. `primals` and
      `tangents` are tuples, one entry per argument; `output` is what `forward` returned.
    - `vjp(primals, output, cotangent)`: a tuple of cotangents, one per argument. `None` stands for
      no gradient.
    - `name`: what errors call the function. By default, its own name.
    - `of`: what the rules look at. With "primals" or "output" they get None for the other, which is
      then not kept for a derivative. Then `jvp` must be given.

    A rule is linear in its last argument; without one of the two, it is the transpose of the
    other. Rules are differentiated in turn, `output` as the function of `primals` that it is.
    Cotangents are JAX's: the plain transpose, without conjugation. Integer leaves have no
    tangent: the rules see `None` there, and what they return there is ignored. Leaves that are not
    being differentiated have a tangent of zeros.

    Errors: TypeError and ValueError for what a rule returns with a wrong tree, dtype or shape.

    >>> import jax
    >>> from functx._core.rules.custom_derivatives import derivative_rules
    >>> exp = derivative_rules(jnp.exp, jvp=lambda primals, output, tangents: output * tangents[0])
    >>> jax.grad(jax.grad(exp))(jnp.float32(0))
    Array(1., dtype=float32)
    """
    name = name or str(getattr(forward, "__name__", "derivative_rules"))
    if jvp is None and vjp is None:
        fail(name, "`jvp` or `vjp` must be given, got neither", error=ValueError)
    if jvp is None and of != "both":
        fail(name, f"`jvp` must be given where the rules are of={of!r}", error=ValueError)

    @ft.wraps(forward)
    def function(*args: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)
        rules = _OperatorRules(forward, jvp, vjp, name, tree, of)
        call = RuledCall(name, rules.forward, rules.linear, vjp is not None, of)
        operands = equally_varying([_strong(x, name) for x in leaves])
        outputs = function_call.bind(*operands, call=call)
        return jax.tree.unflatten(rules.out_tree, apply_grad_mode(outputs))

    return function


class _OperatorRules:
    """What the author gave, over flat tuples of leaves, with the missing rule derived."""

    def __init__(
        self,
        forward: Callable[..., Any],
        jvp: JVP | None,
        vjp: VJP | None,
        name: str,
        tree: Tree,
        of: Of,
    ) -> None:
        self.user_forward, self.jvp, self.vjp = forward, jvp, vjp
        self.name, self.tree, self.out_tree = name, tree, tree
        self.of = of
        self.in_types: Sequence[Any] = ()  # of one lane, as are those of the outputs
        self.out_types: Sequence[Any] = ()
        # Where the function is called, not its rules:
        self.showing, self.precision = showing_singular.value, chosen_precision()

    def forward(self, *leaves: Array) -> Leaves:
        self.in_types = tuple(map(jax.typeof, leaves))
        output = self.user_forward(*jax.tree.unflatten(self.tree, leaves))
        outputs, self.out_tree = jax.tree.flatten(output)
        outputs = tuple(_strong(x, self.name) for x in outputs)
        self.out_types = tuple(map(jax.typeof, outputs))
        return outputs

    def linear(self, active_inputs: tuple[int, ...]) -> TangentMap:
        return TangentMap(
            self.name,
            ft.partial(self.tangent, active_inputs),
            ft.partial(self.cotangent, active_inputs),
        )

    @without_grad_mode
    @jax.numpy_rank_promotion("allow")
    def tangent(
        self, active_inputs: tuple[int, ...], primals: Leaves, outputs: Leaves, tangents: Leaves
    ) -> Leaves:
        """Tangents of the inexact outputs, from those of the inputs numbered `active_inputs`."""
        if self.jvp is None:
            cotangent = ft.partial(self.cotangent, active_inputs, primals, outputs)
            types = [tangent_type(y) for y in outputs if inexact(y)]
            return transposed(cotangent, types, tangents)
        given = dict(zip(active_inputs, tangents, strict=True))
        filled = [
            (given[i] if i in given else jnp.zeros_like(x)) if inexact(x) else None
            for i, x in enumerate(primals or self.in_types)
        ]
        with showing_singular(self.showing), by_jax_alone(self.precision):
            got = self.jvp(
                *self._looked_at(primals, outputs),
                jax.tree.unflatten(self.tree, filled),
            )
        got = self._leaves("`jvp` must return a tree like the output", self.out_tree, got)
        return tuple(
            self._checked("the tangent that `jvp` returns", t, y)
            for t, y in zip(got, outputs or self.out_types, strict=True)
            if inexact(y)
        )

    @without_grad_mode
    @jax.numpy_rank_promotion("allow")
    def cotangent(
        self, active_inputs: tuple[int, ...], primals: Leaves, outputs: Leaves, cotangents: Leaves
    ) -> Leaves:
        """Cotangents of the inputs numbered `active_inputs`, from those of the inexact outputs."""
        if self.vjp is None:
            tangent = ft.partial(self.tangent, active_inputs, primals, outputs)
            types = [tangent_type((primals or self.in_types)[i]) for i in active_inputs]
            return transposed(tangent, types, cotangents)
        given = iter(cotangents)
        filled = [next(given) if inexact(y) else None for y in outputs or self.out_types]
        trees = self.tree.children()
        with showing_singular(self.showing), by_jax_alone(self.precision):
            got = self.vjp(
                *self._looked_at(primals, outputs),
                jax.tree.unflatten(self.out_tree, filled),
            )
        if not isinstance(got, (tuple, list)) or len(got) != len(trees):
            fail(
                self.name,
                f"`vjp` must return a tuple of {len(trees)}, one cotangent per argument, "
                f"got {_describe(got)}",
                hint="None stands for no gradient",
                error=TypeError,
            )
        leaves, likes = list[Any](), primals or self.in_types
        for i, (tree, part) in enumerate(zip(trees, got, strict=True)):
            what = f"cotangent {i} that `vjp` returns must be a tree like argument {i}"
            nothing = part is None
            leaves += [None] * tree.num_leaves if nothing else self._leaves(what, tree, part)
        return tuple(
            self._checked("the cotangent that `vjp` returns", leaves[i], likes[i])
            for i in active_inputs
        )

    def _looked_at(self, primals: Leaves, outputs: Leaves) -> tuple[Any, Any]:
        return (
            None if self.of == "output" else jax.tree.unflatten(self.tree, primals),
            None if self.of == "primals" else jax.tree.unflatten(self.out_tree, outputs),
        )

    def _leaves(self, what: str, tree: Tree, got: Any) -> list[Any]:
        try:
            return tree.flatten_up_to(got)
        except ValueError:
            shown = jax.tree.unflatten(tree, [_Shown("*")] * tree.num_leaves)
        fail(self.name, f"{what}, {shown}, got {_describe(got)}", error=TypeError)

    def _checked(self, what: str, got: Any, like: Any) -> Array:
        """`got`, zeros if it is `None`, if it has the shape and dtype of `like`."""
        if got is None:
            return jnp.zeros_like(like)
        if not isinstance(got, _ARRAYS):
            fail(self.name, f"{what} must be {describe(like)}, got {got!r}", error=TypeError)
        got = jnp.asarray(got)
        if got.shape != like.shape:
            message = f"{what} must have the shape of {describe(like)}, got {describe(got)}"
            fail(self.name, message, error=ValueError)
        if got.dtype != like.dtype and not (
            got.aval.weak_type and jnp.can_cast(got.dtype, like.dtype, "same_kind")
        ):
            message = f"{what} must have the dtype of {describe(like)}, got {describe(got)}"
            fail(self.name, message, error=TypeError)
        return lax.convert_element_type(got, like.dtype)


def _strong(x: Any, name: str) -> Array:
    """`x` as an array without a weak type, so that results do not depend on who made it."""
    if not isinstance(x, _ARRAYS):
        fail(name, f"expected arrays, got {x!r}", error=TypeError)
    return strong(x if isinstance(x, jax.Array) else jnp.asarray(x))


def _describe(tree: Any) -> Any:
    return jax.tree.map(lambda x: _Shown(describe(x)), tree)


class _Shown(str):
    """A string that prints without quotes inside containers."""

    __repr__ = str.__str__

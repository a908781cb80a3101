"""Pullbacks for one use, which let go of their residuals after it."""

from __future__ import annotations

from typing import Any

import jax

from functx._core import fail
from functx._transforms.programs.recording import HoldsProgram


@jax.tree_util.register_pytree_node_class
class Once(HoldsProgram):
    """What `vjp(..., retain=False)` returns: a pullback that lets go of its residuals when used.

    They are dropped, not deleted: an argument, a constant or an output that someone else holds
    stays. A pullback that keeps nothing may be used again. Trees made of this one count anew.
    """

    made_by, remedy = "vjp", "pickle the function and the primals, and call vjp where they arrive"

    def __init__(self, pullback: Any):
        self._pullback = pullback

    def __call__(self, cotangents: Any) -> tuple[Any, ...]:
        """One cotangent per primal, in a tuple even if there is one."""
        pullback = self._held()
        gradients = pullback(cotangents)
        if jax.tree.leaves(pullback):
            self._pullback = None
        return gradients

    def _held(self) -> Any:
        if self._pullback is None:
            fail(
                "vjp",
                "the residuals are needed a second time, after they have already been freed",
                hint="Specify retain=True, which is PyTorch's retain_graph=True and the default, "
                "to use a pullback more than once",
            )
        return self._pullback

    def __copy__(self) -> Once:
        return Once(self._pullback)

    def __deepcopy__(self, memo: Any) -> Once:
        return Once(self._pullback)

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        return (self._held(),), None

    @classmethod
    def tree_unflatten(cls, _: None, children: tuple[Any]) -> Once:
        return cls(*children)

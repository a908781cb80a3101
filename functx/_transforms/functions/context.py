"""`ctx`: what a `Function`'s `forward` hands to its derivative rules."""

from __future__ import annotations

import copy
from typing import Any, NoReturn

import jax
import numpy as np

from functx._core import describe, fail


_SAVABLE = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)


class Notes:
    """What has been said to a context, apart from the attributes that its user sets."""

    def __init__(self, name: str, needs: tuple[bool, ...]) -> None:
        self.name, self.needs = name, needs
        self.backward: tuple[Any, ...] = ()
        self.forward: tuple[Any, ...] = ()
        self.readable: tuple[Any, ...] = ()
        self.marked: tuple[Any, ...] = ()
        self.materialize = True
        self.asked = False


class FunctionContext:
    """The `ctx` of a `functx.Function`.

    Its methods are for `forward` or `setup_context`. Attributes that are set there are there in the
    rules: trees whose arrays are kept for them, and anything else as it is.
    """

    def __init__(self, notes: Notes) -> None:
        self.__dict__["_notes"] = notes

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps arrays, trees of them, or `None` for `backward`. The last call counts."""
        notes = notes_of(self)
        notes.backward = _saved(notes.name, "save_for_backward", tensors)

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps arrays, trees of them, or `None` for `jvp`. The last call counts."""
        notes = notes_of(self)
        notes.forward = _saved(notes.name, "save_for_forward", tensors)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved for the rule that reads it."""
        return notes_of(self).readable or notes_of(self).backward

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument, whether it, or an array in it, is being differentiated.

        To read it in `forward` has that run once more where that differs from what a trace saw.
        """
        notes_of(self).asked = True
        return notes_of(self).needs

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """Gives outputs no tangents and no cotangents; integers have none anyway."""
        notes_of(self).marked = tuple(jax.tree.leaves(outputs))

    def mark_dirty(self, *_: Any) -> NoReturn:
        """Refuses: arrays are immutable."""
        fail(
            notes_of(self).name,
            "`mark_dirty` has no meaning: arrays are immutable, so that none is changed in place",
            hint="return the new value; who calls `apply` uses that",
        )

    def set_materialize_grads(self, value: bool) -> None:
        """With False, `None` stands for tangents and cotangents that are known to be zero."""
        notes_of(self).materialize = bool(value)

    def replaced(self, kept: tuple[tuple[Any, ...], dict[str, Any]]) -> FunctionContext:
        """A copy that has `kept` in place of what `kept_of` reads off this context."""
        notes = copy.copy(notes_of(self))
        notes.readable = kept[0]
        ctx = FunctionContext(notes)
        vars(ctx).update(kept[1])
        return ctx

    def __getattr__(self, name: str) -> NoReturn:
        notes, own = notes_of(self), ", ".join(attributes_of(self)) or "none"
        fail(
            notes.name,
            f"`ctx` has no attribute {name!r}; those set by `forward` are: {own}",
            hint="saved_tensors has what was saved" if name == "saved_variables" else "",
            error=AttributeError,
        )


def notes_of(ctx: FunctionContext) -> Notes:
    """What has been said to `ctx`."""
    return ctx.__dict__["_notes"]


def attributes_of(ctx: FunctionContext) -> dict[str, Any]:
    """The attributes that its user has set."""
    return {name: x for name, x in vars(ctx).items() if name != "_notes"}


def kept_of(ctx: FunctionContext) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a rule reads of `ctx`: the saved tensors, and attributes."""
    return notes_of(ctx).readable, attributes_of(ctx)


def _saved(name: str, method: str, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    for i, tensor in enumerate(tensors):
        is_leaf = jax.tree_util.all_leaves([tensor])
        if is_leaf and not isinstance(tensor, _SAVABLE):
            fail(
                name,
                f"{method} can only save arrays, numbers, trees and None, but argument {i} is "
                f"{describe(tensor)}",
                hint="keep anything else as an attribute: ctx.name = value",
                error=TypeError,
            )
    return tensors

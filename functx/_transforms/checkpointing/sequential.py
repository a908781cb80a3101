"""A chain of functions, checkpointed in segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from functx._core import describe, fail
from functx._transforms.arguments import require_callable

from .checkpoint import checkpoint


__all__ = ["checkpoint_sequential"]


def checkpoint_sequential(
    functions: Sequence[Callable[[Any], Any]],
    segments: int,
    input: Any,
    *,
    policy: Any = None,
    prevent_cse: bool = True,
) -> Any:
    r"""`input`, handed through `functions` one after the other, in `segments` checkpoints.

    For each segment, the backward pass keeps its input alone and computes the rest again: with
    $\sqrt{n}$ segments of $n$ functions, some $2\sqrt{n}$ values are alive at once. The last
    segment, which also has the functions that division leaves over, is no checkpoint: its values
    are needed right away.

    - `functions`: each takes what the one before returned, any tree.
    - `segments`: how many segments, from 1 to the number of functions.
    - `input`: any tree, the argument of the first function.
    - `policy`: what is kept all the same: a list of operators, a function of operators, or one of
      `jax.checkpoint_policies`, as of `checkpoint`. None keeps nothing.
    - `prevent_cse`: whether the compiler is kept from undoing the checkpoints.

    Errors: ValueError if `segments` is not between 1 and the number of functions.

    >>> layers = [functx.sin] * 9
    >>> functx.checkpointing.checkpoint_sequential(layers, 3, jnp.float32(0))
    Array(0., dtype=float32)
    """
    who = "checkpoint_sequential"
    if not isinstance(functions, Sequence):
        what = f"`functions` must be a list of functions, got {describe(functions)}"
        fail(who, what, error=TypeError)
    for function in functions:
        require_callable(who, function)
    if isinstance(segments, bool) or not isinstance(segments, int):
        fail(who, f"`segments` must be an int, got {describe(segments)}", error=TypeError)
    if not 1 <= segments <= len(functions):
        fail(
            who,
            f"`segments` must be between 1 and {len(functions)}, the number of functions, "
            f"got {segments}",
            error=ValueError,
        )
    size = len(functions) // segments
    last = size * (segments - 1)
    for start in range(0, last, size):
        segment = _chain(functions[start : start + size])
        input = checkpoint(segment, policy=policy, prevent_cse=prevent_cse)(input)
    return _chain(functions[last:])(input)


def _chain(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def chained(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return chained

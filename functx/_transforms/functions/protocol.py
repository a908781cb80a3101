"""`Context`: what the methods of a `Function` may do with `ctx`, for annotations."""

from __future__ import annotations

from typing import Any, Protocol


__all__ = ["Context"]


class Context(Protocol):
    """The `ctx` of a `functx.Function`: `def backward(ctx: Context, grad_output: Array)`.

    A protocol: the object that the methods get has more, and a test may pass one of its own. Any
    attribute may be set in `forward` or `setup_context`; the rules read it.
    """

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps arrays, trees of them, or `None` for `backward`. The last call counts."""
        ...

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps arrays, trees of them, or `None` for `jvp`. The last call counts."""
        ...

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved for the rule that reads it."""
        ...

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument, whether it, or an array in it, is being differentiated."""
        ...

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """Gives outputs no tangents and no cotangents; integers have none anyway."""
        ...

    def set_materialize_grads(self, value: bool) -> None:
        """With False, `None` stands for tangents and cotangents that are known to be zero."""
        ...

    def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any) -> None: ...

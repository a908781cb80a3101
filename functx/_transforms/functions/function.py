"""`Function`: the interface of `torch.autograd.Function`."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn, TYPE_CHECKING

from functx._core import fail

from .applied import applied
from .binding import bound
from .rules import rules_of


__all__ = ["Function"]


class Function:
    """A function with derivative rules of its own: the base class to inherit from.

    A subclass has static methods, or class methods, and is called by `apply`:

    - `forward(ctx, *args)` computes the output, and keeps on `ctx` what the rules need. Or else
      `forward(*args)` computes, and `setup_context(ctx, inputs, output)` keeps.
    - `backward(ctx, *grad_outputs)`, or `vjp`, its other name: the reverse rule. It takes a
      gradient for each output, and returns one for each argument; `None` stands for none.
    - `jvp(ctx, *tangents)`: the forward rule. It takes a tangent for each argument, `None` for what
      has none, and returns those of the outputs.
    - `vmap(info, in_dims, *args)`: all lanes at once, `(output, out_dims)`. Needs `setup_context`.

    Each rule but `forward` may be missing: reverse mode is then derived from `jvp`, forward mode
    from `backward`, and `vmap` maps `forward` and the rules. With both rules, forward mode uses
    `jvp` and reverse mode `backward`. Rules are differentiated in turn, to any order.

    `ctx` has `save_for_backward`, `save_for_forward`, `saved_tensors`, `needs_input_grad`,
    `mark_non_differentiable` and `set_materialize_grads`; any attribute may be set on it. What is
    saved is what the backward pass keeps. Derivatives of inputs and outputs that are saved are
    known to second derivatives; those of other arrays are taken from the code that made them.

    `apply` takes the arguments of `forward`, by position or by keyword; rules have them, their
    tangents and their gradients in the order of the parameters of `forward`. Arguments and outputs
    are arrays, trees of them, or anything else, which is passed on. Complex gradients follow
    PyTorch: the conjugates of JAX's. What a function closes over is a constant to its rules, and
    refused where it is differentiated.

    >>> class Exp(functx.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         y = jnp.exp(x)
    ...         ctx.save_for_backward(y)
    ...         return y
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (y,) = ctx.saved_tensors
    ...         return grad_output * y
    >>> Exp.apply(jnp.float32(0))
    Array(1., dtype=float32)
    >>> functx.hessian(Exp.apply)(jnp.float32(0))
    Array(1., dtype=float32)
    """

    generate_vmap_rule = False  # either way, lanes are mapped where there is no `vmap`

    def __init__(self, *_: Any, **__: Any) -> None:
        warnings.warn(
            f"{type(self).__name__} should not be instantiated: its methods are static, and "
            f"{type(self).__name__}.apply calls it",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        name = type(self).__name__
        fail(
            name,
            "an instance is not called. Legacy autograd function with non-static forward method "
            "is deprecated",
            hint=f"make forward static, and call {name}.apply",
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls the function: what `forward` returns, differentiated by the rules.

        Keywords are names of parameters of `forward`.
        """
        return applied(*bound(rules_of(cls, Function), args, kwargs))

    if TYPE_CHECKING:  # overridden by methods of any arguments, static or of the class
        forward: Any
        setup_context: Any
        backward: Any
        vjp: Any
        jvp: Any
        vmap: Any
    else:

        @staticmethod
        def forward(*args: Any, **kwargs: Any) -> Any:
            """Computes the output from `ctx` and the arguments, or from the arguments alone."""
            raise NotImplementedError("must implement the forward method")

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
            """Keeps on `ctx` what the rules need, where `forward` takes none."""
            raise NotImplementedError("setup_context is not overridden")

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            """The gradients of the arguments, from those of the outputs."""
            raise NotImplementedError("must implement either the backward or the vjp method")

        @staticmethod
        def vjp(ctx: Any, *grad_outputs: Any) -> Any:
            """Another name of `backward`."""
            raise NotImplementedError("vjp, the other name of backward, is not overridden")

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            """The tangents of the outputs, from those of the arguments."""
            raise NotImplementedError("jvp is not overridden: forward mode is derived")

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
            """The output for arguments with lanes along `in_dims`, and the output's dims."""
            raise NotImplementedError("vmap is not overridden: it is derived")

"""The function of PyTorch's that runs a program, and has another program for each derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import torch

from functx._core.context.regions_in_force import RegionsInForce
from functx._transforms.concretization import tracing

from .programs import CompiledPrograms, Mapped, Program, Pulled, Pushed
from .tensors import as_array, as_tensor


class TensorCall:
    """One call of the caller's function, which its derivatives belong to whenever they are taken.

    - `draw`: what the ambient generator would draw next; every program of the call draws from it.
    - `counted`: how many draws that took, and from the generators among the arguments.
    - `fixed`: the arguments that are arrays and no tensors.
    """

    __slots__ = ("compiled", "counted", "draw", "fixed", "names", "regions")

    def __init__(
        self, compiled: CompiledPrograms, draw: Any, fixed: Sequence[Any], names: Sequence[str]
    ) -> None:
        self.compiled, self.draw, self.fixed, self.names = compiled, draw, fixed, names
        self.regions = RegionsInForce()
        self.counted: Any = None

    def arrays(self, tensors: Sequence[torch.Tensor], first: int = 0) -> list[jax.Array]:
        """The arrays that a program's tensors are; after the arguments come derivatives."""
        names = self.names[first:]
        return [
            as_array(names[i] if i < len(names) else "a derivative", x)
            for i, x in enumerate(tensors[first:])
        ]


class Application:
    """One application of a program: what `Applied` is given beside tensors, and leaves for it.

    - `active`: the tensors that require a gradient.
    - `ready`: a pullback from an earlier application, which makes its forward pass unnecessary.
    - `vjp_fn`: the pullback to the active tensors, where there are any.
    - `structure`: of the program's output.
    """

    __slots__ = ("active", "call", "program", "ready", "structure", "vjp_fn")

    def __init__(
        self,
        call: TensorCall,
        program: Program,
        active: tuple[int, ...],
        ready: ReadyPull | None = None,
    ) -> None:
        self.call, self.program, self.active, self.ready = call, program, active, ready
        self.vjp_fn: Any = None
        self.structure: Any = None

    def evaluate(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Runs the compiled program; its results have been computed when this returns.

        So nobody writes to a tensor that JAX still reads.
        """
        with self.call.regions.restored():
            leaves, self.structure = jax.tree.flatten(self._output(tensors))
            return [as_tensor(x) for x in leaves]

    def _output(self, tensors: Sequence[torch.Tensor]) -> Any:
        call, compiled = self.call, self.call.compiled
        if self.ready is not None:
            cotangents = call.arrays(tensors, first=self.ready.primals)
            return compiled.pull(self.ready.wanted, self.ready.vjp_fn, cotangents)
        given = (call.draw, call.fixed, call.arrays(tensors))
        if self.active:
            output, call.counted = tracing(
                "to_torch", compiled.linearize, self.program, self.active, *given
            )
            output, self.vjp_fn = output
        else:
            output, call.counted = tracing("to_torch", compiled.evaluate, self.program, *given)
        return output


class ReadyPull:
    """A pullback that an application has left, for some of the tensors that were active then."""

    __slots__ = ("primals", "vjp_fn", "wanted")

    def __init__(self, primals: int, vjp_fn: Any, wanted: tuple[int, ...]) -> None:
        self.primals, self.vjp_fn, self.wanted = primals, vjp_fn, wanted


def apply(
    call: TensorCall,
    program: Program,
    tensors: Sequence[torch.Tensor],
    ready: ReadyPull | None = None,
) -> tuple[tuple[torch.Tensor, ...], Any]:
    """The leaves of a program's output, which PyTorch may differentiate and map, and its tree."""
    active: tuple[int, ...] = ()
    if torch.is_grad_enabled():
        active = tuple(i for i, x in enumerate(tensors) if x.requires_grad)
    application = Application(call, program, active, ready)
    outputs: Any = Applied.apply(application, *tensors)
    return outputs, application.structure


class Applied(torch.autograd.Function):
    """Applies a program. Each derivative is the application of another program."""

    @staticmethod
    def forward(application: Application, *tensors: torch.Tensor) -> Any:
        """The leaves of the output."""
        return tuple(application.evaluate(tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keeps what derivatives need."""
        application, *tensors = inputs
        ctx.call, ctx.program, ctx.active = (
            application.call,
            application.program,
            application.active,
        )
        ctx.has_derivative = [y.is_floating_point() or y.is_complex() for y in output]
        # The pullback holds arrays. On a saved tensor it lives as long as that: until the graph is
        # freed by a backward pass. Hooks of saved tensors may lose it; it is then computed anew.
        bearer = torch.empty(0)
        bearer.functx_vjp_fn = application.vjp_fn  # pyright: ignore[reportAttributeAccessIssue]
        ctx.save_for_backward(*tensors, bearer)
        ctx.save_for_forward(*tensors)
        constant = [y for y, has in zip(output, ctx.has_derivative, strict=True) if not has]
        ctx.mark_non_differentiable(*constant)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the inputs that need one."""
        # PyTorch refuses these if one has been written to, which the pullback might read.
        *tensors, bearer = ctx.saved_tensors
        wanted = tuple(i for i, needed in enumerate(ctx.needs_input_grad[1:]) if needed)
        cotangents = _chosen(grad_outputs, ctx.has_derivative)
        gradients: list[Any] = [None] * len(tensors)
        if wanted and cotangents:
            ready, vjp_fn = None, getattr(bearer, "functx_vjp_fn", None)
            if vjp_fn is not None and set(wanted) <= set(ctx.active):
                places = tuple(ctx.active.index(i) for i in wanted)
                ready = ReadyPull(len(tensors), vjp_fn, places)
            program = Pulled(ctx.program, len(tensors), wanted)
            found, _ = apply(ctx.call, program, [*tensors, *cotangents], ready)
            for i, gradient in zip(wanted, found, strict=True):
                gradients[i] = gradient
        return None, *gradients

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the outputs."""
        tensors, tangents = ctx.saved_tensors, grad_inputs[1:]
        moving = tuple(i for i, t in enumerate(tangents) if t is not None)
        program = Pushed(ctx.program, len(tensors), moving)
        found, _ = apply(ctx.call, program, [*tensors, *(tangents[i] for i in moving)])
        given = iter(found)
        return tuple(next(given) if has else None for has in ctx.has_derivative)

    @staticmethod
    def vmap(info: Any, in_dims: Any, application: Application, *tensors: Any) -> Any:
        """The lanes' outputs, stacked."""
        program = Mapped(application.program, tuple(in_dims[1:]), info.randomness)
        outputs, application.structure = apply(application.call, program, tensors)
        return outputs, (0,) * len(outputs)


def _chosen(values: Sequence[Any], chosen: Sequence[bool]) -> list[Any]:
    return [x for x, is_chosen in zip(values, chosen, strict=True) if is_chosen]

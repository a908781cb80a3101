"""Backward passes of `autograd.Function`s, which `torch.export` alone does not keep.

During an export the call of such a function runs its forward pass, and hands the results through
`functx::own_backward` with the number of the backward pass, which is exported by itself afterwards.
"""

from __future__ import annotations

import contextlib
import dataclasses
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import jax
import torch
from torch.overrides import TorchFunctionMode

from .refusals import innermost_line


_FUNCTION: Any = torch.autograd.Function
_NO_SETUP = _FUNCTION.setup_context


@torch.library.custom_op("functx::own_backward", mutates_args=())
def own_backward(
    results: list[torch.Tensor], inputs: list[torch.Tensor], saved: list[torch.Tensor], number: int
) -> list[torch.Tensor]:
    """`results`, with the derivative by `inputs` that a backward pass computes."""
    return [x.clone() for x in results]


@own_backward.register_fake
def _(
    results: list[torch.Tensor], inputs: list[torch.Tensor], saved: list[torch.Tensor], number: int
) -> list[torch.Tensor]:
    return [torch.empty_like(x) for x in results]


class _RecordingStays(TorchFunctionMode):
    """In the block `torch.no_grad()` is without effect.

    What a function computes there is its forward pass, as all else in it is: if its backward pass
    cannot be imported, or it is PyTorch's own of checkpoints, its derivative is that.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch._C._set_grad_enabled:
            return None
        return func(*args, **(kwargs or {}))


class _Context:
    """What `forward` and `backward` are given as `ctx`."""

    def __init__(self, args: tuple[Any, ...]):
        self.needs_input_grad = tuple(map(_has_derivative, args))
        self.saved_tensors: tuple[Any, ...] = ()
        self.materialize_grads = True
        self.dirty: tuple[Any, ...] = ()
        self.constant: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        pass

    def mark_dirty(self, *tensors: Any) -> None:
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value


@dataclasses.dataclass(frozen=True)
class _Like:
    """A tensor of which shape and dtype are known."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def inexact(self) -> bool:
        return self.dtype.is_floating_point or self.dtype.is_complex

    def example(self) -> torch.Tensor:
        return torch.empty(self.shape, dtype=self.dtype)


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where a tensor that `ctx` holds is from."""

    kind: str  # "inputs", "results" or "saved"
    number: int


@dataclasses.dataclass(frozen=True)
class OwnCall:
    """What is known of a call of a function: all but the values of its tensors."""

    function: Any
    line: str = dataclasses.field(compare=False)
    args: tuple[Any, ...]
    results: tuple[Any, ...]
    constant: tuple[bool, ...]  # which results are marked as non-differentiable
    saved: tuple[_Like, ...]  # tensors in `ctx` that are neither inputs nor results
    context: dict[str, Any]  # the attributes of `ctx`
    dirty: bool  # whether it writes into its arguments

    @property
    def inputs(self) -> list[_Like]:
        """Arguments that have derivatives."""
        return [x for x in self.args if _has_derivative(x)]

    @property
    def tensors(self) -> list[_Like]:
        """The results that are tensors."""
        return [x for x in self.results if isinstance(x, _Like)]


class OwnCalls:
    """The calls of functions during an export."""

    def __init__(self) -> None:
        self.calls: list[OwnCall] = []

    @contextlib.contextmanager
    def recorded(self) -> Iterator[None]:
        """Notes calls of the model's functions in the block, and not those of PyTorch's own.

        Both record what their forward passes compute.
        """
        own = _FUNCTION.__dict__["apply"]

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            with _RecordingStays():
                if cls.__module__.startswith("torch."):
                    return own.__get__(None, cls)(*args, **kwargs)
                return self._call(cls, args, kwargs)

        _FUNCTION.apply = classmethod(apply)
        try:
            yield
        finally:
            _FUNCTION.apply = own

    def _call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        context = _Context(args)
        if function.setup_context is _NO_SETUP:
            returned = function.forward(context, *args, **kwargs)
        else:
            returned = function.forward(*args, **kwargs)
            function.setup_context(context, args, returned)
        results = returned if isinstance(returned, tuple) else (returned,)
        tensors = [x for x in results if isinstance(x, torch.Tensor)]
        inputs = [x for x in args if _has_derivative(x)]
        saved: list[torch.Tensor] = []

        def place(x: Any) -> Any:
            if not isinstance(x, torch.Tensor):
                return x
            for kind, known in (("inputs", inputs), ("results", tensors), ("saved", saved)):
                for number, each in enumerate(known):
                    if each is x:
                        return _Place(kind, number)
            saved.append(x)
            return _Place("saved", len(saved) - 1)

        constant = tuple(any(x is each for each in context.constant) for x in results)
        dirty = bool(context.dirty)
        context.dirty = context.constant = ()
        attributes = jax.tree.map(place, dict(vars(context)))
        like = lambda values: tuple(map(_like, values))
        line = innermost_line(traceback.extract_stack())
        noted = (like(args), like(results), constant, like(saved), attributes, dirty)
        number = self._number(OwnCall(function, line, *noted))
        if not tensors:
            return returned
        handed = iter(own_backward(tensors, inputs, saved, number))
        new = tuple(next(handed) if isinstance(x, torch.Tensor) else x for x in results)
        return new if isinstance(returned, tuple) else new[0]

    def _number(self, call: OwnCall) -> int:
        """The number of a call, which equal calls share."""
        for number, other in enumerate(self.calls):
            with contextlib.suppress(Exception):  # of attributes that do not compare
                if call == other:
                    return number
        self.calls.append(call)
        return len(self.calls) - 1


class BackwardPass(torch.nn.Module):
    """The backward pass of a call as a module: of inputs, results, saved tensors and cotangents.

    It returns the cotangents of inputs, and None for those that have none.
    """

    def __init__(self, call: OwnCall):
        super().__init__()
        self.call = call

    @property
    def once(self) -> bool:
        """Whether it is marked as `once_differentiable`."""
        return _unmarked(self.call.function.backward) is not None

    def examples(self) -> tuple[Any, ...]:
        """Arguments of the shapes and dtypes that `forward` takes."""
        call = self.call
        cotangents = [x for x in call.tensors if x.inexact]
        return tuple(
            [x.example() for x in each]
            for each in (call.inputs, call.tensors, call.saved, cotangents)
        )

    def forward(self, inputs: Any, results: Any, saved: Any, cotangents: Any) -> Any:
        """The cotangents of inputs."""
        given = {"inputs": inputs, "results": results, "saved": saved}
        context: Any = _Context(self.call.args)
        fill = lambda x: given[x.kind][x.number] if isinstance(x, _Place) else x
        vars(context).update(jax.tree.map(fill, self.call.context))
        of_results = self._of_results(iter(results), iter(cotangents), context.materialize_grads)
        backward: Callable[..., Any] = self.call.function.backward
        found = (_unmarked(backward) or backward)(context, *of_results)
        found = found if isinstance(found, tuple) else (found,)
        many = len(self.call.args)
        if len(found) < many:
            raise RuntimeError(f"it returned {len(found)} gradients for {many} arguments")
        pairs = [
            (x, g) for x, g in zip(self.call.args, found[:many], strict=True) if _has_derivative(x)
        ]
        return [None if g is None else g.sum_to_size(x.shape).to(x.dtype) for x, g in pairs]

    def _of_results(self, results: Any, cotangents: Any, materialize: bool) -> Iterator[Any]:
        for x, constant in zip(self.call.results, self.call.constant, strict=True):
            if not isinstance(x, _Like):
                yield None
                continue
            result, cotangent = next(results), next(cotangents) if x.inexact else None
            if cotangent is None or constant:
                cotangent = torch.zeros_like(result) if materialize else None
            yield cotangent


def _unmarked(backward: Any) -> Any:
    """What `once_differentiable` was given, if it marked a backward pass."""
    made_there = getattr(backward, "__globals__", {}).get("__name__") == "torch.autograd.function"
    return getattr(backward, "__wrapped__", None) if made_there else None


def _has_derivative(x: Any) -> bool:
    if isinstance(x, torch.Tensor):
        return x.is_floating_point() or x.is_complex()
    return isinstance(x, _Like) and x.inexact


def _like(x: Any) -> Any:
    return _Like(tuple(x.shape), x.dtype) if isinstance(x, torch.Tensor) else x

"""What a function computes on either side, one operator after the other, with derivatives there."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

import functx
from functx._aot.graphs.nodes import Edge, is_call, nodes_of
from functx._core import describe
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx.testing.checks.cases import ArrayList
from functx.testing.checks.programs import compiled
from functx.testing.opchecking.target import described, is_array, is_inexact, Target

from .names import key_of_call, key_of_step
from .sides import as_ours, BothFunctions, tensors_in, Torch


# What says nothing of values.
_NO_STEPS = {"detach", "clone", "contiguous", "requires_grad_", "retain_grad", "fill_", "zero_"}
_FUNCTX = str(Path(functx.__file__).parent)


@dataclasses.dataclass(eq=False)
class OperatorStep:
    """One operator: its name and key, where it is called, what goes in and what comes out.

    `cotangents` are those of the outputs, `tangents` theirs, where they are known; None stands for
    zeros. `sources` says which steps, or arguments if negative, the inputs come from, and `tensors`
    holds PyTorch's outputs, each with its version: what changes it in place counts it up.
    """

    name: str
    key: str
    call: str
    line: str
    inputs: ArrayList
    outputs: ArrayList
    sources: list[int]
    tensors: list[tuple[Any, int]] = dataclasses.field(default_factory=list)
    cotangents: ArrayList | None = None
    tangents: ArrayList | None = None

    def __str__(self) -> str:
        return f"{self.call} at {self.line}" if self.line else self.call


def argument(i: int) -> int:
    """How `sources` writes the argument `i`."""
    return -1 - i


class Made(Protocol):
    """Steps, and which of them, or of the arguments, the results are; None of constants."""

    steps: list[OperatorStep]
    results: list[int | None]


class Original:
    """PyTorch's calls, seen as they are made, in the order in which they return."""

    def __init__(self, sides: BothFunctions, tensors: Sequence[Any]) -> None:
        self.torch, self.steps = sides.torch, list[OperatorStep]()
        self._made = {id(x): argument(i) for i, x in enumerate(tensors)}
        self._alive = list(tensors)
        with self._mode()():
            self.outputs = sides.original(tensors)
        self.results: list[int | None] = [self._made.get(id(y)) for y in self.outputs]

    def _mode(self) -> Any:
        original, base = self, self.torch.overrides.TorchFunctionMode

        class Recording(base):
            def __torch_function__(
                self, func: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                return original._called(func, args, kwargs or {})

        return Recording

    def _called(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        given = tensors_in(self.torch, (args, kwargs))
        before = [as_ours(self.torch, x) for x in given]
        sources = [self._made.get(id(x)) for x in given]
        out = func(*args, **kwargs)
        name = self.torch.overrides.resolve_name(func) or ""
        made = tensors_in(self.torch, out)
        if made and name and name.rpartition(".")[2] not in _NO_STEPS:
            self._alive += made  # or their ids would be given to others
            self._made.update((id(x), len(self.steps)) for x in made)
            known = [s for s in sources if s is not None]
            outputs = [as_ours(self.torch, x) for x in made]
            call = _written(self.torch, name, args, kwargs)
            versions = [(x, x._version) for x in made]
            step = OperatorStep(
                name, key_of_call(name), call, _line(), before, outputs, known, versions
            )
            self.steps.append(step)
        elif made and given and id(given[0]) in self._made:
            self._alive += made
            self._made.update((id(x), self._made[id(given[0])]) for x in made)
        return out


def _written(torch: Torch, name: str, args: Any, kwargs: dict[str, Any]) -> str:
    def one(x: Any) -> str:
        if isinstance(x, torch.Tensor):
            return describe(jax.ShapeDtypeStruct(x.shape, as_ours(torch, x).dtype))
        return describe(x)

    plain = {k: v for k, v in kwargs.items() if v is not None and not k.startswith("_")}
    shown = [*map(one, args), *(f"{k}={one(v)}" for k, v in plain.items())]
    return f"{name}({', '.join(shown)})"


def _line() -> str:
    """The innermost line outside of PyTorch and functx, `model.py:12`."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_FUNCTX) and f"{Path('/torch/')}/" not in file:
            return f"{Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class Port:
    """The steps of functx's side, from its program; calls of a user's functions are taken apart."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._program: ClosedJaxpr = jax.make_jaxpr(target)(*target.arrays)
        graph = nodes_of(self._program.jaxpr, target.paths)
        found = compiled(lambda *arrays: self._observed(arrays)[1])(*target.arrays)
        numbers = {path: argument(i) for i, path in enumerate(target.paths)}

        def source(edge: Edge | None) -> int | None:
            if edge is None:
                return None
            return numbers[edge.source] if isinstance(edge.source, str) else edge.source

        self.results: list[int | None] = [*map(source, graph.outputs)]
        self.steps: list[OperatorStep] = []
        for node, (inputs, outputs) in zip(graph.nodes, found, strict=True):
            sources = [s for s in map(source, node.inputs) if s is not None]
            line = f"{Path(node.line.file).name}:{node.line.line}" if node.line else ""
            call = f"{node.name}({', '.join(map(_shown, inputs))})"
            key = key_of_step(node.name, node.kind)
            arrays = [np.asarray(y) if y is not None and is_array(y) else None for y in outputs]
            given = [x for x in inputs if is_array(x)]
            self.steps.append(OperatorStep(node.name, key, call, line, given, arrays, sources))

    def _observed(
        self, arrays: Sequence[Any], moved: Callable[[Any, int], Any] = lambda y, i: y
    ) -> tuple[ArrayList, list[tuple[ArrayList, ArrayList]]]:
        """The results of the program; what goes into its steps and comes out.

        `moved` gets each result of a step, counted.
        """
        observer = _Observer(moved)
        return interpret(self._program, arrays, observer), observer.found

    def _slots(self) -> Iterator[tuple[int, int, Any]]:
        for s, step in enumerate(self.steps):
            for k, y in enumerate(step.outputs):
                if not _cut(y):
                    yield s, k, y

    def tangents(self, moving: Sequence[int], given: ArrayList, kept: Sequence[int]) -> ArrayList:
        """Those of the results `kept`; each step has its own from then on."""

        def pushed(*xs: Any) -> Any:
            results, found = self._observed(self._whole(moving, xs))
            return [results[i] for i in kept], [found[s][1][k] for s, k, _ in self._slots()]

        xs = tuple(self.target.arrays[i] for i in moving)
        push = compiled(lambda xs, ts: functx.jvp(pushed, xs, ts)[1])
        results, inner = push(xs, tuple(given))
        self._keep("tangents", inner)
        return results

    def cotangents(self, moving: Sequence[int], given: ArrayList, kept: Sequence[int]) -> ArrayList:
        """Those of the arguments, of results `kept`; each step has its own from then on."""
        slots = list(self._slots())
        outputs = [(s, k) for s, step in enumerate(self.steps) for k in range(len(step.outputs))]
        numbers = {(s, k): j for j, (s, k, _) in enumerate(slots)}
        place = {i: numbers[at] for i, at in enumerate(outputs) if at in numbers}

        def observed(xs: Any, steps: Any) -> Any:
            move = lambda y, i: y + steps[place[i]]
            results, _ = self._observed(self._whole(moving, xs), move)
            return tuple(results[i] for i in kept)

        xs = tuple(self.target.arrays[i] for i in moving)
        zeros = tuple(jnp.zeros(y.shape, y.dtype) for *_, y in slots)
        pull = compiled(lambda xs, zeros, cts: functx.vjp(observed, xs, zeros)[1](cts))
        gradients, inner = pull(xs, zeros, tuple(given))
        self._keep("cotangents", inner)
        return list(gradients)

    def _whole(self, moving: Sequence[int], xs: Sequence[Any]) -> ArrayList:
        arrays = list(self.target.arrays)
        for i, x in zip(moving, xs, strict=True):
            arrays[i] = x
        return arrays

    def _keep(self, what: str, inner: Sequence[Any]) -> None:
        for step in self.steps:
            setattr(step, what, [None] * len(step.outputs))
        for (s, k, _), x in zip(self._slots(), inner, strict=True):
            getattr(self.steps[s], what)[k] = np.asarray(x)


class _Observer(Visitor):
    """Keeps what goes into the nodes of a program and comes out."""

    def __init__(self, moved: Callable[[Any, int], Any]) -> None:
        self.moved, self.count = moved, itertools.count()
        self.found: list[tuple[ArrayList, ArrayList]] = []

    def enters(self, eqn: JaxprEqn) -> bool:
        return is_call(eqn)

    def equation(self, eqn: JaxprEqn, operands: ArrayList) -> ArrayList:
        each = zip(bind(eqn, operands), self.count, strict=False)
        results = [y if _cut(y) else self.moved(y, i) for y, i in each]
        self.found.append((operands, results))
        return results


def _shown(x: Any) -> str:
    return described(x) if is_array(x) and x.ndim == 0 else describe(x)


def _cut(y: Any) -> bool:
    """Whether a result of a step has no derivative."""
    return y is None or not is_array(y) or not is_inexact(y)

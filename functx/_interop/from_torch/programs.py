"""An imported program: steps on numbered values, which hold no object of PyTorch's."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import export

from functx._core import OPERATORS, REGISTRY


@dataclasses.dataclass(frozen=True)
class Numbered:
    """The place of a value among those of a program."""

    number: int


@dataclasses.dataclass(frozen=True)
class CatalogCall:
    """An operator of the catalog by its full name: what a step calls can be pickled."""

    operator: str

    @ft.cached_property
    def function(self) -> Callable[..., Any]:
        """What users call."""
        return OPERATORS[self.operator]

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone."""
        return _fields(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the operator."""
        return self.function(*args, **kwargs)


@dataclasses.dataclass(frozen=True)
class SizedCall:
    """An operator of the catalog that is given sizes as numbers, which may be symbolic."""

    operator: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the operator, with arrays for symbolic sizes where no size is due."""
        parameters = REGISTRY[self.operator].parameters
        given = parameters.bound(args, kwargs)
        for name in parameters.traced:
            if name in given and export.is_symbolic_dim(given[name]):
                given[name] = jnp.asarray(given[name])
        return OPERATORS[self.operator](**given)


@dataclasses.dataclass(frozen=True)
class ImportedStep:
    """One call: a function, arguments with `Numbered` for values, and where it was written."""

    target: str  # PyTorch's name: "aten.add.Tensor"
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    result: int
    spent: tuple[int, ...]  # values that no later step reads
    written: str  # the file, the line and the code of the model

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone."""
        return _fields(self)

    @ft.cached_property
    def call(self) -> Callable[[list[Any]], Any]:
        """The step as a function of all values."""
        function = getattr(self.function, "function", self.function)
        fill = [_filled(x) for x in self.args]
        named = [(name, _filled(x)) for name, x in self.kwargs]
        if named:
            return lambda values: function(
                *[f(values) for f in fill], **{name: f(values) for name, f in named}
            )
        return lambda values: function(*[f(values) for f in fill])


@dataclasses.dataclass(frozen=True)
class ImportedProgram:
    """Steps from inputs to outputs.

    The inputs are the first values, then come constants; `outputs` is a tuple of numbered values
    and of plain ones.
    """

    inputs: int
    constants: tuple[Any, ...]
    steps: tuple[ImportedStep, ...]
    outputs: tuple[Any, ...]
    values: int  # how many there are

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        """The outputs for these inputs."""
        values = [*inputs, *self.constants]
        values += [None] * (self.values - len(values))
        for step in self.steps:
            try:
                values[step.result] = step.call(values)
            except Exception as error:
                _note(error, step)
                raise
            for number in step.spent:
                values[number] = None
        return tuple(fill(values) for fill in self._outputs)

    @ft.cached_property
    def _outputs(self) -> list[Callable[[list[Any]], Any]]:
        return [_filled(x) for x in self.outputs]

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone."""
        return _fields(self)


def _fields(x: Any) -> dict[str, Any]:
    """The fields of a dataclass, without what is made of them when it is first asked for."""
    return {field.name: getattr(x, field.name) for field in dataclasses.fields(x)}


def _note(error: Exception, step: ImportedStep) -> None:
    """Says which line of the model an error is from: that of the innermost step."""
    if not any(note.startswith("from_torch: ") for note in getattr(error, "__notes__", ())):
        written = f", from {step.written}" if step.written else ""
        error.add_note(f"from_torch: in {step.target}{written}")


def _filled(x: Any) -> Callable[[list[Any]], Any]:
    """A function of all values that gives an argument in which they are filled in."""
    if isinstance(x, Numbered):
        number = x.number
        return lambda values: values[number]
    if isinstance(x, (list, tuple)) and numbered(x):
        items = [_filled(item) for item in x]
        if isinstance(x, list):
            return lambda values: [item(values) for item in items]
        return lambda values: tuple([item(values) for item in items])
    return lambda values: x


def numbered(x: Any) -> list[int]:
    """The numbers of the values in an argument."""
    if isinstance(x, Numbered):
        return [x.number]
    if isinstance(x, (list, tuple)):
        return [number for item in x for number in numbered(item)]
    return []


def spent_values(read: Sequence[Sequence[int]], kept: Sequence[int]) -> list[tuple[int, ...]]:
    """For each step, by what it reads, the values that may go after it: none that is `kept`."""
    last: dict[int, int] = {}
    for at, numbers in enumerate(read):
        for number in numbers:
            last[number] = at
    out: list[list[int]] = [[] for _ in read]
    for number, at in last.items():
        if number not in kept:
            out[at].append(number)
    return [tuple(sorted(numbers)) for numbers in out]

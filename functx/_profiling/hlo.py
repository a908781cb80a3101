"""Compiled programs as the profiler's file has them: instructions, and where each comes from."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .protobuf import fields, integers, text


__all__ = ["CONTAINERS", "HloInstruction", "HloProgram", "KernelPart", "SourceFrame", "program_of"]

# What no kernel spends its time on.
_FREE = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"}
# What runs other instructions, each as a kernel of its own.
CONTAINERS = {"while", "conditional", "call", "async-start"}
_PRODUCTS = {"dot", "convolution"}


class SourceFrame(NamedTuple):
    """A place in a source file."""

    file: str
    line: int
    function: str
    column: int = 0


class HloInstruction(NamedTuple):
    """An instruction: its operands and the computations that it calls by their numbers."""

    name: str
    opcode: str
    elements: int
    op_name: str
    frame: int
    number: int
    operands: tuple[int, ...]
    called: tuple[int, ...]


class KernelPart(NamedTuple):
    """A part of a kernel: what it computes, where it comes from, its weight among the parts."""

    opcode: str
    op_name: str
    frames: tuple[SourceFrame, ...]
    weight: float


class HloProgram:
    """A compiled program.

    - `name`: its module's name.
    - `computations`: the instructions of each computation, by its number.
    - `frames`: the stacks that instructions name by a number, the innermost frame first.
    """

    def __init__(
        self,
        name: str,
        computations: Mapping[int, list[HloInstruction]],
        frames: Mapping[int, tuple[SourceFrame, ...]],
    ) -> None:
        self.name = name
        self._computations = {number: _filled_in(c) for number, c in computations.items()}
        self._by_name = {i.name: i for c in self._computations.values() for i in c}
        self._elements = {i.number: i.elements for c in computations.values() for i in c}
        self._frames = frames

    def has(self, kernel: str) -> bool:
        """Whether an instruction has that name."""
        return kernel in self._by_name

    def is_container(self, kernel: str) -> bool:
        """Whether the instruction runs others, which are kernels of their own."""
        return kernel in self._by_name and self._by_name[kernel].opcode in CONTAINERS

    @ft.cached_property
    def op_names(self) -> set[str]:
        """The names of all operations that were compiled."""
        return {i.op_name for c in self._computations.values() for i in c if i.op_name}

    def parts(self, kernel: str, *, whole: bool) -> list[KernelPart]:
        """What a kernel computes: itself, or what XLA fused into it.

        `whole` says that a loop, a branch or a call ran as one kernel, with all that it holds.
        """
        if kernel not in self._by_name:
            return []
        instruction = self._by_name[kernel]
        taken_apart = {"fusion", *CONTAINERS} if whole else {"fusion"}
        inside = list(self._inside(instruction, taken_apart))
        known = [i for i in inside if i.op_name] or [instruction]
        return [
            KernelPart(i.opcode, i.op_name, self._frames.get(i.frame, ()), self._weight(i))
            for i in known
        ]

    def _inside(self, instruction: HloInstruction, apart: set[str]) -> Iterator[HloInstruction]:
        """The instructions that it stands for, where those of the opcodes are taken apart."""
        if instruction.opcode not in apart:
            yield instruction
            return
        for number in instruction.called:
            for inner in self._computations.get(number, ()):
                if inner.opcode not in _FREE:
                    yield from self._inside(inner, apart)

    def _weight(self, instruction: HloInstruction) -> float:
        """The elements that an instruction handles; of products, about the multiplications."""
        given = [self._elements.get(number, 1) for number in instruction.operands]
        sizes = [max(1, size) for size in (instruction.elements, *given)]
        if instruction.opcode in _PRODUCTS:
            return math.sqrt(math.prod(sizes[:3]))
        return float(max(sizes))


def _filled_in(instructions: list[HloInstruction]) -> list[HloInstruction]:
    """With the origin of a neighbour where XLA made an instruction and gave it none."""
    now = {i.number: i for i in instructions}
    users: dict[int, list[int]] = {}
    for i in instructions:
        for operand in i.operands:
            users.setdefault(operand, []).append(i.number)
    unknown = [i.number for i in instructions if not (i.op_name and i.frame)]
    while unknown:
        before = dict(now)
        for number in unknown:
            i = now[number]
            near = [now[n] for n in (*i.operands, *users.get(number, ())) if n in now]
            near = [n for n in near if n.opcode not in _FREE or n.opcode == "bitcast"]
            op_name = i.op_name or next((n.op_name for n in near if n.op_name), "")
            frame = i.frame or next((n.frame for n in near if n.frame), 0)
            now[number] = i._replace(op_name=op_name, frame=frame)
        if now == before:
            break
        unknown = [n for n in unknown if not (now[n].op_name and now[n].frame)]
    return list(now.values())


def program_of(data: memoryview) -> HloProgram:
    """The program in the bytes of an `HloProto`."""
    module = next(v for n, v in fields(data) if n == 1 and not isinstance(v, int))
    name, computations, frames = "", {}, {}
    for number, value in fields(module):
        if number == 1:
            name = text(value)
        elif number == 3 and not isinstance(value, int):
            computations |= dict([_computation(value)])
        elif number == 17 and not isinstance(value, int):
            frames = _stacks(value)
    return HloProgram(name, computations, frames)


def _computation(data: memoryview) -> tuple[int, list[HloInstruction]]:
    which, instructions = 0, []
    for number, value in fields(data):
        if number == 5 and isinstance(value, int):
            which = value
        elif number == 2 and not isinstance(value, int):
            instructions.append(_instruction(value))
    return which, instructions


def _instruction(data: memoryview) -> HloInstruction:
    name = opcode = op_name = ""
    elements, frame, own = 1, 0, 0
    operands, called = [], []
    for number, value in fields(data):
        if number == 1:
            name = text(value)
        elif number == 2:
            opcode = text(value)
        elif number == 3 and not isinstance(value, int):
            elements = _elements(value)
        elif number == 7 and not isinstance(value, int):
            for field, given in fields(value):
                if field == 2:
                    op_name = text(given)
                elif field == 15 and isinstance(given, int):
                    frame = given
        elif number == 35 and isinstance(value, int):
            own = value
        elif number == 36:
            operands += integers(value)
        elif number == 38:
            called += integers(value)
    return HloInstruction(
        name, opcode, elements, op_name, frame, own, tuple(operands), tuple(called)
    )


def _elements(shape: memoryview) -> int:
    """How many elements a shape has; those of a tuple together."""
    dimensions, parts = [], []
    for number, value in fields(shape):
        if number == 3:
            dimensions += integers(value)
        elif number == 4 and not isinstance(value, int):
            parts.append(_elements(value))
    return sum(parts) if parts else math.prod(dimensions)


def _stacks(data: memoryview) -> dict[int, tuple[SourceFrame, ...]]:
    """The frames of each stack by its number, the innermost first."""
    files, functions, places, links = [""], [""], [SourceFrame("", 0, "")], [(0, 0)]
    for number, value in fields(data):
        if number == 1:
            files.append(text(value))
        elif number == 2:
            functions.append(text(value))
        elif not isinstance(value, int):
            given = {n: v for n, v in fields(value) if isinstance(v, int)}
            if number == 3:
                file, function = files[given.get(1, 0)], functions[given.get(2, 0)]
                places.append(SourceFrame(file, given.get(3, 0), function, given.get(4, 0)))
            elif number == 4:
                links.append((given.get(1, 0), given.get(2, 0)))
    return {which: tuple(_stack(which, places, links)) for which in range(1, len(links))}


def _stack(
    which: int, places: list[SourceFrame], links: list[tuple[int, int]]
) -> Iterator[SourceFrame]:
    while which:
        place, which = links[which]
        yield places[place]

"""Kernels led back to what the user wrote: each one's time, shared among its origins."""

from __future__ import annotations

import bisect
import functools as ft
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import jax

from .hlo import HloProgram, SourceFrame
from .origins import KernelOrigin, origin_of
from .traces import KernelRun


__all__ = ["KernelShare", "covered", "own_seconds", "place_of", "shares_of", "users_frames"]

# Whose frames are no lines of the user's: of this installation, and of another one, whose files a
# program from JAX's cache on disk names.
_LIBRARIES = tuple(f"{path}/" for path in (Path(__file__).parents[1], Path(jax.__file__).parent))
_ROOMS = re.compile(r"[/\\](functx[/\\]_|jax[/\\]_src[/\\])")
_OPERATORS = re.compile(r"[/\\]functx[/\\](_core[/\\]operators|_ops)[/\\]")
_NO_PROGRAM = "(no program)"


class KernelShare(NamedTuple):
    """A part of all runs of one kernel: what it comes from, and the seconds that it took."""

    program: int
    module: str
    kernel: str
    runs: int
    seconds: float
    origin: KernelOrigin
    phase: str
    frames: tuple[SourceFrame, ...]

    @property
    def transform(self) -> str:
        """Its phase, and whether it is batched."""
        return f"{self.phase}, batched" if self.origin.batched else self.phase or "(no program)"


def shares_of(kernels: list[KernelRun], programs: Mapping[int, HloProgram]) -> list[KernelShare]:
    """All kernels' times, divided among what XLA fused into each."""
    own = own_seconds(kernels, programs)
    runs: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    full: dict[tuple[int, str, str], float] = defaultdict(float)
    for kernel, seconds in zip(kernels, own, strict=True):
        runs[kernel.program, kernel.module, kernel.name].append(seconds)
        full[kernel.program, kernel.module, kernel.name] += kernel.seconds
    reverses = {number: _reverses(program) for number, program in programs.items()}
    shares = []
    for (number, module, name), seconds in runs.items():
        program = programs.get(number)
        whole = sum(seconds) == full[number, module, name]
        parts = program.parts(name, whole=whole) if program else []
        if not parts:
            nothing = KernelOrigin(f"{_NO_PROGRAM} {name}", (), (), (), False)
            shares.append(
                KernelShare(number, module, name, len(seconds), sum(seconds), nothing, "", ())
            )
        together = sum(part.weight for part in parts)
        weights: dict[tuple[KernelOrigin, tuple[SourceFrame, ...]], float] = defaultdict(float)
        for part in parts:
            origin = origin_of(part.op_name, part.opcode, of_functx=_of_functx(part.frames))
            weights[origin, users_frames(part.frames)] += part.weight
        for (origin, frames), weight in weights.items():
            took = sum(seconds) * weight / together
            phase = origin.phase(reverses[number])
            shares.append(
                KernelShare(number, module, name, len(seconds), took, origin, phase, frames)
            )
    return shares


def _reverses(program: HloProgram) -> set[tuple[str, ...]]:
    chains = {origin_of(name).chain for name in program.op_names}
    return {chain for chain in chains if chain[:1] == ("transpose",)}


def _of_functx(frames: tuple[SourceFrame, ...]) -> bool:
    return not frames or any(_OPERATORS.search(frame.file) for frame in frames)


def own_seconds(kernels: list[KernelRun], programs: Mapping[int, HloProgram]) -> list[float]:
    """Each kernel's seconds; a loop's and a branch's without the kernels that run inside."""
    beside: dict[tuple[int, int, str], list[KernelRun]] = defaultdict(list)
    for kernel in kernels:
        beside[kernel.program, kernel.run, kernel.device].append(kernel)
    found = []
    for kernel in kernels:
        program = programs.get(kernel.program)
        if program is None or not program.is_container(kernel.name):
            found.append(kernel.seconds)
            continue
        others = beside[kernel.program, kernel.run, kernel.device]  # sorted by when they began
        first = bisect.bisect_left(others, kernel.start, key=lambda other: other.start)
        until = bisect.bisect_left(others, kernel.end, key=lambda other: other.start)
        # Of two that span the same time the shorter one is inside.
        inside = [
            other
            for other in others[first:until]
            if other is not kernel and other.seconds <= kernel.seconds
        ]
        spans = [(other.start, min(other.end, kernel.end)) for other in inside]
        found.append(kernel.seconds - covered(spans))
    return found


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """The seconds in which at least one of the spans is."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


@ft.cache
def users_frames(frames: tuple[SourceFrame, ...]) -> tuple[SourceFrame, ...]:
    """Those from the user's innermost frame on, without the frames of functx and JAX.

    They end with the module that called: beyond it are pytest, IPython, or whoever imported it.
    """
    found = []
    for frame in frames:
        library = frame.file.startswith((*_LIBRARIES, "<frozen")) or _ROOMS.search(frame.file)
        if frame.file and not library:
            found.append(frame)
            if frame.function == "<module>":
                break
    return tuple(found)


def place_of(frame: SourceFrame) -> str:
    """A frame as tables show it."""
    path = Path(frame.file)
    file = "<cell>" if "ipykernel_" in frame.file else path.name
    return f"{file}:{frame.line} {frame.function}"

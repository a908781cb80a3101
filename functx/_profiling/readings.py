"""A trace that was read: kernels, programs and shares, from which all tables are made."""

from __future__ import annotations

import functools as ft
from collections import defaultdict
from collections.abc import Callable, Mapping

from .attribution import covered, KernelShare, shares_of
from .hlo import HloProgram, program_of
from .tables import ProfileRow, ProfileTable
from .traces import HostEvent, KernelRun, trace_of, TracedProgram


__all__ = ["TraceReading", "reading_of"]


class TraceReading:
    """What ran in a region.

    - `kernels`, `host`: what ran on devices and on the host, in order.
    - `programs`: the compiled programs that the kernels are of, by number.
    - `seconds`: how long the region took.
    """

    def __init__(
        self,
        kernels: list[KernelRun],
        host: list[HostEvent],
        programs: dict[int, HloProgram],
        seconds: float,
    ) -> None:
        self.kernels = kernels
        self.host = host
        self.programs = programs
        self.seconds = seconds

    @ft.cached_property
    def shares(self) -> list[KernelShare]:
        """The time of all kernels, led back to where they come from."""
        return shares_of(self.kernels, self.programs)

    @ft.cached_property
    def kernel_seconds(self) -> float:
        """For how long at least one kernel ran."""
        return covered((kernel.start, kernel.end) for kernel in self.kernels)

    @property
    def compile_seconds(self) -> float:
        """For how long XLA compiled."""
        return covered(
            (event.start, event.start + event.seconds)
            for event in self.host
            if event.kind == "compilation"
        )

    @property
    def devices(self) -> list[str]:
        """The devices on which kernels ran."""
        return sorted({kernel.device for kernel in self.kernels})

    def ranges(self) -> ProfileTable:
        """The user's ranges on the host, by name."""
        ranges = [event for event in self.host if event.kind == "range"]
        calls: dict[str, int] = defaultdict(int)
        own: dict[str, float] = defaultdict(float)
        total: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for event in ranges:
            end = event.start + event.seconds
            inside = [
                (other.start, other.start + other.seconds)
                for other in ranges
                if other is not event
                and other.thread == event.thread
                and event.start <= other.start
                and other.start + other.seconds <= end
            ]
            calls[event.name] += 1
            own[event.name] += event.seconds - covered(inside)
            total[event.name].append((event.start, end))
        whole = sum(own.values())
        rows = [
            ProfileRow(
                name,
                "",
                calls[name],
                0,
                own[name],
                covered(total[name]),
                own[name] / whole if whole else 0.0,
            )
            for name in calls
        ]
        return ProfileTable("range", sorted(rows, key=lambda row: (-row.total_seconds, row.name)))


def reading_of(data: bytes, seconds: float) -> TraceReading:
    """What the bytes of a trace say of a region that took so many seconds."""
    trace = trace_of(data)
    names: dict[tuple[str, int], set[str]] = defaultdict(set)
    for kernel in trace.kernels:
        names[kernel.module, kernel.program].add(kernel.name)
    read = ft.cache(lambda number: program_of(trace.programs[number].proto))
    number_of = {
        (module, given): _number_of(module, given, kernels, trace.programs, read)
        for (module, given), kernels in names.items()
    }
    kernels = [k._replace(program=number_of[k.module, k.program]) for k in trace.kernels]
    programs = {number: read(number) for number in number_of.values() if number >= 0}
    return TraceReading(kernels, trace.host, programs, seconds)


def _number_of(
    module: str,
    given: int,
    kernels: set[str],
    programs: Mapping[int, TracedProgram],
    read: Callable[[int], HloProgram],
) -> int:
    """The number of the program that has most of those kernels, -1 if none has any.

    A program that came from JAX's cache on disk says the number that it had when it was compiled.
    So the module and the kernels decide, and after them the number: the given one, or the latest.
    """
    fits = [
        (sum(map(read(number).has, kernels)), number == given, number)
        for number, program in programs.items()
        if program.module == module
    ]
    most, _, number = max(fits, default=(0, False, -1))
    return number if most else -1

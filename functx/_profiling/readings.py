"""A trace that was read: kernels, programs and shares, from which all tables are made."""

from __future__ import annotations

import functools as ft
from collections import defaultdict

from .attribution import covered, Share, shares_of
from .hlo import HloProgram, program_of
from .tables import ProfileRow, ProfileTable
from .traces import HostEvent, KernelRun, trace_of


__all__ = ["Reading", "reading_of"]


class Reading:
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
    def shares(self) -> list[Share]:
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


def reading_of(data: bytes, seconds: float) -> Reading:
    """What the bytes of a trace say of a region that took so many seconds."""
    trace = trace_of(data)
    run = {kernel.program for kernel in trace.kernels}
    modules = {kernel.module for kernel in trace.kernels if kernel.program not in trace.programs}
    programs = {
        number: program_of(proto) for number, proto in trace.programs.items() if number in run
    }
    if not modules:
        return Reading(trace.kernels, trace.host, programs, seconds)
    # Where a platform gives kernels no program's number, the module's name has to do.
    of_name = {p.name: (n, p) for n, p in ((n, program_of(d)) for n, d in trace.programs.items())}
    kernels = []
    for kernel in trace.kernels:
        if kernel.program not in programs and kernel.module in of_name:
            number, program = of_name[kernel.module]
            programs[number] = program
            kernel = kernel._replace(program=number)
        kernels.append(kernel)
    return Reading(kernels, trace.host, programs, seconds)

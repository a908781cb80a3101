"""The file that JAX's profiler writes: what ran when, and the programs that it belongs to.

The file is an `XSpace` of OpenXLA (`xplane.proto`): planes of lines of events. It is read here and
not by `jax.profiler.ProfileData`, which hides what this needs most: the compiled programs, which
lie in the metadata of a plane without events.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .protobuf import fields, text


__all__ = ["RANGE", "DeviceTrace", "HostEvent", "KernelRun", "TracedProgram", "trace_of"]

RANGE = "functx_range"  # the stat by which a range of `record_function` is known
_METADATA, _HOST, _DEVICE = "/host:metadata", "/host:", "/device:"
# Lines of a device that sum up what its other lines show one by one.
_SUMS = ("XLA Modules", "XLA TraceMe", "Steps", "Framework", "Source", "Async XLA Ops")
_ALL_AGAIN = "XLA Ops"  # so are these, where the device has lines of its streams
_COMPILING = ("backend_compile", "backend_compile_and_load", "PjRtCpuClient::Compile")
_CALLING = "PjitFunction("


class KernelRun(NamedTuple):
    """A kernel that ran once: an instruction of a compiled program, times in seconds."""

    name: str
    module: str
    program: int
    run: int
    device: str
    line: str
    start: float
    seconds: float

    @property
    def end(self) -> float:
        """When it ended."""
        return self.start + self.seconds


class HostEvent(NamedTuple):
    """What the host did: a `kind` of `"range"`, `"call"`, `"compilation"` or `"python"`."""

    kind: str
    name: str
    thread: str
    start: float
    seconds: float


class TracedProgram(NamedTuple):
    """A compiled program: the name of its module, and the bytes of its `HloProto`."""

    module: str
    proto: memoryview


class DeviceTrace(NamedTuple):
    """All that ran, and the programs that there were, by number."""

    kernels: list[KernelRun]
    host: list[HostEvent]
    programs: dict[int, TracedProgram]


class _Plane(NamedTuple):
    name: str
    lines: list[memoryview]
    events: dict[int, tuple[str, list[memoryview]]]
    stats: dict[int, str]


def trace_of(data: bytes) -> DeviceTrace:
    """The trace in the bytes of an `.xplane.pb`."""
    kernels, of_host, host, programs = [], [], [], {}
    for number, value in fields(memoryview(data)):
        if number != 1 or isinstance(value, int):
            continue
        plane = _plane(value)
        if plane.name == _METADATA:
            programs |= dict(_programs(plane))
        elif plane.name.startswith(_DEVICE):
            kernels += _of_device(plane)
        elif plane.name.startswith(_HOST):
            of_host += _of_host(plane, host)
    on_devices = {kernel.program for kernel in kernels}  # which the host only launched
    kernels += [kernel for kernel in of_host if kernel.program not in on_devices]
    return DeviceTrace(sorted(kernels, key=lambda kernel: kernel.start), host, programs)


def _plane(data: memoryview) -> _Plane:
    name, lines, events, stats = "", [], {}, {}
    for number, value in fields(data):
        if number == 2:
            name = text(value)
        elif isinstance(value, int):
            continue
        elif number == 3:
            lines.append(value)
        elif number == 4:
            key, message = _entry(value)
            named = [text(v) for n, v in fields(message) if n == 2]
            own = [v for n, v in fields(message) if n == 5 and not isinstance(v, int)]
            events[key] = (named[0] if named else "", own)
        elif number == 5:
            key, message = _entry(value)
            stats[key] = next((text(v) for n, v in fields(message) if n == 2), "")
    return _Plane(name, lines, events, stats)


def _entry(data: memoryview) -> tuple[int, memoryview]:
    """Key and message of an entry of a map."""
    key, message = 0, memoryview(b"")
    for number, value in fields(data):
        if number == 1 and isinstance(value, int):
            key = value
        elif number == 2 and not isinstance(value, int):
            message = value
    return key, message


def _programs(plane: _Plane) -> Iterator[tuple[int, TracedProgram]]:
    for name, stats in plane.events.values():
        module, _, number = name.removesuffix(")").rpartition("(")
        for stat in stats:
            for field, value in fields(stat):
                if field == 6 and number.isdigit() and not isinstance(value, int):
                    yield int(number), TracedProgram(module, value)


class _Event(NamedTuple):
    name: str
    start: float
    seconds: float
    stats: dict[str, int | str]


class _Line(NamedTuple):
    name: str
    events: Iterator[_Event]


def _lines(plane: _Plane) -> Iterator[_Line]:
    for line in plane.lines:
        name, shown, start, events = "", "", 0, []
        for number, value in fields(line):
            if number == 2:
                name = text(value)
            elif number == 11:
                shown = text(value)
            elif number == 3 and isinstance(value, int):
                start = value
            elif number == 4 and not isinstance(value, int):
                events.append(value)
        yield _Line(shown or name, _events(plane, events, start))


def _events(plane: _Plane, events: list[memoryview], line_start: int) -> Iterator[_Event]:
    for data in events:
        which = offset = length = 0
        stats: dict[str, int | str] = {}
        own = []
        for number, value in fields(data):
            if not isinstance(value, int):
                own += [value] if number == 4 else []
            elif number == 1:
                which = value
            elif number == 2:
                offset = value
            elif number == 3:
                length = value
        name, shared = plane.events.get(which, ("", []))
        for stat in (*shared, *own):
            stats |= _stat(plane, stat)
        yield _Event(name, line_start * 1e-9 + offset * 1e-12, length * 1e-12, stats)


def _stat(plane: _Plane, data: memoryview) -> dict[str, int | str]:
    name, found = "", None
    for number, value in fields(data):
        if number == 1 and isinstance(value, int):
            name = plane.stats.get(value, "")
        elif number in (3, 4) and isinstance(value, int):
            found = value
        elif number == 5:
            found = text(value)
        elif number == 7 and isinstance(value, int):  # a string that the plane has once
            found = plane.stats.get(value, "")
    return {} if found is None else {name: found}


def _kernel(event: _Event, device: str, line: str) -> KernelRun:
    stats = event.stats
    return KernelRun(
        str(stats.get("hlo_op", event.name)),
        str(stats.get("hlo_module", "")),
        _number(stats.get("program_id", -1)),
        _number(stats.get("run_id", -1)),
        device,
        line,
        event.start,
        event.seconds,
    )


def _number(value: int | str) -> int:
    return value if isinstance(value, int) else int(value) if value.isdigit() else -1


def _of_device(plane: _Plane) -> Iterator[KernelRun]:
    """What ran on a GPU, stream by stream, or on a TPU, which has one line of instructions."""
    lines = [line for line in _lines(plane) if not line.name.startswith(_SUMS)]
    streams = [line for line in lines if line.name != _ALL_AGAIN]
    for line in streams or lines:
        for event in line.events:
            yield _kernel(event, plane.name.removeprefix(_DEVICE), line.name)


def _of_host(plane: _Plane, host: list[HostEvent]) -> Iterator[KernelRun]:
    """What ran on the CPU as a device; what it did as the host goes to `host`."""
    for line in _lines(plane):
        for event in line.events:
            if "hlo_op" in event.stats:
                device = f"CPU:{event.stats.get('device_ordinal', 0)}"
                yield _kernel(event, device, line.name)
            elif kind := _kind(event):
                name = event.name.partition("(")[2][:-1] if kind == "call" else event.name
                host.append(HostEvent(kind, name, line.name, event.start, event.seconds))


def _kind(event: _Event) -> str:
    if RANGE in event.stats:
        return "range"
    if event.name in _COMPILING:
        return "compilation"
    if event.name.startswith("$"):  # recorded on request alone
        return "python"
    return "call" if event.name.startswith(_CALLING) else ""

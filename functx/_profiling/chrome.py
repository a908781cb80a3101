"""Traces for Perfetto and for Chrome: the events as JSON."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from .attribution import KernelShare, place_of
from .readings import TraceReading


__all__ = ["write_chrome_trace"]

_HOST = 1  # the process under which the host's events stand


def write_chrome_trace(reading: TraceReading, path: Path) -> None:
    """Writes the trace, compressed if the name says so."""
    trace = {"displayTimeUnit": "ms", "traceEvents": _all_events(reading)}
    text = json.dumps(trace).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def _all_events(reading: TraceReading) -> list[dict[str, Any]]:
    start = min(event.start for event in (*reading.kernels, *reading.host))
    of_kernel: dict[tuple[int, str], list[KernelShare]] = defaultdict(list)
    for share in reading.shares:
        of_kernel[share.program, share.kernel].append(share)
    processes = {device: _HOST + 1 + at for at, device in enumerate(reading.devices)}
    threads: dict[tuple[int, str], int] = {}
    events = []
    for kernel in reading.kernels:
        shares = sorted(of_kernel[kernel.program, kernel.name], key=lambda share: -share.seconds)
        names = list(dict.fromkeys(share.origin.name for share in shares))
        told = {
            "kernel": kernel.name,
            "module": kernel.module,
            "operators": names,
            "phases": list(dict.fromkeys(share.phase for share in shares)),
            "scopes": list(dict.fromkeys("/".join(share.origin.scopes) for share in shares)),
            "lines": list(dict.fromkeys(place_of(s.frames[0]) for s in shares if s.frames)),
        }
        process = processes[kernel.device]
        events.append(
            {
                "ph": "X",
                "cat": "kernel",
                "name": " + ".join(names[:3]) + (" + .." if len(names) > 3 else ""),
                "pid": process,
                "tid": threads.setdefault((process, kernel.line), len(threads) + 1),
                "ts": (kernel.start - start) * 1e6,
                "dur": kernel.seconds * 1e6,
                "args": told,
            }
        )
    for event in reading.host:
        events.append(
            {
                "ph": "X",
                "cat": event.kind,
                "name": event.name,
                "pid": _HOST,
                "tid": threads.setdefault((_HOST, event.thread), len(threads) + 1),
                "ts": (event.start - start) * 1e6,
                "dur": event.seconds * 1e6,
            }
        )
    return [*_names(processes, threads), *events]


def _names(processes: dict[str, int], threads: dict[tuple[int, str], int]) -> list[dict[str, Any]]:
    """What the processes and threads of the picture are called."""
    named = [("process_name", process, 0, device) for device, process in processes.items()]
    named += [("process_name", _HOST, 0, "host")]
    named += [("thread_name", process, at, name) for (process, name), at in threads.items()]
    return [
        {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}
        for what, process, thread, name in named
    ]

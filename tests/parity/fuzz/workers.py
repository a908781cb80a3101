"""Blocks of calls in processes with limits: one that dies or hangs costs the call it was at."""

from __future__ import annotations

import collections
import dataclasses
import faulthandler
import functools as ft
import multiprocessing
import os
import re
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection
from pathlib import Path
from typing import Any, TypeAlias

from functx.testing.checks.programs import cheaper_flags

from .judging import Finding


MEMORY = 12 * 2**30  # of address space; XLA's thread pools alone reserve a few
LONGEST = 30  # seconds of computing for one call, compilation included
HUNG = 600  # seconds on the clock
BLOCKS = 8  # of an operator in one turn
TURNS = 60  # until a process makes way for a fresh one: XLA gives no memory back


@dataclasses.dataclass(frozen=True)
class Turn:
    """Some blocks of an operator, or single seeds where a process died of one."""

    operator: str
    first: int
    count: int


@dataclasses.dataclass
class Report:
    """What came of a turn, or of as much of it as there was."""

    turn: Turn
    findings: list[Finding]
    tally: Any
    seconds: float


@dataclasses.dataclass
class _Worker:
    process: Any
    pipe: Any
    turn: Turn | None = None
    at: int = 0  # the seed that it said it was at
    call: str = ""
    since: float = 0.0
    found: list[Finding] = dataclasses.field(default_factory=list)
    done: int = 0


def cheaply() -> None:
    """Has this process and those that it starts compile quickly; before JAX computes anything."""
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {cheaper_flags()}".strip()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)  # few programs are ever met again


Work: TypeAlias = Callable[[Any], None]


def _work(pipe: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)  # XLA's last words
    from .draws import VALUES
    from .running import configure, ENTRIES, Fuzzing

    configure()
    traces = open(_trace(os.getpid()), "w")
    faulthandler.enable(traces, all_threads=False)
    for late in (signal.SIGPROF, signal.SIGALRM):
        faulthandler.register(late, traces, all_threads=False, chain=True)
    each = ft.cache(lambda operator: Fuzzing(ENTRIES[operator]))
    pipe.send(None)
    while True:
        turn = pipe.recv()
        began, fuzzing = time.monotonic(), each(turn.operator)
        before = dataclasses.replace(fuzzing.tally)
        for seed in range(turn.first * VALUES, (turn.first + turn.count) * VALUES):
            call = repr(fuzzing.draw(seed))
            pipe.send((seed, call))
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            signal.alarm(HUNG)
            found = list(fuzzing.seed(seed))
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
            if found:
                pipe.send(found)
        pipe.send(Report(turn, [], fuzzing.tally.since(before), time.monotonic() - began))


def _trace(pid: int) -> Path:
    """Where a process that dies leaves what it was at."""
    return Path(tempfile.gettempdir()) / f"functx-fuzz-{pid}.txt"


def _ended_by_pytorch(trace: str) -> bool:
    """Whether the innermost call of a side is of PyTorch's."""
    sides = re.findall(r"\bin (by_pytorch|by_functx)$", trace, re.MULTILINE)
    return sides[:1] == ["by_pytorch"]


def run(turns: Iterator[Turn], jobs: int, work: Work = _work) -> Iterator[Report]:
    """What comes of turns, by `jobs` processes, until there are no more turns."""
    waiting = collections.deque[Turn]()
    workers = [_started(work) for _ in range(jobs)]
    try:
        while workers:
            ready = connection.wait([worker.pipe for worker in workers])
            for worker in [w for w in workers if w.pipe in ready]:
                try:
                    message = worker.pipe.recv()
                except (EOFError, ConnectionError):
                    workers.remove(worker)
                    yield _buried(worker, waiting)
                    workers.append(_started(work))
                    continue
                if isinstance(message, tuple):
                    worker.at, worker.call = message
                    continue
                if isinstance(message, list):
                    worker.found += message
                    continue
                if message is not None:
                    message.findings, worker.found = worker.found, []
                    worker.done += 1
                    yield message
                worker.turn = waiting.popleft() if waiting else next(turns, None)
                if worker.turn is None or worker.done >= TURNS:
                    workers.remove(worker)
                    _stop(worker)
                    if worker.turn is not None:
                        waiting.appendleft(worker.turn)
                        workers.append(_started(work))
                else:
                    worker.since = time.monotonic()
                    worker.pipe.send(worker.turn)
    finally:
        for worker in workers:
            _stop(worker)


def _started(work: Work) -> _Worker:
    context = multiprocessing.get_context("spawn")  # JAX does not survive a fork
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _stop(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()
    _trace(worker.process.pid).unlink(missing_ok=True)


def _buried(worker: _Worker, waiting: collections.deque[Turn]) -> Report:
    """The call in which a process died, as a finding; the blocks after it go back.

    It is no finding where PyTorch ended the process: it reads and writes any memory for some calls.
    """
    from .draws import VALUES
    from .running import Tally

    worker.process.join()
    code = worker.process.exitcode
    if worker.turn is None:
        raise RuntimeError(f"a process of the fuzzer ended with exit code {code} as it started")
    late = code in (-signal.SIGPROF, -signal.SIGALRM)
    how = "not done in time" if late else f"the process ended with exit code {code}"
    turn, following = worker.turn, worker.at // VALUES + 1
    left = turn.first + turn.count - following
    if left > 0:
        waiting.appendleft(Turn(turn.operator, following, left))
    kind = "late" if late else "died"
    trace = _trace(worker.process.pid)
    theirs = trace.exists() and _ended_by_pytorch(trace.read_text())
    trace.unlink(missing_ok=True)
    died = Finding(turn.operator, worker.at, kind, how, worker.call)
    found = worker.found if theirs else [*worker.found, died]
    calls = Tally(calls=worker.at - turn.first * VALUES + 1, declared=int(theirs))
    return Report(turn, found, calls, time.monotonic() - worker.since)

"""Cells run in several processes. One that dies costs the cell it died in, no more."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import multiprocessing
import signal
import threading
from collections.abc import Iterable, Iterator
from multiprocessing import connection
from typing import Any

from functx.cli.runner import Cell, groups, Plan, Result, run_group
from functx.cli.selection import select_device
from functx.cli.settings import configure
from functx.testing import op_db, Profile


@dataclasses.dataclass(frozen=True)
class _Orders:
    """What a process must know at its start; the database's entries are not sent."""

    device: str
    samples: int | None
    x64: bool
    profile: Profile


@dataclasses.dataclass
class _Shard:
    """An operator's cells, for one process; one by one after a process has died of them."""

    cells: collections.deque[Cell]
    singly: bool = False


@dataclasses.dataclass
class _Worker:
    process: Any
    pipe: Any
    left: collections.deque[Cell] = dataclasses.field(default_factory=collections.deque)
    singly: bool = False
    ready: bool = False


def _work(pipe: Any, orders: _Orders) -> None:
    configure(device=orders.device, x64=orders.x64, shared=True)
    device = select_device(orders.device)
    by_id = {info.id: info for info in op_db}
    pipe.send(None)
    while True:
        cells, singly = pipe.recv()
        for operator, dtype, checks in groups(cells):
            for some in [[check] for check in checks] if singly else [checks]:
                known = {"samples": orders.samples, "profile": orders.profile}
                for result in run_group(by_id[operator], dtype, some, device=device, **known):
                    pipe.send(result)


def run_in_processes(plan: Plan, chosen: Iterable[Cell], jobs: int) -> Iterator[Result]:
    """Runs cells of functx's own database in `jobs` processes, an operator's in one of them."""
    by_operator = itertools.groupby(chosen, key=lambda cell: cell[0])
    shards = collections.deque(_Shard(collections.deque(cells)) for _, cells in by_operator)
    orders = _Orders(plan.device, plan.samples, plan.x64, plan.profile)
    workers = [_start(orders) for _ in range(min(jobs, len(shards)))]
    try:
        while workers:
            for worker in _talking(workers):
                try:
                    result = worker.pipe.recv()
                except (EOFError, ConnectionError):
                    workers.remove(worker)
                    yield from _buried(worker, shards)
                    if shards:
                        workers.append(_start(orders))
                    continue
                worker.ready = True
                if result is not None:
                    worker.left.popleft()
                    yield result
                if not worker.left and shards:
                    shard = shards.popleft()
                    worker.left, worker.singly = shard.cells, shard.singly
                    worker.pipe.send((list(worker.left), worker.singly))
                elif not worker.left:
                    workers.remove(worker)
                    _stop(worker)
    finally:
        for worker in workers:
            _stop(worker)


def _start(orders: _Orders) -> _Worker:
    context = multiprocessing.get_context("spawn")  # JAX does not survive a fork
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, orders), daemon=True)
    with _deaf_to_ctrl_c():
        process.start()
    theirs.close()  # so that the end of the process is the end of the pipe
    return _Worker(process, ours)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """A process started here ignores Ctrl-C from its first moment on: its parent ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(worker: _Worker) -> None:
    worker.process.terminate()
    worker.process.join()
    worker.pipe.close()


def _talking(workers: list[_Worker]) -> list[_Worker]:
    heard = connection.wait([worker.pipe for worker in workers])
    return [worker for worker in workers if worker.pipe in heard]


def _buried(worker: _Worker, shards: collections.deque[_Shard]) -> Iterator[Result]:
    """The cell in which a process died, as failed; the operator's other cells go back.

    Cells that ran together go back to be run one by one, which tells who it was.
    """
    worker.process.join()
    code = worker.process.exitcode
    if not worker.ready:
        raise RuntimeError(f"a process for checks ended with exit code {code} as it started")
    if worker.left and worker.singly:
        operator, dtype, check = worker.left.popleft()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        died = f"the process that ran this cell ended with {how}"
        yield Result(operator, dtype, check, "fail", 0.0, 0, 0.0, error=died)
    if worker.left:
        shards.appendleft(_Shard(worker.left, singly=True))

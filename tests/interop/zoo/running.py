"""A check of a model in a process of its own, with limits of time and memory; the journal."""

import dataclasses
import importlib.metadata
import multiprocessing
import os
import re
import resource
import signal
import time
from pathlib import Path

from functx.cli.long_runs.journal_file import head_of, JournalFile, lines_after, parsed


FORMAT = "functx models journal"
AGREES = 1e-9  # an error of at most that


@dataclasses.dataclass
class Outcome:
    """What came of a check of a model."""

    model: str
    check: str
    outcome: str  # agrees, in float32, differs, time, memory, or failed
    seconds: float
    gigabytes: float  # the most that was in use
    errors: dict[str, float] = dataclasses.field(default_factory=dict)
    notes: dict[str, str | int] = dataclasses.field(default_factory=dict)


class Journal:
    """Outcomes on a file, a line each: a run that is stopped goes on where it was."""

    def __init__(self, path=None):
        self.outcomes, self._file = [], None
        if path is None:
            return
        known = {each.metadata["Name"] for each in importlib.metadata.distributions()}
        libraries = sorted({"torch", "torchvision", "timm", "transformers"} & known)
        versions = {name: importlib.metadata.version(name) for name in libraries}
        head = head_of(FORMAT, **versions)
        self.outcomes = [Outcome(**parsed(line)) for line in lines_after(path, head)]
        self._file = JournalFile(path, head)

    def has(self, spec, check):
        """Whether the check was run: one that failed, or met a limit, is run again."""
        done = ("agrees", "in float32", "differs")
        return any(
            (each.model, each.check) == (spec, check) and each.outcome in done
            for each in self.outcomes
        )

    def add(self, outcome):
        """Writes an outcome."""
        self.outcomes.append(outcome)
        if self._file is not None:
            self._file.write(dataclasses.asdict(outcome))

    def close(self):
        """Closes the file."""
        if self._file is not None:
            self._file.close()


def context():
    """Processes that are forked of one which has the libraries, as their import takes longest."""
    found = multiprocessing.get_context("forkserver")
    here = __package__
    found.set_forkserver_preload([f"{here}.checks", "timm", "torchvision.models", "transformers"])
    return found


def limited(processes, spec, check, seconds, gigabytes):
    """The outcome of a check that is ended at a limit; the seconds are those of a processor."""
    receiving, sending = processes.Pipe(duplex=False)
    process = processes.Process(target=_report, args=(spec, check, seconds, sending))
    process.start()
    sending.close()
    most = 0.0
    while not receiving.poll(0.2):
        most = max(most, _resident(process.pid))
        if most > gigabytes:
            process.kill()
    try:
        report = receiving.recv()
        process.join(10)  # whoever has said all ends by itself
        process.kill()
    except EOFError:
        process.join()
        report = _ended(process.exitcode, most > gigabytes)
    spent, errors = report.pop("seconds", seconds), report.pop("errors", {})
    said = report.pop("outcome", None) or judged(errors)
    return Outcome(spec, check, said, round(spent, 1), round(most, 2), errors, report)


def _ended(status, in_memory):
    """What is said of a process that said nothing."""
    if in_memory or status == -signal.SIGXCPU:
        return {"outcome": "memory" if in_memory else "time"}
    return {"outcome": "failed", "reason": f"exit status {status}"}


def judged(errors):
    """Whether errors are those of rounding."""
    near = lambda wide: all(x <= AGREES for name, x in errors.items() if _is_wide(name) is wide)
    if errors and near(wide=False):
        return "agrees"
    return "in float32" if any(map(_is_wide, errors)) and near(wide=True) else "differs"


def _is_wide(name):
    return name.endswith(" in double")


def _report(spec, check, seconds, sending):
    """Sends what a check says; of an exception, its first line and where it is from."""
    from .checks import run
    from .comparing import first_line

    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    try:
        report = run(check, spec)
    except Exception as refusal:
        notes = [
            note for note in getattr(refusal, "__notes__", []) if note.startswith("from_torch")
        ]
        said = [first_line(refusal), *(note.partition("\n")[0] for note in notes)]
        # Of files the names alone: folders are those of one machine.
        report = {"outcome": "failed", "reason": re.sub(r"/\S*/", "", "; ".join(said))}
    sending.send(report | {"seconds": time.process_time()})


def _resident(pid):
    """The gigabytes that a process has in memory, where the system says so."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e9

"""Which slow tests run: a quarter of those that passed with the same sources, all of the others.

A test is slow that takes more than a second of processor time. `slow_tests.tsv` holds their seconds
and a digest of what they passed with: the sources of functx, of examples and benchmarks, the
helpers of the tests, and their own file. A slow test with another digest runs, so that a mistake
anywhere in functx meets all tests. Of the others a quarter runs, chosen by the digest: one tree
always gives the same answer. A test that reads other files than code is marked `reads_files`, and
runs always. The option `--whole` runs all tests, as do other profiles; files and tests that are
named run whole.

    python -m pytest -n 2 --dist loadgroup --record-slow-tests

writes the record, of all slow tests that ran and passed; those that did not run keep their rows.
"""

import functools as ft
import hashlib
import resource
from pathlib import Path

import proved
import pytest


TESTS = Path(__file__).parent
RECORD = TESTS / "slow_tests.tsv"
SECONDS = 1.0  # of a processor
PARTS = 4
OWN_RECORD = "tests/test_ops.py"  # `proved.tsv` says which of its cells run
SPENT = "processor seconds"


@ft.cache
def recorded():
    """The seconds and the digest of each slow test that passed."""
    rows = (line.split("\t") for line in RECORD.read_text().splitlines()[1:])
    return {test: (float(seconds), digest) for test, seconds, digest in rows}


@ft.cache
def digest_of(file):
    """A digest of what the tests of a file rest on."""
    return hashlib.sha256(_sources() + (TESTS.parent / file).read_bytes()).hexdigest()[:16]


@ft.cache
def _sources():
    helpers = proved.digest_of_code(TESTS, lambda name: not Path(name).name.startswith("test_"))
    others = [proved.digest_of_code(TESTS.parent / name) for name in ("benchmarks", "examples")]
    return b"".join([proved.digest_of_code(proved.SOURCES), helpers, *others])


def rests(test, tree=None):
    """Whether a test that passed with these sources leaves its turn to others."""
    digest = tree or digest_of(file_of(test))
    if test not in recorded() or recorded()[test][1] != digest:
        return False
    return proved.part_of(test, tree=digest, parts=PARTS) != 0


def file_of(test):
    """The path of a test's file, from the root of the repository."""
    return test.partition("::")[0]


def leave_out(config, items):
    """Takes the tests out of a run of whole folders that need not run again."""
    get = config.getoption
    named = not all(Path(name).is_dir() for name in config.args)
    plain = get("--profile") == "quick" and get("--device") == "cpu" and get("--dtypes") is None
    chosen = named or get("keyword") or get("markexpr")
    if chosen or not plain or get("--whole") or get("--record-slow-tests"):
        return
    resting = [item for item in items if rests(item.nodeid) and not reads_files(item)]
    left_out = set(resting)
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=resting)


def reads_files(item):
    """Whether a test rests on more than code."""
    return item.get_closest_marker("reads_files") is not None


def processor_seconds():
    """Of this process and of those that it has waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Leaves the seconds with the test, whose report takes them along, from workers too."""
    before = processor_seconds()
    result = yield
    item.user_properties.append((SPENT, processor_seconds() - before))
    return result


class SlowTests:
    """A plugin: gathers what tests took, and writes it at the end."""

    def __init__(self):
        self.passed, self.met = {}, set()

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and file_of(report.nodeid) != OWN_RECORD:
            self.met.add(report.nodeid)
            spent = dict(report.user_properties).get(SPENT)
            if report.passed and spent is not None and spent > SECONDS:
                self.passed[report.nodeid] = spent, digest_of(file_of(report.nodeid))

    def pytest_terminal_summary(self, terminalreporter):
        kept = {
            test: row
            for test, row in recorded().items()
            if test not in self.met and (TESTS.parent / file_of(test)).exists()
        }
        rows = sorted((kept | self.passed).items())
        lines = [f"{test}\t{seconds:.1f}\t{digest}" for test, (seconds, digest) in rows]
        RECORD.write_text("\n".join(["test\tseconds\tdigest", *lines]) + "\n")
        terminalreporter.write_line(f"wrote {RECORD.name}: {len(lines)} slow tests")

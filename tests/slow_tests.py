"""Which slow tests run: an eighth of those that passed with the same sources, all of the others.

A test is slow that takes more than 0.1 seconds of a processor. `slow_tests.tsv` holds their
seconds and a digest of what they passed with: the code of functx that they can come to (`reached`),
the helpers of all tests and of those in the same folder, and their own file; of a test marked
`reads_files` all of functx, all helpers and the documentation, of one marked `reads(path)` that
file. A test marked `of_operator(name)` comes to that operator and its entries, whatever its file
names. A slow test with another digest runs, so that a mistake meets all tests that come to it. Of
the others an eighth runs, chosen by the digest: one tree always gives the same answer. The option
`--whole` runs all tests, as do other profiles; files and tests that are named run whole.

    python -m pytest -n 2 --dist loadgroup --record-slow-tests

writes the record, of all slow tests that ran and passed; those that did not run keep their rows.
Where the operator tests ran among them and passed, the record has a row of their file. It says that
what lies beneath the operators is as it was (`proved`).
"""

import functools as ft
import hashlib
import json
import resource
from pathlib import Path

import proved
import pytest
import reached

from functx.testing.checks.source_digests import file_digest


TESTS = Path(__file__).parent
ROOT = TESTS.parent
RECORD = TESTS / "slow_tests.tsv"
SECONDS = 0.1  # of a processor
OPERATORS = "tests/test_ops.py"  # `proved.tsv` says which of its cells run
OPERATOR_FILES = proved.FOLLOWED
INTEROP = "_interop/"
AROUND = "benchmarks", "examples"
OF_THE_RECORD = "proved.py", "reached.py", "slow_tests.py"
MADE_OF = "digest"
SPENT = "processor seconds"


@ft.cache
def recorded():
    """The seconds and the digest of each slow test that passed."""
    rows = (line.split("\t") for line in RECORD.read_text().splitlines()[1:])
    return {test: (float(seconds), digest) for test, seconds, digest in rows}


@ft.cache
def digest_of(file, reads_files=False, read=(), operator=None):
    """A digest of what tests of a file rest on.

    - `reads_files`, `read`: whether they read the documentation, and paths that they read.
    - `operator`: the name of the only one that they come to; None: their words say which.
    """
    top = Path(file).parts[1]
    helpers = _written() if reads_files else _helpers(top) if (TESTS / top).is_dir() else b""
    texts = [path.read_bytes() for path in (ROOT / file, *read)]
    sources = _sources(file, reads_files, read) if operator is None else _of_operator(operator)
    return hashlib.sha256(b"".join([*sources, _helpers_of_all(), helpers, *texts])).hexdigest()[:16]


def _of_operator(name):
    return [_functx(*OPERATOR_FILES, INTEROP), *_modules(reached.of_operator(name))]


def _sources(file, reads_files, read):
    """Digests of the code that tests of a file, which read these paths, can come to."""
    said = said_by(file) + "".join(map(code_in, read))
    if reads_files or reached.leads_everywhere(said):
        left_out = () if reads_files or reached.leads_to_interop(said) else (INTEROP,)
        around = (proved.digest_of_files(ROOT / name, "*.py") for name in AROUND)
        return [_functx(*left_out), *around]
    checks = () if reached.leads_to_checks(said) else ("testing/", "cli/")
    functx = _functx(*OPERATOR_FILES, INTEROP, *checks)
    return [functx, *_modules(reached.operators_named(said))]


def _modules(names):
    return list(map(file_digest, sorted(names)))


@ft.cache
def said_by(file):
    """The text of a test's file, of the helpers that it names, and of those that they name."""
    folder = (ROOT / file).parent
    helpers = {each.stem: each for path in {TESTS, folder} for each in path.glob("*.py")}
    for name in (*OF_THE_RECORD, "conftest.py"):  # they run no operator
        del helpers[Path(name).stem]
    said, met = "", [ROOT / file]
    while met:
        text = met.pop().read_text()
        said += text
        named = [stem for stem, path in helpers.items() if _helps(path.name) and stem in text]
        met += [helpers.pop(stem) for stem in named]
    return said


def code_in(path):
    """A file's text, of a notebook that of its cells of code."""
    text = path.read_text()
    if path.suffix != ".ipynb":
        return text
    cells = (cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
    return "\n".join("".join(cell["source"]) for cell in cells)


@ft.cache
def _functx(*left_out):
    """A digest of the code of functx, but for files whose names begin so."""
    return proved.digest_of_files(proved.SOURCES, "*.py", lambda n: not n.startswith(left_out))


@ft.cache
def _helpers_of_all():
    """A digest of the helpers in the folder of all tests, but for what makes the record."""
    wanted = lambda name: _helps(name) and "/" not in name and name not in OF_THE_RECORD
    return proved.digest_of_files(TESTS, "*.py", wanted)


@ft.cache
def _helpers(folder):
    """A digest of the helpers of the tests in a folder."""
    return proved.digest_of_files(TESTS / folder, "*.py", _helps)


def _helps(name):
    return not Path(name).name.startswith("test_")


@ft.cache
def _written():
    """A digest of what people read: the documentation, notebooks, the texts of the root."""
    made = "_build", "generated", "jupyter_execute", "__pycache__", ".ipynb_checkpoints"
    kept = lambda name: not any(part in made for part in Path(name).parts)
    folders = [
        proved.digest_of_files(ROOT / name, "*", kept)
        for name in ("docs", "notebooks", ".ci", ".github")
    ]
    texts = [path for kind in ("*.md", "*.toml", "*.cff") for path in sorted(ROOT.glob(kind))]
    return b"".join([_helpers("."), *folders, *(path.read_bytes() for path in texts)])


def is_on_record(test, digest):
    """Whether a test passed with these sources."""
    return test in recorded() and recorded()[test][1] == digest


def are_operators_on_record():
    """Whether the tests of operators passed with these sources."""
    return is_on_record(OPERATORS, digest_of(OPERATORS))


def rests(test, digest):
    """Whether a test that passed with these sources leaves its turn to others."""
    return is_on_record(test, digest) and proved.part_of(test, tree=digest) != 0


def file_of(test):
    """The path of a test's file, from the root of the repository."""
    return test.partition("::")[0]


def is_plain(config):
    """Whether a run is of whole folders, and nothing more is asked for."""
    get = config.getoption
    plain = get("--profile") == "quick" and get("--device") == "cpu" and get("--dtypes") is None
    named = not all(Path(name).is_dir() for name in config.args)
    chosen = named or get("keyword") or get("markexpr")
    return plain and not chosen and not get("--whole") and not get("--record-slow-tests")


def leave_out(config, items):
    """Takes the tests out of a plain run that need not run again."""
    if not is_plain(config):
        return
    resting = [item for item in items if rests(item.nodeid, digest_of_item(item))]
    left_out = set(resting)
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=resting)


def digest_of_item(item):
    """A digest of what a test rests on."""
    reads_files = item.get_closest_marker("reads_files") is not None
    read = tuple(mark.args[0] for mark in item.iter_markers("reads"))
    of = item.get_closest_marker("of_operator")
    return digest_of(file_of(item.nodeid), reads_files, read, of and of.args[0])


def processor_seconds():
    """Of this process and of those that it has waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Leaves the seconds with the test, whose report takes them along, from workers too."""
    digest = digest_of_item(item)  # before the test, which may change what digests are made of
    before = processor_seconds()
    result = yield
    spent = processor_seconds() - before
    item.user_properties += [(SPENT, spent), (MADE_OF, digest)]
    return result


class SlowTests:
    """A plugin: gathers what tests took, and writes it at the end."""

    def __init__(self):
        self.passed, self.met, self.wrong = {}, set(), False

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.wrong |= file_of(report.nodeid) == OPERATORS
        if report.when != "call":
            return
        found = dict(report.user_properties)
        if file_of(report.nodeid) == OPERATORS:
            self.met.add(OPERATORS)
        else:
            self.met.add(report.nodeid)
            if report.passed and found[SPENT] > SECONDS:
                self.passed[report.nodeid] = found[SPENT], found[MADE_OF]

    def pytest_terminal_summary(self, terminalreporter):
        kept = {
            test: row
            for test, row in recorded().items()
            if test not in self.met and (ROOT / file_of(test)).exists()
        }
        if OPERATORS in self.met and not self.wrong:
            self.passed[OPERATORS] = 0.0, digest_of(OPERATORS)
        rows = sorted((kept | self.passed).items())
        lines = [f"{test}\t{seconds:.2f}\t{digest}" for test, (seconds, digest) in rows]
        RECORD.write_text("\n".join(["test\tseconds\tdigest", *lines]) + "\n")
        terminalreporter.write_line(f"wrote {RECORD.name}: {len(lines)} slow tests")

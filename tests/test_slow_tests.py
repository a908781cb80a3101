"""Which slow tests a plain run of everything makes."""

import json
import re
import textwrap
from pathlib import Path

import pytest
import slow_tests
from slow_tests import TESTS


pytest_plugins = ["pytester"]

FILE = "tests/test_layout.py"
ONES = [f"{FILE}::test_one[{i}]" for i in range(200)]


@pytest.fixture
def record(monkeypatch, tmp_path):
    """Takes the place of the record: a function that writes another."""
    monkeypatch.setattr(slow_tests, "RECORD", tmp_path / "slow_tests.tsv")

    def write(tests, digest):
        rows = [f"{test}\t2.0\t{digest}" for test in tests]
        slow_tests.RECORD.write_text("\n".join(["test\tseconds\tdigest", *rows]) + "\n")
        slow_tests.recorded.cache_clear()

    yield write
    slow_tests.recorded.cache_clear()


def test_an_eighth_runs_of_what_passed_with_these_sources(record):
    digest = slow_tests.digest_of(FILE)
    record(ONES[:-1], digest)
    running = [test for test in ONES if not slow_tests.rests(test, digest)]
    assert 10 < len(running) < 40 and ONES[-1] in running


def test_all_run_after_a_change(record):
    record([*ONES, slow_tests.OPERATORS], "another")
    assert not any(slow_tests.rests(test, slow_tests.digest_of(FILE)) for test in ONES)
    assert not slow_tests.are_operators_on_record()


def test_each_has_its_turn_in_some_tree(record):
    trees = [f"{i:016x}" for i in range(60)]
    turns = set()
    for tree in trees:
        record(ONES, tree)
        turns.update(test for test in ONES if not slow_tests.rests(test, tree))
    assert turns == set(ONES)


SAYS = {
    "quotients": "functx.div(x, y)",
    "distances": "import functx.nn.functional as F\nF.pdist(x)",
    "rows": "from functx._ops.reductions import differences",
    "checks": "from functx.testing import gradcheck\ngradcheck(functx.sin, x)",
    "entries": "from functx.testing import op_db",
    "imports": "functx.interop.from_torch(module)",
}


@pytest.fixture
def change(monkeypatch):
    """A function that gives a file of functx another digest."""

    def to_another(changed):
        path = slow_tests.proved.SOURCES / changed
        assert path.exists()
        module = f"functx.{changed.removesuffix('.py').replace('/', '.')}"
        of_files, of_module = slow_tests.proved.digest_of_files, slow_tests.file_digest

        def digest_of_files(folder, pattern, wanted=lambda name: True):
            there = path.is_relative_to(folder) and wanted(path.relative_to(folder).as_posix())
            return of_files(folder, pattern, wanted) + b"changed" * there

        other = lambda name: b"changed" if name == module else of_module(name)
        monkeypatch.setattr(slow_tests.proved, "digest_of_files", digest_of_files)
        monkeypatch.setattr(slow_tests, "file_digest", other)
        slow_tests._functx.cache_clear()

    slow_tests._functx.cache_clear()
    yield to_another
    slow_tests._functx.cache_clear()


@pytest.mark.parametrize(
    ("name", "met"),
    [
        ("_core/rules/residuals.py", SAYS.keys()),
        ("_transforms/vmap.py", SAYS.keys()),
        ("_ops/quotients.py", {"quotients", "checks", "entries", "imports"}),  # checks call `rand`
        ("_ops/pointwise/division.py", {"quotients", "entries", "imports"}),
        ("_ops/pointwise/trigonometric.py", {"checks", "entries", "imports"}),
        ("_ops/reductions/pairwise_distances.py", {"distances", "entries", "imports"}),
        ("_ops/reductions/differences.py", {"distances", "rows", "entries", "imports"}),
        ("_ops/nn/convolution_lowerings/xla_kernels.py", SAYS.keys()),  # `_sparsity` imports it
        ("testing/opdb/pointwise/division.py", {"entries", "imports"}),
        ("testing/gradients/gradcheck.py", {"checks", "entries", "imports"}),
        ("cli/runner.py", {"checks", "entries", "imports"}),
        ("_interop/from_torch/model.py", {"imports"}),
    ],
)
def test_a_change_meets_the_tests_that_come_to_it(name, met, monkeypatch, change):
    monkeypatch.setattr(slow_tests, "said_by", SAYS.get)
    digests = lambda: {test: slow_tests._sources(test, False, ()) for test in SAYS}
    before = digests()
    change(name)
    after = digests()
    assert {test for test in SAYS if before[test] != after[test]} == set(met)


@pytest.mark.parametrize(
    ("name", "met"),
    [
        ("_core/rules/residuals.py", {"add", "nn.functional.conv2d"}),
        ("_ops/pointwise/arithmetic.py", {"add"}),
        ("testing/opdb/pointwise/arithmetic.py", {"add"}),
        ("_ops/nn/convolution.py", {"nn.functional.conv2d"}),
        ("testing/checks/compare.py", {"add", "nn.functional.conv2d"}),
        ("_interop/from_torch/model.py", set()),
    ],
)
def test_a_test_of_one_operator_comes_to_no_other(name, met, change):
    operators = "add", "nn.functional.conv2d"
    digests = lambda: {each: slow_tests._of_operator(each) for each in operators}
    before = digests()
    change(name)
    after = digests()
    assert {each for each in operators if before[each] != after[each]} == met


def test_an_operator_without_an_entry_is_refused():
    with pytest.raises(ValueError, match=r"of_operator: nn.functional.conv4d has no entry"):
        slow_tests._of_operator("nn.functional.conv4d")


def test_a_digest_is_of_the_sources_of_the_helpers_and_of_the_file(monkeypatch):
    files = FILE, "tests/test_rules.py"
    digests = lambda: [slow_tests.digest_of.__wrapped__(file) for file in files]
    monkeypatch.setattr(slow_tests, "_sources", lambda *_: [b"the same"])
    found = [digests()]
    monkeypatch.setattr(slow_tests, "_helpers_of_all", lambda: b"others")
    found.append(digests())
    monkeypatch.setattr(slow_tests, "_sources", lambda *_: [b"others"])
    found.append(digests())
    assert len({digest for each in found for digest in each}) == 6


@pytest.mark.of_operator("add")
def test_a_mark_names_the_operator(request):
    of_add = slow_tests.digest_of_item(request.node)
    here = slow_tests.file_of(request.node.nodeid)
    assert of_add == slow_tests.digest_of(here, operator="add")
    assert (
        len({of_add, slow_tests.digest_of(here, operator="sin"), slow_tests.digest_of(here)}) == 3
    )


@pytest.mark.parametrize("text", ["attrgetter(name)(functx)", "eval(text)", "exec(program)"])
def test_names_that_are_made_lead_everywhere(text):
    assert slow_tests.reached.leads_everywhere(text)
    assert not slow_tests.reached.leads_everywhere("module.eval()")


def test_of_notebooks_the_code_is_read(tmp_path):
    notebook = tmp_path / "some.ipynb"
    cells = [{"cell_type": kind, "source": [f"in {kind}", " too"]} for kind in ("markdown", "code")]
    notebook.write_text(json.dumps({"cells": cells}))
    assert slow_tests.code_in(notebook) == "in code too"
    assert slow_tests.code_in(Path(__file__)) == Path(__file__).read_text()


def test_a_file_says_what_the_helpers_say_that_it_names():
    assert "def current(" in slow_tests.said_by("tests/test_facades.py")  # of `write_facades`
    assert "write_facades" not in slow_tests.said_by("tests/test_quotients.py")


def test_nothing_comes_to_interop_but_by_its_name():
    sources = slow_tests.proved.SOURCES
    naming = {
        path.relative_to(sources).as_posix()
        for path in sources.rglob("*.py")
        if re.search(r"\b_interop\b", path.read_text())
    }
    assert {each for each in naming if not each.startswith("_interop/")} == {"interop.py"}


def test_helpers_and_texts_are_those_that_there_are(monkeypatch):
    read = {}
    whole = slow_tests.proved.digest_of_files

    def digest_of_files(folder, pattern, wanted=lambda name: True):
        paths = folder.rglob(pattern)
        read[folder.name] = {n for p in paths if wanted(n := p.relative_to(folder).as_posix())}
        return whole(folder, pattern, wanted)

    monkeypatch.setattr(slow_tests.proved, "digest_of_files", digest_of_files)
    slow_tests._helpers_of_all.__wrapped__()
    assert "nests.py" in read["tests"] and "slow_tests.py" not in read["tests"]
    assert not any("/" in name or name.startswith("test_") for name in read["tests"])
    slow_tests._sources("tests/test_layout.py", False, ())
    assert read["benchmarks"] and read["examples"]
    slow_tests._helpers.__wrapped__("nested")
    assert read["nested"] == {"sequences.py"}
    slow_tests._helpers.cache_clear()
    slow_tests._written.__wrapped__()
    assert {"nested/sequences.py", "ecosystem/pages.py"} <= read["tests"]
    assert "concepts/checks.md" in read["docs"] and "tests.yml" in str(read[".github"])


def test_another_helper_of_the_folder_is_another_digest(monkeypatch):
    files = FILE, "tests/nested/test_nested_values.py", "tests/sparse/test_row_gradients.py"
    digests = lambda: [slow_tests.digest_of.__wrapped__(file) for file in files]
    before = digests()
    of_folder = slow_tests._helpers
    changed = lambda folder: b"other" if folder == "nested" else of_folder(folder)
    monkeypatch.setattr(slow_tests, "_helpers", changed)
    same = [one == other for one, other in zip(before, digests(), strict=True)]
    assert same == [True, False, True]


def test_a_file_that_a_test_reads_is_part_of_its_digest(tmp_path, request):
    read = tmp_path / "read"
    digests = [slow_tests.digest_of_item(request.node)]
    request.node.add_marker(pytest.mark.reads(read))
    for text in ("one", "two"):
        read.write_text(text)
        slow_tests.digest_of.cache_clear()
        digests.append(slow_tests.digest_of_item(request.node))
    assert len(set(digests)) == 3


@pytest.mark.parametrize("right, workers", [(True, 2), (False, 0)])
def test_what_passed_is_recorded_and_what_failed_is_not(right, workers, pytester, record):
    """A run of workers, and of none, with a limit that two of three tests pass."""
    record(["tests/test_gone.py::test_it", f"{FILE}::test_kept"], "another")
    pytester.makeconftest(
        f"""
        import sys

        sys.path.insert(0, {str(TESTS)!r})
        from pathlib import Path

        import slow_tests

        slow_tests.SECONDS = 0.2
        slow_tests.RECORD = Path({str(slow_tests.RECORD)!r})
        slow_tests.digest_of = lambda file, *more: "mine"
        slow_tests.TESTS = Path({str(TESTS)!r})

        def pytest_configure(config):
            config.pluginmanager.register(slow_tests)
            if not hasattr(config, "workerinput"):
                config.pluginmanager.register(slow_tests.SlowTests())
        """
    )
    body = """
        import time

        def busy():
            start = time.process_time()
            while time.process_time() < start + 0.3:
                pass
            return True

        def test_slow():
            assert busy()

        def test_slow_and_wrong():
            assert not busy()

        def test_quick():
            pass
        """
    pytester.makepyfile(test_three=textwrap.dedent(body))
    pytester.mkdir("tests").joinpath("test_ops.py").write_text(f"def test_op(): assert {right}")
    run = pytester.runpytest_subprocess("-n", str(workers))
    run.assert_outcomes(passed=2 + right, failed=2 - right)
    slow_tests.recorded.cache_clear()
    rows = slow_tests.recorded()
    operators = {slow_tests.OPERATORS} if right else set()
    assert rows.keys() == {"test_three.py::test_slow", f"{FILE}::test_kept"} | operators
    assert rows["test_three.py::test_slow"][1] == "mine"


CODE_ALONE = "test_facades.py", "test_layout.py", "test_slow_tests.py"  # is what these read


def test_tests_that_read_other_files_rest_on_them_too():
    reading = re.compile(r"\(__file__\)\S*\.parents\[|\bROOT\b")
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text()
        if reading.search(text) and path.name not in CODE_ALONE:
            assert re.search(r"pytest\.mark\.reads(_files|\()", text), path


def test_the_record_is_of_tests_that_there_are():
    assert all((TESTS.parent / slow_tests.file_of(test)).exists() for test in slow_tests.recorded())


def test_folders_leave_out_what_files_and_options_run(record, request):
    """Of a run of some tests, those that rest are left out where nothing more is asked for."""
    record(ONES, slow_tests.digest_of(FILE))
    config = request.config
    option = {"profile": "quick", "device": "cpu", "dtypes": None, "keyword": "", "markexpr": ""}
    option |= {"whole": False, "record_slow_tests": False}

    class Config:
        hook = config.hook

        def __init__(self, args, **changes):
            self.args, self.option = args, option | changes

        def getoption(self, name):
            return self.option[name.removeprefix("--").replace("-", "_")]

    class Item:
        def __init__(self, nodeid, reads=False):
            self.nodeid, self.reads = nodeid, reads

        def get_closest_marker(self, name):
            return name if self.reads and name == "reads_files" else None

        def iter_markers(self, name):
            return iter(())

    def left(*args, reads=False, **changes):
        items = [Item(test, reads) for test in ONES]
        slow_tests.leave_out(Config(args, **changes), items)
        return len(items)

    tests, whole = str(TESTS), len(ONES)
    assert left(tests) < whole / 4 and left(f"{tests}/nested", tests) < whole / 4
    assert left(f"{tests}/test_layout.py") == left(tests, whole=True) == whole
    assert left(tests, keyword="one") == left(tests, profile="full") == whole
    assert left(tests, record_slow_tests=True) == left(tests, reads=True) == whole
    record(ONES, slow_tests.digest_of(FILE, reads_files=True))
    assert left(tests) == whole and left(tests, reads=True) < whole / 4

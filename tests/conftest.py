"""Options and settings of every test: `--profile`, `--device`, ...; 64 bit on, no mixing."""

import gc
import os
import sys
from pathlib import Path

import pytest


os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".jax_cache"))
# Programs that take longer make up three quarters of the time; to keep the others takes more of a
# first run than it saves of a second.
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
# Set here, where any is right, for workers too: they inherit it, and see no options yet.
os.environ.setdefault("JAX_PLATFORMS", "" if "--device" in str(sys.argv) else "cpu")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
GIVEN_FLAGS = os.environ.get("XLA_FLAGS")  # before functx is imported, which adds one

import jax
import slow_tests
from check_results import CheckResults, wanted

from functx.cli.settings import set_environment
from functx.testing import PROFILES
from functx.testing.checks.programs import cheaper_flags


words = " ".join(sys.argv).replace("=", " ").split()
DEVICE = words[words.index("--device") + 1] if "--device" in words[:-1] else "cpu"
if DEVICE == "cpu" and "--profile" not in words and GIVEN_FLAGS is None:
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {cheaper_flags()}".strip()
set_environment(DEVICE)

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_dtype_promotion", "strict")  # a rule that mixes dtypes is a bug
jax.config.update("jax_default_matmul_precision", "highest")
jax.config.update("jax_traceback_filtering", "off")  # of thousands of refusals, it takes its time


gc.disable()  # JAX allocates so much that it costs a tenth of the time; `let_go` collects


def pytest_addoption(parser):
    parser.addoption(
        "--profile",
        choices=PROFILES,
        default="quick",
        help="how much is looked at; tests marked `full` run in full and exhaustive only",
    )
    parser.addoption("--device", default="cpu", help="where arrays live: cpu, gpu, cuda:0")
    parser.addoption(
        "--dtypes", help="of the operator tests: float32,float64 or all; by default the profile's"
    )
    parser.addoption(
        "--whole",
        action="store_true",
        help="all slow tests and all cells, also of what is unchanged since it passed",
    )
    parser.addoption(
        "--record-slow-tests",
        action="store_true",
        help="run all slow tests, and write which of them passed",
    )
    parser.addoption("--samples", type=int, default=None, help="at most so many for each cell")
    for what in ("json", "report", "junit"):
        parser.addoption(
            f"--check-{what}",
            type=Path,
            metavar="FILE",
            help=f"of the operator tests: written as by `functx check --{what}`",
        )


def pytest_configure(config):
    if DEVICE != "cpu":
        from functx.cli.selection import select_device, UsageError

        try:
            select_device(DEVICE)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
    config.addinivalue_line("markers", "full: left out of the quick profile for its cost")
    config.addinivalue_line("markers", "reads_files: rests on the documentation too")
    config.addinivalue_line("markers", "reads(path): rests on this file too")
    config.addinivalue_line("markers", "of_operator(name): comes to no other operator")
    if wanted(config) and not hasattr(config, "workerinput"):  # workers send what they record
        config.pluginmanager.register(CheckResults(config))
    config.pluginmanager.register(slow_tests)
    if config.getoption("--record-slow-tests") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(slow_tests.SlowTests())


def pytest_collection_modifyitems(config, items):
    if config.getoption("--profile") == "quick":
        late = [item for item in items if item.get_closest_marker("full")]
        items[:] = [item for item in items if not item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=late)
    slow_tests.leave_out(config, items)


def pytest_collection_finish():
    gc.collect()
    gc.freeze()  # all that was imported stays: each collection would look at it again


def pytest_runtest_teardown():
    from functx.testing.checks.programs import let_go

    let_go()


@pytest.fixture(scope="session")
def device(request):
    from functx._core import find_device

    return find_device(request.config.getoption("--device"))

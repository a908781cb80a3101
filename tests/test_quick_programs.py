"""Programs of tests are compiled quickly, but where who runs them gives XLA's flags."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from functx.testing.checks.programs import cheaper_flags


GIVEN = None, "", "--xla_dump_to=/nowhere"
# Each time from the start, in one process: to import JAX takes longer than all else.
PROGRAM = f"""
import os, sys
before = set(sys.modules)
for given in {GIVEN}:
    os.environ.pop("XLA_FLAGS", None)
    if given is not None:
        os.environ["XLA_FLAGS"] = given
    for name in [name for name in sys.modules if name.startswith(("conftest", "functx"))]:
        del sys.modules[name]
    import conftest
    print(os.environ["XLA_FLAGS"])
"""


@pytest.fixture(scope="module")
def printed():
    tests = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests.parent), str(tests)])}
    command = [sys.executable, "-c", PROGRAM]
    lines = subprocess.check_output(command, env=environment, cwd=tests, text=True).split("\n")
    return dict(zip(GIVEN, lines, strict=False))


@pytest.mark.parametrize("given", GIVEN)
def test_flags_of_tests(given, printed):
    flags, quick = printed[given].split(), cheaper_flags().split()
    assert [flag for flag in flags if flag in quick] == (quick if given is None else [])
    assert given is None or set(given.split()) <= set(flags)

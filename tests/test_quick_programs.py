"""Programs of tests are compiled quickly, but where who runs them gives XLA's flags."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from functx.testing.checks.programs import cheaper_flags


@pytest.mark.parametrize("given", [None, "", "--xla_dump_to=/nowhere"])
def test_flags_of_tests(given):
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    if given is not None:
        environment["XLA_FLAGS"] = given
    program = "import os, conftest; print(os.environ['XLA_FLAGS'])"
    command = [sys.executable, "-c", program]
    tests = Path(__file__).parent
    environment["PYTHONPATH"] = os.pathsep.join([str(tests.parent), str(tests)])
    flags = subprocess.check_output(command, env=environment, cwd=tests, text=True).split()
    quick = cheaper_flags().split()
    assert [flag for flag in flags if flag in quick] == (quick if given is None else [])
    assert given is None or set(given.split()) <= set(flags)

"""What runs, pyright and mypy accept; mistakes they report. Both strict on the user's part."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest


pytestmark = pytest.mark.reads_files
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = ["user_program.py", "misuses.py"]


def pyright():
    files = [str(HERE / name) for name in PROGRAMS]
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, *files], capture_output=True, text=True, cwd=ROOT)
    return [
        (Path(found["file"]).name, found["range"]["start"]["line"] + 1, found["message"])
        for found in json.loads(done.stdout)["generalDiagnostics"]
    ]


def mypy():
    files = [str(HERE / name) for name in PROGRAMS]
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    pattern = re.compile(r"^(?:.*/)?(\w+\.py):(\d+): error: (.*)$", re.M)
    found = [(name, int(line), what) for name, line, what in pattern.findall(done.stdout)]
    assert done.returncode == bool(found), done.stdout + done.stderr
    return found


@pytest.fixture(scope="module", params=[pyright, mypy], ids=["pyright", "mypy"])
def reports(request):
    if importlib.util.find_spec(request.param.__name__) is None:
        pytest.skip(f"{request.param.__name__} is not installed; the extra `lint` has it")
    return request.param()


def test_what_runs_is_accepted(reports):
    assert [report for report in reports if report[0] == "user_program.py"] == []


def test_mistakes_are_reported_and_nothing_else(reports):
    lines = (HERE / "misuses.py").read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert {line for name, line, _ in reports if name == "misuses.py"} == wrong


def test_the_accepted_program_runs():
    subprocess.run([sys.executable, str(HERE / "user_program.py")], check=True, cwd=ROOT)

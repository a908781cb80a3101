"""The program of the page on several machines, as two processes of one; and one that dies."""

import re
import signal
import socket
import subprocess
import time

import pytest

from .pages import FOLDER, program, ROOT, start
from .sharded_jobs import JOBS


pytestmark = pytest.mark.reads_files
PAGE = FOLDER / "several_machines.md"
LEFT_ALONE = """
print("ready", flush=True)
import time
while True:
    time.sleep(0.1)
"""


def start_both(file) -> list[subprocess.Popen]:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    return [start([str(file), address, "2", str(number)]) for number in (0, 1)]


@pytest.fixture
def both(tmp_path, request):
    """Two processes that run what the test asks for, ended with the test."""
    if isinstance(request.param, str):
        file = tmp_path / "train.py"
        file.write_text(program(PAGE) + request.param)
    else:
        file = request.param
    processes = start_both(file)
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def printed(processes: list[subprocess.Popen]) -> list[str]:
    """The line of each process that begins with its number; Gloo prints too."""
    lines = []
    for number, process in enumerate(processes):
        out, err = process.communicate(timeout=900)  # on a busy machine
        assert process.returncode == 0, err[-3000:]
        lines += [line for line in out.splitlines() if line.startswith(f"process {number}: ")]
    return lines


@pytest.mark.parametrize("both", [""], indirect=True, ids=["train"])
def test_the_program_of_the_page(both):
    lines = printed(both)
    assert len(lines) == 2
    for line in lines:
        assert re.search(r": 8 devices, loss [\d.]+$", line) and line in PAGE.read_text()


JOBS_FILE = ROOT / "tests" / "ecosystem" / "two_processes.py"


@pytest.mark.parametrize("both", [JOBS_FILE], indirect=True, ids=["jobs"])
def test_jobs_of_two_processes_equal_those_of_one_device(both):
    end = f"{len(JOBS)} jobs equal those of one device"
    assert printed(both) == [f"process {number}: {end}" for number in (0, 1)]


@pytest.mark.parametrize("both", [LEFT_ALONE], indirect=True, ids=["idle"])
def test_a_process_whose_partner_dies_is_ended(both):
    for process in both:
        for line in process.stdout:
            if line == "ready\n":
                break
        else:
            pytest.fail(process.communicate()[1][-3000:])
    both[1].kill()
    killed = time.monotonic()
    err = both[0].communicate(timeout=900)[1]
    assert both[0].returncode == -signal.SIGABRT
    assert "stopped sending heartbeats" in err
    assert time.monotonic() - killed < 80  # 20 are asked for; the default is 100

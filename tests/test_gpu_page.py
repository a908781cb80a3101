"""The page of `python -m benchmarks gpu` is written where there is no GPU, and tells the truth."""

import importlib
import re
import subprocess
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


pytestmark = pytest.mark.reads_files
ROOT = Path(__file__).parents[1]


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.gpu")


def sections(page):
    return dict(re.findall(r"^## (.*)\n\n((?:(?!## ).*\n?)*)", page, re.M))


def test_without_a_gpu_it_lowers_and_says_not_run(gpu, tmp_path, monkeypatch):
    monkeypatch.setattr(gpu, "gpu", lambda: None)
    page = gpu.write_page(tmp_path / "gpu.md", entries=3)
    assert page == (tmp_path / "gpu.md").read_text()
    assert f"JAX {jax.__version__} sees no GPU here" in page
    found = sections(page)
    assert "3 operators with their pullbacks, and 10 programs" in found["Lowering for CUDA"]
    assert "all are lowered for CUDA" in found["Lowering for CUDA"]
    assert {text.strip() for name, text in found.items() if "CUDA" not in name} == {"not run"}
    assert len(found) == 6


def test_what_is_not_lowered_is_listed(gpu, monkeypatch):
    def refuse(info, sample, *, platform):
        raise NotImplementedError(f"no {platform}")

    monkeypatch.setattr(gpu, "check_lowering", refuse)
    monkeypatch.setattr(gpu, "inputs", lambda scale: {})
    lines = gpu.lowered(2)
    assert "2 are not lowered for CUDA" in lines[0]
    assert len([line for line in lines if line.endswith(": no cuda")]) == 2


def test_with_a_gpu_every_section_is_written_though_no_time_is_left(gpu, tmp_path, monkeypatch):
    monkeypatch.setattr(gpu, "gpu", lambda: jax.devices()[0])
    monkeypatch.setattr(gpu, "checks", lambda minutes: ["checked"])
    monkeypatch.setattr(gpu, "torch_with_cuda", lambda: None)
    monkeypatch.setattr(gpu, "SHAPE", (4, 8))
    monkeypatch.setattr(gpu, "SCALE", 1)
    found = sections(gpu.write_page(tmp_path / "gpu.md", minutes=0))
    assert "Lowering for CUDA" not in found
    assert found["Checks of the quick profile"].strip() == "checked"
    for name in ("Operators", "Programs of transforms", "Memory"):
        assert "no time left" in found[name] and "| ---" in found[name]
    assert "transformer, gradient" in found["Programs of transforms"]


def test_programs_are_the_same_in_functx_and_by_hand(gpu):
    from benchmarks.transform_programs import by_hand, in_torchs_words, inputs

    ours, theirs = in_torchs_words(functx, functx.nn.functional), by_hand()
    assert ours.keys() == theirs.keys() == inputs(1).keys() and len(ours) == 10
    for name in ("jacrev", "jacfwd", "gradient of small operators"):
        args = jax.tree.map(jnp.asarray, inputs(1)[name])
        assert gpu.apart(jax.jit(ours[name])(*args), jax.jit(theirs[name])(*args)) < 1e-5


def test_no_figure_for_results_that_differ(gpu):
    later = time.perf_counter() + 60
    calls = {"functx": lambda: jnp.ones(3), "by hand": lambda: jnp.full(3, 1.5)}
    times, said = gpu.timed(calls, later, 0.0)
    assert times == {} and said == "results differ by 3.3e-01"
    calls["by hand"] = lambda: jnp.full(3, np.nan)
    assert gpu.timed(calls, later, 0.0)[0] == {}
    calls["by hand"] = calls["functx"]
    times, said = gpu.timed(calls, later, 0.0)
    assert times.keys() == calls.keys() and not said
    row = gpu.ratio_row("sin", {"functx": 20.0, "by hand": 10.0, "torch": 40.0}, "")
    assert row == ["sin", "20.0", "10.0", "2.00", "40.0", "2.00"]
    assert gpu.ratio_row("sin", {"functx": 20.0, "by hand": 10.0}, "")[-2:] == ["-", "-"]


def test_checks_say_how_they_ended(gpu, monkeypatch):
    def run(command, **options):
        assert command[1:6] == ["-m", "functx", "check", "--device", "gpu"]
        return subprocess.CompletedProcess(command, statuses.pop(0), "12 pass, 0 fail\n", "")

    monkeypatch.setattr(subprocess, "run", run)
    statuses = [0, 3, 1, 2]
    said = [gpu.checks(1.0) for _ in range(4)]
    ends = [lines[0].partition(": ")[2] for lines in said]
    assert ends == ["all passed.", "some cells are left.", "some failed.", "it did not run."]
    assert all("12 pass, 0 fail" in lines for lines in said)


def test_it_is_a_benchmark_of_that_name():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert re.search(r"\bgpu\b", done.stdout) and "transform_programs" not in done.stdout

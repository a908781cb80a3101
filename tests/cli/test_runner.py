"""Cells as results: what is recorded, in this process and in others."""

import dataclasses

import jax
import numpy as np
import pytest

import functx
from functx.cli.long_runs import workers
from functx.cli.long_runs.workers import run_in_processes
from functx.cli.runner import check_groups, Plan, run_group, run_here, totals
from functx.testing import call, CHECKS, Gap, op_db, OpInfo
from functx.testing.checks.derived import looked_at


def samples(make):
    yield call(make(3))
    yield call(make(2, 3))


RIGHT = OpInfo(functx.sin, samples, reference=np.sin)
WRONG = OpInfo(functx.sin, samples, reference=np.cos, variant="wrong")
REASON = "the reference is the cosine, on purpose"
KNOWN = dataclasses.replace(WRONG, gaps=(Gap("reference", REASON),))
STALE = dataclasses.replace(RIGHT, gaps=(Gap("reference", REASON),))


def run_alone(info, dtype, check, **known):
    (result,) = run_group(info, dtype, [check], **known)
    return result


def test_a_pass_counts_its_samples():
    result = run_alone(RIGHT, "float32", "reference")
    assert (result.status, result.error) == ("pass", "")
    assert result.samples == len(looked_at(RIGHT, "float32")) > 2
    assert result.ulps > 0 and result.seconds > 0 and not result.failing


def test_samples_can_be_bounded():
    assert run_alone(RIGHT, "float32", "reference", samples=1).samples == 1


def test_a_failure_names_the_sample_that_failed():
    result = run_alone(WRONG, "float32", "reference")
    assert result.status == "fail" and result.failing
    assert result.sample == "sin(f32[3])"
    assert result.error.startswith("AssertionError: ") and "ulps" in result.error
    assert "Traceback" in result.traceback or "check_reference" in result.traceback


def test_a_declared_gap_that_fails_is_a_gap():
    result = run_alone(KNOWN, "float32", "reference")
    assert result.status == "gap" and not result.failing and result.reason == REASON


def test_a_declared_gap_that_passes_fails():
    result = run_alone(STALE, "float32", "reference")
    assert result.status == "unexpected pass" and result.failing
    assert "declared a gap" in result.error


def test_gaps_of_other_devices_do_not_count():
    elsewhere = Gap("reference", REASON, devices=frozenset({"gpu"}))
    info = dataclasses.replace(WRONG, gaps=(elsewhere,))
    assert run_alone(info, "float32", "reference").status == "fail"


def test_a_check_that_raises_anything_is_a_failure():
    def explode(x):
        raise ZeroDivisionError("by design")

    info = dataclasses.replace(RIGHT, reference=explode)
    assert "by design" in run_alone(info, "float32", "reference").error


def test_a_plan_runs_only_cells_that_apply():
    plan = Plan((RIGHT, WRONG), ("float32", "int32"), ("reference", "grad"), samples=1)
    cells = plan.cells()
    assert ("sin", "int32", "grad") not in cells and ("sin", "float32", "grad") in cells
    chosen = [cell for cell in cells if cell[2] == "reference"]
    results = list(run_here(plan, chosen, jax.devices("cpu")[0]))
    assert totals(results) == {"pass": 2, "fail": 2, "gap": 0, "unexpected pass": 0}


def unable(*args):
    raise ZeroDivisionError("by design")
    yield


DRAWS_NOTHING = OpInfo(functx.sin, unable, variant="unable")
# Whether its calls are random, the first one says.
UNABLE_TO_SAY = OpInfo(functx.nn.functional.dropout, unable)


@pytest.mark.parametrize("unable_entry", [DRAWS_NOTHING, UNABLE_TO_SAY], ids=lambda info: info.id)
@pytest.mark.parametrize("profile", ["quick", "full"])
def test_samples_that_raise_fail_the_cells_of_their_entry_alone(unable_entry, profile):
    plan = Plan((unable_entry, RIGHT), ("float32",), ("reference", "jit", "keys"), profile=profile)
    found = list(run_here(plan, plan.cells(), jax.devices("cpu")[0]))
    theirs = [result for result in found if result.operator == unable_entry.id]
    assert theirs and {r.error for r in theirs} == {"ZeroDivisionError: by design"}
    assert all(r.status == "fail" and "unable" in r.traceback for r in theirs)
    assert [r.status for r in found if r not in theirs] == ["pass", "pass"]


def test_refusals_that_raise_fail_their_cell_alone():
    entry = dataclasses.replace(RIGHT, refusals=unable)
    plan = Plan((entry,), ("float32",), ("reference", "refusals"))
    found = {r.check: r.error for r in run_here(plan, plan.cells(), jax.devices("cpu")[0])}
    assert found == {"reference": "", "refusals": "ZeroDivisionError: by design"}


def unable_to_choose(info, drawn):
    raise ZeroDivisionError("by design")


def test_samples_that_a_check_cannot_choose_from_fail_it_alone(monkeypatch):
    unable = dataclasses.replace(CHECKS["jit"], quick_samples=unable_to_choose)
    monkeypatch.setitem(CHECKS, "jit", unable)
    jit, reference = run_group(RIGHT, "float32", ["jit", "reference"])
    assert (jit.error, reference.status) == ("ZeroDivisionError: by design", "pass")


def test_groups_hold_every_check_once():
    grouped = [name for names in check_groups(CHECKS).values() for name in names]
    assert sorted(grouped) == sorted(CHECKS)


def entries(*names):
    return tuple(info for info in op_db if info.id in names)


@pytest.mark.filterwarnings("default")
def test_two_processes_give_the_results_of_one():
    plan = Plan(entries("exp", "log1p"), ("float32",), ("reference",), samples=1)
    cells = plan.cells()
    results = list(run_in_processes(plan, cells, 2))
    assert {(r.operator, r.dtype, r.check) for r in results} == set(cells)
    assert all(r.status == "pass" for r in results)


class DeadPipe:
    def recv(self):
        raise EOFError

    def close(self):
        pass


class DeadProcess:
    exitcode = -11

    def join(self):
        pass

    terminate = join


def test_cells_of_a_process_that_dies_run_again_one_by_one():
    shards = workers.collections.deque()
    left = workers.collections.deque([("a", "float32", "jit"), ("a", "float32", "vmap")])
    worker = workers._Worker(DeadProcess(), DeadPipe(), left, ready=True)
    assert list(workers._buried(worker, shards)) == []
    (shard,) = shards
    assert shard.singly and len(shard.cells) == 2


def test_a_process_that_dies_fails_the_cell_it_died_in():
    shards = workers.collections.deque()
    left = workers.collections.deque([("a", "float32", "jit"), ("a", "float32", "vmap")])
    worker = workers._Worker(DeadProcess(), DeadPipe(), left, singly=True, ready=True)
    (result,) = workers._buried(worker, shards)
    assert (result.check, result.status) == ("jit", "fail")
    assert "signal 11" in result.error
    assert [list(shard.cells) for shard in shards] == [[("a", "float32", "vmap")]]


def test_a_process_that_never_starts_is_an_error():
    worker = workers._Worker(DeadProcess(), DeadPipe())
    with pytest.raises(RuntimeError, match="as it started"):
        list(workers._buried(worker, workers.collections.deque()))

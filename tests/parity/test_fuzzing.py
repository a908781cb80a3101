"""The fuzzer finds mistakes that are planted, replays what it finds, and outlives its processes."""

import dataclasses
import os
import signal

import jax.numpy as jnp
import pytest


pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

import functx
from functx.testing import call, Departure
from functx.testing.mutants.derivatives import scaled

from .fuzz import workers
from .fuzz.declared import covers
from .fuzz.draws import Drawing, VALUES
from .fuzz.judging import Finding
from .fuzz.running import ENTRIES, Fuzzing, Tally


def planted(op):
    """The entry of an operator, with `op` in its place."""
    op.spec = functx.atan2.spec
    return dataclasses.replace(ENTRIES["atan2"], op=op)


def finds(info, kind, blocks=60):
    """Whether a difference of this kind is among those of the first blocks of calls."""
    fuzzing = Fuzzing(info)
    found = (finding for number in range(blocks) for finding in fuzzing.block(number))
    return any(finding.kind == kind for finding in found)


def slightly_off(*args, **kwargs):
    return functx.atan2(*args, **kwargs) * jnp.asarray(1 + 1e-4, "float32")


def never_nan(*args, **kwargs):
    return jnp.nan_to_num(functx.atan2(*args, **kwargs))


def without_signs_of_zeros(*args, **kwargs):
    out = functx.atan2(*args, **kwargs)
    return jnp.where(out == 0, jnp.zeros_like(out), out)


def in_one_dtype(*args, **kwargs):
    return functx.atan2(*args, **kwargs).astype("float32")


def one_more_dimension(*args, **kwargs):
    return functx.atan2(*args, **kwargs)[None]


def of_two_arrays(*args, **kwargs):
    return functx.atan2(*args, **kwargs), 0


def choosy(*args, **kwargs):
    if any(getattr(x, "ndim", 0) > 2 for x in args):
        raise ValueError("atan2: `input` must be a matrix")
    return functx.atan2(*args, **kwargs)


def careless(*args, **kwargs):
    try:
        return functx.atan2(*args, **kwargs)
    except RuntimeError:
        return args[0]


def raw(*args, **kwargs):
    return functx.atan2(*[x.at[:] for x in args], **kwargs)


def steep(*args, **kwargs):
    return scaled(1.0, 2.0)(functx.atan2(*args, **kwargs))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "op, kind",
    [
        (slightly_off, "value"),
        (never_nan, "value"),
        (without_signs_of_zeros, "value"),
        (in_one_dtype, "dtype"),
        (one_more_dimension, "shape"),
        (of_two_arrays, "structure"),
        (choosy, "refused"),
        (careless, "accepted"),
        (raw, "wording"),
        (steep, "gradient"),
    ],
)
def test_finds(op, kind):
    assert finds(planted(op), kind)


def test_a_seed_is_one_call():
    info = ENTRIES["atan2"]
    first, again = Drawing(info), Drawing(info)
    assert [repr(first(seed)) for seed in range(20)] == [repr(again(seed)) for seed in range(20)]


def test_a_block_differs_in_values_alone():
    draw = Drawing(ENTRIES["atan2"])
    for first in range(0, 80, VALUES):
        kinds = {tuple(map(shape_of, draw(first + i).args)) for i in range(VALUES)}
        assert len(kinds) == 1


def shape_of(x):
    return getattr(x, "shape", None), getattr(x, "dtype", x)


@pytest.mark.parametrize(
    "kind, match, covered", [("value", "", True), ("value", r"f64", False), ("shape", "", False)]
)
def test_a_departure_covers_a_kind_and_some_calls(kind, match, covered):
    departure = Departure(kind, "planted", call(), match)
    finding = Finding("atan2", 0, "value", "1 at [0], PyTorch 2", "atan2(f32[3], f32[3])")
    assert covers(departure, finding) is covered


def hang_or_die(pipe):
    """A process whose second call ends it, and whose fifth takes too long."""
    pipe.send(None)
    while True:
        turn = pipe.recv()
        for seed in range(turn.first * VALUES, (turn.first + turn.count) * VALUES):
            pipe.send((seed, f"call {seed}"))
            if seed == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            if seed == 2 * VALUES:
                os.kill(os.getpid(), signal.SIGPROF)
        pipe.send(workers.Report(turn, [], Tally(calls=turn.count * VALUES), 0.0))


def test_a_process_that_dies_costs_a_call():
    turns = iter([workers.Turn("atan2", 0, 5)])
    reports = list(workers.run(turns, 1, hang_or_die))
    found = [finding for report in reports for finding in report.findings]
    assert [(f.kind, f.seed, f.call) for f in found] == [
        ("died", 1, "call 1"),
        ("late", 2 * VALUES, f"call {2 * VALUES}"),
    ]
    assert reports[-1].turn == workers.Turn("atan2", 3, 2)


@pytest.mark.parametrize("side, theirs", [("by_pytorch", True), ("by_functx", False)])
def test_whose_call_ended_a_process(side, theirs):
    trace = f'  File "a.py", line 1 in bound\n  File "b.py", line 2 in {side}\n'
    assert workers._ended_by_pytorch(trace + '  File "c.py", line 3 in outcomes\n') is theirs
    assert not workers._ended_by_pytorch('  File "c.py", line 3 in outcomes\n')

"""Programs ahead of time: graphs and their code, joint graphs and the halves of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import functx
from functx.testing.opinfo import OpInfo, Sample

from .cases import (
    differentiable_case,
    DifferentiableCase,
    jvp_of,
    random_like,
    sized,
    vjp_of,
    whole_program,
)
from .compare import assert_close, closeness, DERIVATIVES
from .programs import CheckProgram, CheckSteps


def check_graph(info: OpInfo, sample: Sample) -> CheckSteps:
    """A graph, at either level, and its code give the operator's values and derivatives."""
    sample = sized(info, sample)
    program, arrays = whole_program(info, sample)
    what = f"graph of {info.id}{sample!r}"
    coarse, fine = (
        functx.aot.trace(program.f, *arrays, level=level) for level in ("operator", "primitive")
    )
    ways = [coarse, fine, coarse.dce(), coarse.code.function(), fine.code.function()]
    want, *found = yield [program(*arrays), *(CheckProgram(way)(*arrays) for way in ways)]
    for got in found:
        assert_close(list(got), list(want), what=what, close=closeness(info, sample))
    case = differentiable_case(info, sample)
    if case is None or not info.differentiable:
        return
    graph = functx.aot.trace(case.f, *case.xs, level="primitive")
    args = [*case.xs, *case.cotangents]
    pulled = CheckProgram(vjp_of(graph, len(case.xs)))
    got, want = yield [pulled(*args), case.pulled(*args)]
    assert_close(got, want, what=f"gradient of a {what}", close=DERIVATIVES)


def check_partition(info: OpInfo, sample: Sample) -> CheckSteps:
    """The halves of a joint graph, divided either way, are `vjp`, to second order."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    joint = functx.aot.joint_graph(case.f, *case.xs)
    every, fewest = functx.aot.default_partition(joint), functx.aot.min_cut_partition(joint)
    assert fewest.saved_bytes <= every.saved_bytes, (
        f"{case.what}: a minimum cut saves {fewest.saved_bytes} bytes, the default "
        f"{every.saved_bytes}"
    )
    args = [*case.xs, *case.cotangents]
    divided = [CheckProgram(_gradients(case, partition)) for partition in (every, fewest)]
    want, *found = yield [case.pulled(*args), *(gradients(*args) for gradients in divided)]
    for got in found:
        assert_close(got, want, what=f"halves of {case.what}", close=DERIVATIVES)
    dots = random_like(args, seed=31)
    first, second = (jvp_of(f, len(args)) for f in (case.pulled.f, divided[1].f))
    want, got = yield [CheckProgram(first)(*args, *dots), CheckProgram(second)(*args, *dots)]
    assert_close(got, want, what=f"derivative of halves of {case.what}", close=DERIVATIVES)


def _gradients(case: DifferentiableCase, partition: Any) -> Any:
    count = len(case.xs)

    def gradients(*args: Any) -> Sequence[Any]:
        results = partition.forward(*args[:count])
        return partition.backward(*results[len(case.outputs) :], *args[count:])

    return gradients

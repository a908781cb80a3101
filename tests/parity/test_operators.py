"""Values, dtypes, gradients and refusals are PyTorch's. Nothing here names an operator."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

import functx
from functx._core import OPERATORS
from functx.testing import op_db as functx_op_db
from functx.testing.checks.programs import compiled

from .pytorch import (
    assert_agrees,
    Call,
    calls,
    COARSE_HALVES,
    ENTRIES,
    flat,
    in_single,
    lookup,
    to_functx,
    WRONG_GRADIENTS,
    WRONG_VALUES,
)


SAMPLES = {"quick": 2, "full": 10, "exhaustive": 10**6}  # of float32; of other dtypes half
DTYPES = ["float32", "complex64", "int64", "bfloat16"]
TOLERANCE = {"float32": 5e-4, "complex64": 5e-4, "bfloat16": 4e-2, "float16": 2e-2}
TOLERANCE |= {"float64": 1e-6, "complex128": 1e-6}
RANDOM = {OPERATORS[info.name] for info in functx_op_db if info.random}
GAUGED = {OPERATORS[info.name]: info.gauge for info in functx_op_db if info.gauge}

# Where values tie, PyTorch promises no positions; float32 inputs have no ties.
UNORDERED = {OPERATORS[info.name] for info in functx_op_db if info.ties_in_any_order}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's, of its own operators


@pytest.fixture(scope="session")
def most(request):
    """At most so many of PyTorch's inputs."""
    return SAMPLES[request.config.getoption("--profile")]


each_entry = pytest.mark.parametrize(
    "entry",
    [
        pytest.param(e, id=e.full_name, marks=pytest.mark.of_operator(lookup(e).spec.name))
        for e in ENTRIES
    ],
)


@each_entry
def test_values(entry, most):
    op = lookup(entry)
    found = [
        call
        for name in DTYPES
        if looked_at(entry, name)
        for call in calls(entry, name, most if name == "float32" else most // 2)
    ]
    for call, got in zip(found, results(op, found), strict=True):
        coarse = call.dtype == torch.bfloat16 and entry.full_name in COARSE_HALVES
        want = in_single(call) if coarse else call.torch()
        gauge = GAUGED.get(op, lambda out: out)
        want = jax.tree.unflatten(jax.tree.structure(got), [to_functx(y) for y in flat(want)])
        got, want = flat(gauge(got)), flat(gauge(want))
        assert len(got) == len(want)
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            position = op in UNORDERED and call.dtype != torch.float32 and i == len(got) - 1
            if op in RANDOM or position:
                assert (g.shape, g.dtype) == (w.shape, w.dtype)
            else:
                assert_agrees(g, w, repr(call), TOLERANCE)


def looked_at(entry, dtype: str) -> bool:
    """Where PyTorch's CPU kernel and functx both take the dtype, and PyTorch is right."""
    taken = getattr(torch, dtype) in entry.dtypes and dtype in lookup(entry).spec.accepts.value
    return taken and (entry.full_name, dtype) not in WRONG_VALUES


def results(op, found: list[Call]) -> list:
    """Of all calls in one program, unless shapes depend on values or numbers on a generator.

    What is not of the call's dtype is constant: positions may decide a shape.
    """
    split = [call.split(to_functx, call.dtype) for call in found]
    arrays = [[to_functx(x) for x in tensors] for tensors, _ in split]
    everything = lambda every: [run(op, xs) for (_, run), xs in zip(split, every, strict=True)]
    static = op not in RANDOM and not op.spec.sizes_from_values
    return (compiled(everything) if static else everything)(arrays)


@each_entry
def test_gradients(entry, most):
    op = lookup(entry)
    if not entry.supports_autograd or torch.float32 not in entry.dtypes or op in RANDOM:
        pytest.skip("PyTorch has no gradient here")
    if entry.full_name in WRONG_GRADIENTS:
        pytest.skip(f"PyTorch is wrong: {WRONG_GRADIENTS[entry.full_name]}")
    if op in GAUGED:
        pytest.skip("its outputs are fixed up to a gauge: see its database entry")
    pullbacks = [pullback(op, call) for call in calls(entry, "float32", most)]
    hold_gradients([p for p in pullbacks if p], static=not op.spec.sizes_from_values)


@dataclasses.dataclass(frozen=True)
class Pullback:
    """A call's cotangents of its inputs, by functx, and what PyTorch makes of them."""

    call: Call
    run: Callable[..., Any]  # of the arrays and the outputs' cotangents
    arrays: list
    cotangents: list
    want: tuple


def pullback(op, call) -> Pullback | None:
    """In double precision on PyTorch's side: in single, some of its gradients lose digits."""
    tensors, on_tensors = call.split(doubled)
    tensors = [doubled(t).clone().requires_grad_() for t in tensors]
    outputs = flat(on_tensors(call.entry.op, tensors)) if tensors else []
    kept = [i for i, y in enumerate(outputs) if isinstance(y, torch.Tensor) and y.requires_grad]
    if not kept:
        return None
    generator = torch.Generator().manual_seed(1)
    cotangents = [torch.randn(outputs[i].shape, generator=generator) for i in kept]
    cotangents = [
        torch.where(torch.isnan(outputs[i]), 0, ct) for i, ct in zip(kept, cotangents, strict=True)
    ]
    want = torch.autograd.grad(
        [outputs[i] for i in kept],
        tensors,
        [ct.to(outputs[i].dtype) for i, ct in zip(kept, cotangents, strict=True)],
        materialize_grads=True,
        allow_unused=True,
    )
    arrays, on_arrays = call.split(to_functx)

    def f(*arrays):
        out = flat(on_arrays(op, arrays))
        return tuple(out[i] for i in kept)

    def run(arrays, cotangents):
        out, pull = functx.vjp(f, *arrays)
        return pull(tuple(ct.astype(y.dtype) for ct, y in zip(cotangents, out, strict=True)))

    return Pullback(
        call, run, [to_functx(x) for x in arrays], [to_functx(ct) for ct in cotangents], want
    )


def hold_gradients(pullbacks, *, static):
    """All in one program, unless shapes depend on values."""
    everything = lambda args: [p.run(*a) for p, a in zip(pullbacks, args, strict=True)]
    run = compiled(everything) if static else everything
    twice = {name: 2 * at for name, at in TOLERANCE.items()}
    for p, got in zip(pullbacks, run([(p.arrays, p.cotangents) for p in pullbacks]), strict=True):
        for g, w, x in zip(got, p.want, p.arrays, strict=True):
            dtype = getattr(torch, x.dtype.name)
            here = w.to_dense().to(dtype) if w.layout != torch.strided else w.to(dtype)
            assert_agrees(g, here, repr(p.call), twice)


def doubled(x):
    if isinstance(x, torch.Tensor):
        return x.detach().double() if x.dtype == torch.float32 else x.detach()
    return x


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e.error_inputs_func], ids=lambda e: e.full_name
)
def test_refusals(entry):
    """What PyTorch refuses is refused, and in the operator's name."""
    for error in entry.error_inputs("cpu"):
        sample = error.sample_input
        args, kwargs = (sample.input, *sample.args), dict(sample.kwargs)
        if accepted_by_torch(entry, args, kwargs) or not brought_over(args, kwargs):
            continue
        op = lookup(entry)
        args, kwargs = torch.utils._pytree.tree_map(to_functx, (args, kwargs))
        with pytest.raises((TypeError, ValueError, IndexError, RuntimeError, OverflowError)) as got:
            op(*args, **kwargs)
        assert str(got.value).startswith(f"{op.spec.name}: ")


def accepted_by_torch(entry, args, kwargs) -> bool:
    """Some of PyTorch's bad inputs are bad for the method form only."""
    try:
        entry.op(*args, **kwargs)
    except Exception:
        return False
    return True


def brought_over(args, kwargs) -> bool:
    """Whether there are such arrays: none on a device of no memory, nor of more than 64 dims."""
    tensors = [x for x in flat((args, kwargs)) if isinstance(x, torch.Tensor)]
    return all(x.device.type == "cpu" and x.ndim <= 64 for x in tensors)

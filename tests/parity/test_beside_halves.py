"""Numbers and arrays of other dtypes beside halves: rounded to them where PyTorch rounds them."""

import jax.numpy as jnp
import numpy as np
import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

from functx._core import OPERATORS, REGISTRY
from functx._core.operators.roles import Fits, RoleKind

from .pytorch import dtype_name, to_numpy


EXACT = (0.75, 2048)  # what halves hold, and what they do not
BESIDE = {
    "number": [0.7, 0.1, 1 / 3],
    "0-d float32": [np.float32(0.7), np.float32(1 / 3)],
    "0-d int64": [np.int64(2051), np.int64(40001)],
    "int32": [np.arange(2049, 8000, 31, dtype=np.int32)],
}


def numbers_of(spec):
    """The parameters of an operator that may be a number beside its arrays."""
    for name, role in spec.roles.items():
        if role.kind is RoleKind.ARRAY and role.takes_number and not role.several:
            yield name
        elif role.fits is Fits.ARRAYS:
            yield name


def pointwise():
    for name, spec in REGISTRY.items():
        halves = {"float16", "bfloat16"} <= set(spec.accepts.value)
        if not halves or spec.random or getattr(torch, name, None) is None:
            continue
        for number in numbers_of(spec):
            yield name, number


def called(op, spec, given, convert):
    order = [n for n in spec.parameters.positional if n in given]
    named = {n: convert(x) for n, x in given.items() if n not in order}
    return op(*(convert(given[n]) for n in order), **named)


def agree(name, given, dtype):
    """Whether both libraries give the same halves of the same call; None if one refuses it."""
    spec = REGISTRY[name]

    half = getattr(torch, dtype)
    theirs = lambda x: torch.tensor(x, dtype=half if is_half(x) else None) if is_array(x) else x
    ours = lambda x: jnp.asarray(x, dtype) if is_half(x) else x
    try:
        want = called(getattr(torch, name), spec, given, theirs)
        got = called(OPERATORS[name], spec, given, ours)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return None
    if not isinstance(want, torch.Tensor) or dtype_name(want) != dtype:
        return None
    return np.array_equal(to_numpy(got), to_numpy(want), equal_nan=True)


def is_array(x):
    return isinstance(x, (np.ndarray, np.generic))


def is_half(x):
    """Whether an array stands for one of halves: those that are drawn."""
    return isinstance(x, np.ndarray) and x.dtype == np.float64


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_they_are_rounded_as_in_pytorch(dtype):
    rng, held, parted = np.random.default_rng(7), set(), []
    for name, number in pointwise():
        roles = REGISTRY[name].roles.items()
        names = [n for n, r in roles if r.kind is RoleKind.ARRAY and not r.several and n != number]
        arrays = {n: rng.uniform(0.05, 2.9, 192) for n in names}
        # Where PyTorch rounds on the way to its result, or one of them refuses such a call, what it
        # does with the number cannot be seen.
        if not arrays or not all(agree(name, arrays | {number: x}, dtype) for x in EXACT):
            continue
        held.add(name)
        for kind, values in BESIDE.items():
            for value in values:
                if agree(name, arrays | {number: value}, dtype) is False:
                    parted.append(f"{name}({number}={value}), {kind}")
    assert not parted
    assert {"add", "mul", "div", "remainder", "pow"} < held
    assert len(held) > 10

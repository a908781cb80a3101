"""The promotion table is PyTorch's, cell by cell: dtypes, 0-d arrays and Python numbers."""

import itertools

import jax.numpy as jnp
import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

from functx._core import result_dtype
from functx.testing import ALL_DTYPES


NUMBERS = [True, 2, 2.5, 2j]


def operands():
    for name, shape in itertools.product(ALL_DTYPES, [(2,), ()]):
        label = name if shape else f"{name}-0d"
        yield label, torch.zeros(shape, dtype=getattr(torch, name)), jnp.zeros(shape, name)
    for number in NUMBERS:
        yield type(number).__name__, number, jnp.asarray(number)


OPERANDS = list(operands())


@pytest.mark.parametrize("x", OPERANDS, ids=lambda o: o[0])
def test_result_dtype(x):
    wrong = []
    for y in OPERANDS:
        want = torch.result_type(x[1], y[1])
        want = torch.complex64 if want == torch.complex32 else want  # XLA has no complex32
        got = result_dtype([x[2], y[2]])
        if str(want) != f"torch.{got.name}":
            wrong.append((x[0], y[0], str(want), got.name))
    assert not wrong

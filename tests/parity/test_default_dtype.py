"""Under another default dtype the result dtypes are PyTorch's under the same: asked, not recorded.

Only those of the database's calls are asked again in whose recorded answer a default dtype may be:
float32 or complex64, where nothing that the call was drawn with has it.
"""

import contextlib
import itertools
import re
import zlib

import jax.numpy as jnp
import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

import functx
from functx._core import category, result_dtype
from functx.testing.checks.dtypes import complaint
from functx.testing.dtype_facts import cases, known, REFUSED

from .record_dtypes import asked
from .test_dtypes import BY_NAME
from .test_promotion import OPERANDS


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's, of its own operators

DEFAULTS = ["float64", "bfloat16"]


@contextlib.contextmanager
def default(name):
    """A default dtype in functx and in PyTorch."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, name))
    try:
        with functx.default_dtype(name):
            yield
    finally:
        torch.set_default_dtype(before)


def chosen(infos):
    """One of the dtypes that an operator's entries accept, of integers or bools if there are."""
    every = sorted({dtype for info in infos for dtype in info.accepted})
    whole = [dtype for dtype in every if category(jnp.dtype(dtype)) < 2]
    others = [dtype for dtype in every if dtype not in ("float32", "complex64")]
    among = whole or others
    return among[zlib.crc32(infos[0].name.encode()) % len(among)] if among else None


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_operators(name):
    infos = BY_NAME[name]
    dtype, wrong = chosen(infos), []
    for info in infos:
        for case in cases(info, dtype) if dtype in info.accepted else ():
            fact = known(info, case, dtype) or ""
            if not re.search(r"\b(f32|c64)\b", fact) or complaint(info, case, dtype, fact):
                continue
            for chosen_default in DEFAULTS:
                with default(chosen_default):
                    theirs = asked(info, case)
                    found = complaint(info, case, dtype, theirs)
                if found and not (theirs == REFUSED and ", refused: " in found):
                    wrong.append(f"{chosen_default}: {found}")
    assert not wrong


@pytest.mark.parametrize("chosen_default", DEFAULTS)
def test_promotion(chosen_default):
    wrong = []
    with default(chosen_default):
        for (a, x, ours), (b, y, other) in itertools.product(OPERANDS, OPERANDS):
            try:
                want = torch.result_type(x, y)
            except RuntimeError:  # PyTorch has no complex dtype beside bfloat16
                continue
            want = torch.complex64 if want == torch.complex32 else want
            got = result_dtype([ours, other])
            if str(want) != f"torch.{got.name}":
                wrong.append((a, b, str(want), got.name))
    assert not wrong


@pytest.mark.parametrize("chosen_default", ["float16", *DEFAULTS])
def test_arrays_of_python_numbers(chosen_default):
    numbers = [1.5, [1, 2.5], [True, 0.5], [], True, 3]
    numbers += [] if chosen_default == "bfloat16" else [2j, [1.5, 2j]]
    with default(chosen_default):
        for given in numbers:
            want = str(torch.tensor(given).dtype).replace("complex32", "complex64")
            assert f"torch.{functx.tensor(given).dtype.name}" == want, given
            assert functx.asarray(given).dtype == functx.tensor(given).dtype
        assert functx.get_default_dtype() == chosen_default

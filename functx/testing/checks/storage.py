"""Dtypes that only store numbers, float8 and int4: they are moved as they are, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx.testing.calls import Calls
from functx.testing.opinfo import OpInfo, Sample

from .cases import sized, whole_function
from .programs import Program, Steps


STORED = (np.dtype(jnp.float8_e4m3fn), np.dtype(jnp.int4))
REFUSED = "only stores numbers"


def check_storage(info: OpInfo, sample: Sample) -> Steps:
    """Elements of float8 and int4 arrays are moved as they are, or refused in functx's words."""
    assert info.spec is not None
    sample = sized(info, sample)
    here = _promoting(info, sample)
    if not any(here):
        return False
    for dtype in STORED:
        chosen = zip(sample.arrays(), here, strict=True)
        stored = [x.astype(dtype) if stores else x for x, stores in chosen]
        f, _ = whole_function(info, sample)
        what = f"{info.id}{sample.with_arrays(stored)!r}"
        if not info.spec.takes_storage:
            _assert_refused(f, stored, what)
            continue
        single = [x.astype("float32") if x.dtype == dtype else x for x in stored]
        got, want = yield [Program(f)(*stored), Program(f)(*single)]
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            moved = np.asarray(w).astype(dtype) if g.dtype == dtype else np.asarray(w)
            assert g.dtype == dtype or g.dtype == w.dtype, f"{what}: output {i} is {g.dtype}"
            same = np.asarray(g).tobytes() == moved.tobytes()
            assert same, f"{what}: output {i} is {g}, and {w} where float32 stores the same"
    return True


def has_promoting_arrays(info: OpInfo, dtype: str) -> bool:
    """Whether a sample of an operator has an array that decides its results' dtype."""
    spec = info.spec
    return (
        spec is not None
        and bool(spec.promoting)
        and any(any(_promoting(info, sample)) for sample in info.draw(dtype))
    )


def _promoting(info: OpInfo, sample: Sample) -> list[bool]:
    """Which of a sample's arrays decide the results' dtype, and have the one it was drawn in."""
    assert info.spec is not None
    calls = Calls(info.op)
    arrays = calls.arrays(calls.arguments(sample.args, sample.kwargs))
    found = {id(x) for n, x in arrays.items() if n.partition("[")[0] in info.spec.promoting}
    return [id(x) in found and x.dtype.name == sample.drawn for x in sample.arrays()]


def _assert_refused(f: Callable[..., Any], arrays: list[jax.Array], what: str) -> None:
    try:
        jax.eval_shape(f, *arrays)
    except TypeError as error:
        assert REFUSED in str(error), f"{what}: refused without a remedy: {error}"
        return
    raise AssertionError(f"{what} is computed, in a dtype that {REFUSED}")

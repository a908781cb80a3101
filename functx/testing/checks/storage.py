"""Dtypes that only store numbers, float8 and int4: they are moved as they are, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import Promote
from functx._core.operators.roles import RoleKind
from functx.testing.calls import Calls
from functx.testing.opinfo import OpInfo, Sample

from .cases import sized, whole_function
from .programs import CheckProgram, CheckSteps


STORED = (np.dtype(jnp.float8_e4m3fn), np.dtype(jnp.int4))
REFUSED = "only stores numbers"
CONVERTED = "x.astype(y.dtype) converts"


def check_storage(info: OpInfo, sample: Sample) -> CheckSteps:
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
        if not info.spec.takes_storage_dtypes or not _same_dtype(info, sample):
            _assert_refused(f, stored, what)
            continue
        if any(f"`{name}`" in _refusal(f, stored, what) for name in _numbers(info, sample)):
            continue
        single = [x.astype("float32") if x.dtype == dtype else x for x in stored]
        got, want = yield [CheckProgram(f)(*stored), CheckProgram(f)(*single)]
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
    found = _deciding(info, sample)
    return [id(x) in found and x.dtype.name == sample.drawn for x in sample.arrays()]


def _same_dtype(info: OpInfo, sample: Sample) -> bool:
    """Whether the arrays that decide the results' dtype all have one, or need not."""
    assert info.spec is not None
    found = _deciding(info, sample)
    dtypes = {x.dtype for x in sample.arrays() if id(x) in found}
    return len(dtypes) == 1 or info.spec.promote is Promote.NONE


def _deciding(info: OpInfo, sample: Sample) -> set[int]:
    """Identities of the arrays that decide the results' dtype."""
    assert info.spec is not None
    calls = Calls(info.op)
    arrays = calls.arrays(calls.arguments(sample.args, sample.kwargs))
    return {id(x) for n, x in arrays.items() if n.partition("[")[0] in info.spec.promoting}


def _numbers(info: OpInfo, sample: Sample) -> list[str]:
    """The options that are numbers and are given, with which an operator may compute."""
    assert info.spec is not None
    given = Calls(info.op).arguments(sample.args, sample.kwargs)
    scalars = [name for name, role in info.spec.roles.items() if role.kind is RoleKind.SCALAR]
    return [name for name in scalars if given.get(name) is not None]


def _assert_refused(f: Callable[..., Any], arrays: list[jax.Array], what: str) -> None:
    assert _refusal(f, arrays, what), f"{what} is computed, in a dtype that {REFUSED}"


def _refusal(f: Callable[..., Any], arrays: list[jax.Array], what: str) -> str:
    """The words in which a call is refused, which must say what to do; "" if it is not."""
    try:
        jax.eval_shape(f, *arrays)
    except TypeError as error:
        said = str(error)
        assert REFUSED in said or CONVERTED in said, f"{what}: refused without a remedy: {said}"
        return said
    return ""

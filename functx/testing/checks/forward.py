"""Values and refusals: what an operator returns when nothing transforms it."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import available, category, default_float, describe, Promote
from functx.testing.opinfo import OpInfo, Sample

from .cases import sized, whole_function, whole_program
from .compare import assert_close, closeness
from .program_text import text_of
from .programs import CheckProgram, CheckSteps


def check_reference(info: OpInfo, sample: Sample) -> CheckSteps:
    """The operator agrees with its NumPy reference, computed in double precision."""
    assert info.reference is not None
    arrays, what = sample.arrays(), f"{info.id}{sample!r}"
    if info.unmeasured(sample):  # of a size that the values decide, as no program has
        got = jax.tree.leaves(whole_function(info, sample)[0](*arrays))
    else:
        [got] = yield [whole_program(info, sample)[0](*arrays)]
    want = expected(info, info.reference, sample)
    if info.gauge is not None:
        [want] = yield [CheckProgram(info.gauge)(want)]
    want = jax.tree.leaves(want)
    assert len(got) == len(want), f"{what}: {len(got)} outputs, expected {len(want)}"
    narrowed = [_narrow(w, g) for g, w in zip(got, want, strict=True)]
    close = closeness(info, sample, computed=False)
    if info.cancelling is not None and info.cancelling.of is not None:
        sizes = np.abs(expected(info, info.cancelling.of, sample))
        close = dataclasses.replace(close, scale=np.where(np.isfinite(sizes), sizes, 0))
    assert_close(list(got), narrowed, what=what, close=close)


def expected(info: OpInfo, reference: Callable[..., Any], sample: Sample) -> Any:
    """What a reference says of a sample, from its arrays in double precision."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing
        return sample.over_arrays(reference)(*map(_wide(info), sample.arrays()))


def _wide(info: OpInfo) -> Callable[[jax.Array], np.ndarray]:
    kinds: dict[int, Any] = {2: np.float64, 3: np.complex128}
    through = np.dtype(np.float64)
    if info.spec is not None and info.spec.promote in (
        Promote.INT_TO_FLOAT,
        Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT,
    ):
        kinds |= {0: np.float64, 1: np.float64}
        through = default_float()  # integers are rounded to it first

    def wide(x: jax.Array) -> np.ndarray:
        kind, values = category(x.dtype), np.asarray(x)
        if kind < 2 and kind in kinds:
            values = values.astype(through)
        return values.astype(kinds.get(kind, values.dtype))

    return wide


def _narrow(want: Any, got: jax.Array) -> np.ndarray:
    want = np.asarray(want)
    if category(want.dtype) == 3 and category(got.dtype) < 3:
        assert not want.imag.any(), f"expected a complex result, got {describe(got)}"
        want = want.real
    with np.errstate(over="ignore", invalid="ignore"):
        return want.astype(got.dtype)


def sample_dtype(info: OpInfo) -> str:
    """float32, or the widest dtype of an entry that does not take it."""
    return "float32" if "float32" in info.accepted else info.accepted[-1]


def check_jit(info: OpInfo, sample: Sample) -> CheckSteps:
    """Under `jit`, the values are those of the eager call."""
    eager, arrays = whole_function(info, sample)
    want = eager(*arrays)
    if info.unmeasured(sample):  # with sizes that this call's values decide, not other lanes'
        sample = sized(info, dataclasses.replace(sample, lanes=()))
    program, arrays = whole_program(info, sample)
    [got] = yield [program(*arrays)]
    assert_close(got, want, what=f"jit({info.id}){sample!r}", close=closeness(info, sample))


def check_x64_off(info: OpInfo, sample: Sample) -> CheckSteps:
    """With 64 bit off the results are the same in 32 bits, and nothing warns."""
    if not fits_32_bits((sample.args, dict(sample.kwargs))):
        return False
    sample = sized(info, sample)
    program, arrays = whole_program(info, sample)
    with jax.enable_x64(False):
        g, narrow = whole_function(info, sample.with_arrays(list(map(_in_32_bits, arrays))))

    def without_warnings(*arrays: jax.Array) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return g(*arrays)

    narrowed = CheckProgram(without_warnings, x64=False)
    with jax.enable_x64(False):
        narrowed_text = text_of(narrowed.trace(*narrow).jaxpr)
    if narrowed_text == text_of(program.trace(*arrays).jaxpr):
        return True  # most programs are the same, and nothing is computed
    want, got = yield [program(*arrays), narrowed(*narrow)]
    want = tuple(_in_32_bits(y) for y in want)
    assert_close(got, want, what=f"{info.id}{sample!r}, x64 off", close=closeness(info, sample))


def fits_32_bits(arguments: Any) -> bool:
    leaves = [np.asarray(x) for x in jax.tree.leaves(arguments) if isinstance(x, (int, jax.Array))]
    whole = [x for x in leaves if x.dtype.kind in "iu" and x.size]
    return all(-(2**31) <= x.min() and x.max() < 2**31 for x in whole)


def _in_32_bits(x: jax.Array) -> jax.Array:
    with jax.enable_x64(False):
        return jax.device_put(np.asarray(x).astype(available(x.dtype)))


def check_layouts(info: OpInfo, sample: Sample) -> bool:
    """NumPy views in any memory order, committed and donated arrays give equal results."""
    f, arrays = whole_function(info, sized(info, sample))
    if not arrays:
        return False
    want, close = f(*arrays), closeness(info, sample)
    device = jax.devices()[0]
    layouts: dict[str, Callable[[jax.Array], Any]] = {
        "in Fortran order": lambda x: np.array(x, order="F"),
        "a strided view": lambda x: np.repeat(np.asarray(x)[..., None], 2, -1)[..., 1],
        "read backwards": lambda x: np.asarray(np.flip(np.flip(np.asarray(x)).copy())),
        "committed": lambda x: jax.device_put(x, device),
    }
    for name, layout in layouts.items():
        got = f(*map(layout, arrays))
        what = f"{info.id}{sample!r}, arguments {name}"
        assert_close(got, want, what=what, close=close)
    copies = [jnp.array(x, copy=True) for x in arrays]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
        got = jax.jit(f, donate_argnums=tuple(range(len(copies))))(*copies)
    what = f"{info.id}{sample!r}, arguments donated"
    assert_close(got, want, what=what, close=close)
    return True

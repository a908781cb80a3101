"""In what two outcomes of a call differ, in one line, with the cause that such lines share."""

from __future__ import annotations

import dataclasses
import functools as ft
import re
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from functx._core import category
from functx._core.operators.roles import RoleKind
from functx.testing import op_db, OpInfo
from functx.testing.checks.choosing_operators import chooses
from functx.testing.checks.compare import magnitude, ulps_of
from functx.testing.checks.forward import expected

from .draws import Call, replaced, without_nan
from .outcomes import as_numpy, by_pytorch, doubled, dtype_of, Outcome
from .reaching import reached, Results, values


@dataclasses.dataclass(frozen=True)
class Finding:
    """A difference: its kind, what came of the call, and how to see it again."""

    operator: str
    seed: int
    kind: str
    what: str
    call: str

    @property
    def cause(self) -> str:
        """The kind, and what is said without shapes and numbers."""
        bare = re.sub(r"\[[^\]]*\]|\([^)]*\)", "[]", self.what.partition("\n")[0])
        return f"{self.kind}: {re.sub(r'[-+]?[0-9][0-9.e+-]*j?', '#', bare)[:160]}"

    @property
    def line(self) -> str:
        return f"{self.kind}: {self.call}: {self.what}"


ERRORS = (TypeError, ValueError, IndexError, RuntimeError, OverflowError, MemoryError)
# What no reader of an error should have to know: JAX's classes, addresses, mangled types.
INTERNAL = re.compile(
    r"Traced<|Tracer|ShapedArray|ShapeDtypeStruct|\bobject at 0x|<function|<class|jax\._src|"
    r"jnp\.\w+ requires|_core|lax\.|unhashable|attribute '"
)
# PyTorch's CPU kernels lack a dtype, or a build lacks a library: nothing about the operator.
NO_KERNEL = re.compile(
    r"not implemented for|not supported on CPU|not yet supported|is not implemented|"
    r"could not create a primitive|expected scalar type|does not support .*(Half|BFloat16)|"
    r"not currently supported on the CPU|unsupported dtype|mkldnn|MKL|INTERNAL ASSERT|"
    r"mixed dtype \(CPU\)"
)


def findings(call: Call, ours: Outcome, theirs: Outcome) -> Iterator[Finding]:
    """What PyTorch does otherwise, and what is badly worded."""
    say = lambda kind, what: Finding(call.info.id, call.seed, kind, what, repr(call))
    if ours.error is not None:
        wrong = badly_worded(call.info, ours.error)
        if wrong:
            yield say("wording", wrong)
        elif theirs.error is None:
            yield say("refused", _worded(ours.error))
        return
    if theirs.error is not None:
        if not NO_KERNEL.search(str(theirs.error)):
            yield say("accepted", f"PyTorch: {_worded(theirs.error)}")
        return
    if len(ours.arrays) != len(theirs.arrays) or ours.single != theirs.single:
        yield say("structure", f"{len(ours.arrays)} arrays, PyTorch {len(theirs.arrays)}")
        return
    for i, (got, want) in enumerate(zip(ours.arrays, theirs.arrays, strict=True)):
        at = f"output {i}: " if len(ours.arrays) > 1 else ""
        if tuple(got.shape) != tuple(getattr(want, "shape", ())):
            yield say("shape", f"{at}{tuple(got.shape)}, PyTorch {tuple(want.shape)}")
            return
        if dtype_of(got) != dtype_of(want):
            yield say("dtype", f"{at}{dtype_of(got)}, PyTorch {dtype_of(want)}")
            return
    if not call.info.random:
        wrong = _values(call, ours, theirs)
        if wrong:
            yield say("value", wrong)


def _worded(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()}".partition("\n")[0][:200]


def badly_worded(info: OpInfo, error: Exception) -> str:
    """What an error lacks of functx's wording, if anything."""
    said = f"{type(error).__name__}: {error}"[:300]
    if not isinstance(error, ERRORS) or isinstance(error, jax.errors.JaxRuntimeError):
        return f"{said.partition(chr(10))[0]} from inside"
    if not str(error).startswith(f"{info.name}: "):
        return f"{said.partition(chr(10))[0]} does not name the operator"
    if INTERNAL.search(str(error)):
        return f"{said.partition(chr(10))[0]} shows what is inside"
    return ""


def _values(call: Call, ours: Outcome, theirs: Outcome) -> str:
    pairs = compared(call, ours, theirs)
    for i, wrong in enumerate(off(call, ours, theirs)):
        if wrong.any():
            which = f"output {i}: " if len(pairs) > 1 else ""
            return which + first_off(wrong, *map(as_numpy, pairs[i]))
    return ""


def compared(call: Call, ours: Outcome, theirs: Outcome) -> list[tuple[Any, Any]]:
    """The results that count, functx's and PyTorch's."""
    info = call.info
    got, want = list(ours.arrays), list(theirs.arrays)
    if info.gauge is not None:
        tree = jax.tree.structure(ours.whole)
        back = tree.unflatten([jnp.asarray(as_numpy(y)) for y in want])
        got, want = jax.tree.leaves(info.gauge(ours.whole)), jax.tree.leaves(info.gauge(back))
    if unordered(info) and len(got) > 1:
        got, want = got[:-1], want[:-1]  # positions among equal elements
    return list(zip(got, want, strict=True))


def off(call: Call, ours: Outcome, theirs: Outcome) -> Iterator[np.ndarray]:
    """Which elements of each result are far from PyTorch's, and from whatever else may be right."""
    for i, (g, w) in enumerate(compared(call, ours, theirs)):
        wrong = far(call, i, g, w)
        for other in (_in_double, _by_reference, _by_long_reference, _flushed, _of_zeros):
            truth = other(call, len(theirs.arrays)) if wrong.any() else []
            if not truth or tuple(truth[i].shape) != tuple(g.shape):
                continue
            if other in (_flushed, _of_zeros):  # no truth of more digits
                wrong = wrong & far(call, i, g, truth[i])
            else:
                wrong = wrong & ~near_truth(call, g, w, truth[i])
        yield wrong


@ft.cache
def unordered(info: OpInfo) -> bool:
    return any(other.ties_in_any_order for other in op_db if other.name == info.name)


@ft.cache
def _signs_zeros(info: OpInfo) -> bool:
    return all(other.signed_zeros for other in op_db if other.name == info.name)


# Who else may be right where two results differ. All are asked for calls of `count` outputs.


def _in_double(call: Call, count: int) -> list[Any]:
    """PyTorch's results in double precision, if that is another call."""
    twin = doubled(call)
    return [] if twin is None else _pytorchs(twin, count)


def _flushed(call: Call, count: int) -> list[Any]:
    """PyTorch's results where it flushes subnormal numbers, as XLA's arithmetic does on CPUs."""
    if exact(call):
        return []
    torch.set_flush_denormal(True)
    try:
        return _pytorchs(call, count)
    finally:
        torch.set_flush_denormal(False)


def _of_zeros(call: Call, count: int) -> list[Any]:
    """PyTorch's results with zeros for subnormal numbers: it does not flush them everywhere."""
    zeros = None if exact(call) else with_zeros(call)
    return [] if zeros is None else _pytorchs(zeros, count)


def with_zeros(call: Call) -> Call | None:
    """The call with zeros for subnormal numbers, if there are any."""
    if not any((_zeroed(x) != x).any() for x in without_nan(call).arrays):
        return None
    return replaced(call, np.isfinite, _zeroed)


def _zeroed(x: np.ndarray) -> np.ndarray:
    if category(x.dtype) < 2:
        return x
    if category(x.dtype) == 3:
        out = np.empty_like(x)
        out.real, out.imag = _zeroed(x.real), _zeroed(x.imag)
        return out
    small = np.abs(x.astype(np.float64)) < float(jnp.finfo(x.dtype).tiny)
    return np.where(small, np.copysign(np.zeros_like(x), x), x)


def exact(call: Call) -> bool:
    """Whether a call computes nothing: then subnormal numbers are kept, and told from zero."""
    dtypes = {x.dtype.name for x in call.arrays if category(x.dtype) >= 2}
    # The entry's calls may choose, and this one add: by an option that they leave alone.
    return len(dtypes) == 1 and _chooses(call.info, *dtypes) and chooses(call.info, [call.sample])


@ft.cache
def _chooses(info: OpInfo, dtype: str) -> bool:
    return dtype in info.accepted and chooses(info, info.draw(dtype))


def _by_reference(call: Call, count: int) -> list[Any]:
    """Those of the entry's reference: of PyTorch's kernels some lose digits."""
    return _references(call, count, lambda reference: expected(call.info, reference, call.sample))


def _by_long_reference(call: Call, count: int) -> list[Any]:
    """Those in long double, where double precision may overflow."""
    long = {2: np.longdouble, 3: np.clongdouble}
    kinds = [category(x.dtype) for x in call.arrays]
    arrays = [x.astype(long.get(kind, x.dtype)) for x, kind in zip(call.arrays, kinds, strict=True)]
    return _references(call, count, lambda f: call.sample.over_arrays(f)(*arrays))


def _references(call: Call, count: int, results: Callable[[Any], Any]) -> list[Any]:
    info = call.info
    if info.reference is None or info.gauge is not None:
        return []
    try:
        with np.errstate(all="ignore"):
            found = [np.asarray(y) for y in jax.tree.leaves(results(info.reference))]
    except Exception:
        return []
    inexact = all(category(y.dtype) >= 2 for y in found)
    return found if len(found) == count and inexact else []


def _pytorchs(call: Call, count: int) -> list[Any]:
    found = by_pytorch(call)
    return list(found.arrays) if len(found.arrays) == count and call.info.gauge is None else []


def far(call: Call, i: int, got: Any, want: Any) -> np.ndarray:
    """Which elements of the result `i` are too far from PyTorch's."""
    name = dtype_of(got)
    got, want = as_numpy(got), as_numpy(want)
    if category(np.dtype(got.dtype)) < 2:
        return np.asarray(got != want)
    wrong = ~close(call.info, call, got, want, name)
    return wrong & ~unsettled(call, i, got, want, wrong, values)


def near_truth(call: Call, got: Any, want: Any, truth: Any) -> np.ndarray | bool:
    """Where a result is the true one, or about as near to it as PyTorch's number is.

    A zero's sign is no digit that was lost: where PyTorch has the other one, an entry says so.
    """
    name = dtype_of(got)
    got, want, truth = as_numpy(got), as_numpy(want), as_numpy(truth)
    if truth.shape != got.shape or category(np.dtype(truth.dtype)) != category(got.dtype):
        return False
    if category(got.dtype) < 2:
        return got == truth
    with np.errstate(all="ignore"):
        nearer = np.abs(got - truth) <= 2 * np.abs(want - truth)
        nearer &= (want != truth) & np.isfinite(want) & np.isfinite(truth)
        near = nearer | close(call.info, call, got, truth.astype(got.dtype), name)
        return near & (got != want)


def unsettled(
    call: Call, i: int, got: Any, want: Any, wrong: np.ndarray, results: Results
) -> np.ndarray:
    """Where it depends on the order of steps what comes of infinities and of overflow.

    That is so of complex numbers, of sums of real ones that are nearly too large, and of nothing
    but what these reach. Which part of a complex number overflows is left open, too.
    """
    wild = wrong & ~(np.isfinite(got) & np.isfinite(want))
    lost = wild & np.iscomplexobj(got) & ~np.isfinite(got) & ~np.isfinite(want)
    if np.iscomplexobj(got) or any(map(np.iscomplexobj, call.arrays)):
        chosen = lambda x: ~np.isfinite(x)
    elif call.info.cancelling is not None or _combines(call.info):
        chosen = _nearly_too_large
    else:
        return lost
    found = reached(call, chosen, results) if (wild & ~lost).any() else []
    comes = found[i] if i < len(found) and found[i].shape == wild.shape else False
    return lost | wild & comes


def _nearly_too_large(x: np.ndarray) -> np.ndarray:
    size = np.abs(x.astype(np.float64))
    return np.isfinite(size) & (size > float(jnp.finfo(x.dtype).max) ** 0.5 / 64)


def _combines(info: OpInfo) -> bool:
    """Whether an element of the result comes of several."""
    assert info.spec is not None
    kinds = {role.kind for role in info.spec.roles.values()}
    return bool(kinds & {RoleKind.DIM, RoleKind.DIMS})


def first_off(where: np.ndarray, got: np.ndarray, want: np.ndarray) -> str:
    at = tuple(int(i) for i in np.argwhere(where)[0])
    return f"{got[at]} at {list(at)}, PyTorch {want[at]} ({where.sum()} of {where.size} off)"


def close(info: OpInfo, call: Call, got: Any, want: Any, dtype: str) -> np.ndarray:
    """Where two results are as near as the entry says, each of them off by that much."""
    limits = jnp.finfo(dtype)
    kind = category(np.dtype(got.dtype))
    both = 2 * float(limits.eps)
    wide = np.complex128 if kind == 3 else np.float64
    got, want = got.astype(wide), want.astype(wide)
    stated = (info.cancelling.floor or 0.0) if info.cancelling else 0.0
    floor = 1e4 if info.finite_only else stated
    with np.errstate(all="ignore"):
        scale = max(magnitude([want]), magnitude(call.arrays)) if floor else 0.0
        # An ulp of a complex number is one of its absolute value.
        allowed = both * (ulps_of(info, dtype) * np.abs(want) + floor * scale)
        flushed = 0 if exact(call) else 2 * float(limits.tiny)
        near = (np.abs(got - want) <= allowed + flushed) & np.isfinite(want)
    near |= (got == want) | (np.isnan(got) & np.isnan(want))
    if kind == 2 and _signs_zeros(info) and not floor and not unordered(info):
        near &= (got != 0) | (want != 0) | (np.signbit(got) == np.signbit(want))
    return near

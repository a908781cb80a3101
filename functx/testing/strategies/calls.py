"""Calls of an operator: samples of its entries with other sizes, ranks, dims, values, layouts."""

from __future__ import annotations

import dataclasses
import functools as ft
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from hypothesis import strategies as st

from functx._core import available, describe, fail, nearest
from functx._core.operators.roles import RoleKind
from functx.testing.checks.forward import sample_dtype
from functx.testing.drawing.call import Call
from functx.testing.drawing.draft import Draft, TINY
from functx.testing.dtypes import ALL_DTYPES
from functx.testing.opdb import op_db
from functx.testing.opinfo import OpInfo
from functx.testing.options import names_among
from functx.testing.variations import flattened, narrowed, raised


SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-20, 1e20, TINY)
_SEEDS = 2**16
_SMALL = 64  # elements of an array: larger samples are not for looking at
# The simplest call has numbers for arrays, where an operator takes them. Half of the calls keep
# the ranks of a sample.
_RANKS = (flattened, None, None, None, narrowed, raised)

Operator = OpInfo | str | Callable[..., Any]


def calls(
    op: Operator,
    *,
    dtypes: str | Sequence[str] | None = None,
    special: bool = False,
    max_side: int = 3,
) -> st.SearchStrategy[Call]:
    """Calls that an operator accepts, made from the samples of its entries in the database.

    - `op`: an operator, its name or an alias of it, the id of one entry, or an `OpInfo`, of a
      function of yours too.
    - `dtypes`: the name of one or several in which samples are drawn; by default all that the
      operator accepts.
    - `special`: whether calls may hold signed zeros, infinities, NaN, tiny and huge numbers.
      Where they do, nothing is promised of derivatives (`call.sample.values_only`).
    - `max_side`: the largest size that is given to a dimension in place of a sample's own.

    Varied are the sample, the dtype, sizes (0 and 1 among them), ranks, broadcasting, `dim`
    arguments from either end, values as the sample wants them, and layouts: JAX arrays, or NumPy's
    in any order. A call shrinks to the first sample with as few and as short dimensions as can be
    and with multiples of a quarter for values.

    >>> from hypothesis import find, Phase, settings
    >>> from functx.testing.strategies import calls
    >>> quickly = settings(phases=[Phase.generate, Phase.shrink])
    >>> matrix = lambda call: call.sample.arrays()[0].ndim == 2
    >>> found = find(calls("sum", dtypes=["float32"]), matrix, settings=quickly)
    >>> found.sample.arrays()[0].shape
    (1, 1)
    """
    if isinstance(max_side, bool) or not isinstance(max_side, int) or max_side < 1:
        got = f"`max_side` must be an integer of at least 1, got {describe(max_side)}"
        fail("calls", got, error=ValueError)
    return st.one_of(
        [_calls(*outlined, special, max_side) for outlined in _outlined(op, dtypes, special)]
    )


def entries(op: Operator) -> list[OpInfo]:
    """The entries of an operator in the database, or the one that is given."""
    if isinstance(op, OpInfo):
        return [op]
    if isinstance(op, str):
        found = [info for info in op_db if op in _names(info)]
        if not found:
            hint = nearest(op, sorted({n for info in op_db for n in _names(info)}), cutoff=0.6)
            fail("calls", f"`op` names no operator: {op!r}", hint=hint, error=ValueError)
        return found
    if not callable(op):
        got = f"`op` must be an operator, its name or an OpInfo, got {describe(op)}"
        fail("calls", got, error=TypeError)
    found = [info for info in op_db if info.op is op]
    if not found:
        hint = "for a function of yours, give an OpInfo with samples"
        got = f"`op` must be an operator of the database, got {describe(op)}"
        fail("calls", got, hint=hint, error=TypeError)
    return found


def _names(info: OpInfo) -> set[str]:
    return {info.name, info.id, *(info.spec.aliases if info.spec else ())}


@dataclasses.dataclass(frozen=True)
class _Outline:
    """A sample of an entry in a dtype, before anything is varied."""

    index: int
    sizes: tuple[int, ...]  # of its arrays, those that are not 0 or 1
    edge: bool
    large: bool


@ft.lru_cache(maxsize=256)
def _outlines(info: OpInfo, dtype: str) -> tuple[_Outline, ...]:
    found = []
    for i, sample in enumerate(info.samples(info.make(dtype))):
        arrays = sample.arrays()
        sizes = {n for x in arrays for n in x.shape if n > 1}
        large = any(x.size > _SMALL for x in arrays)
        found.append(_Outline(i, tuple(sorted(sizes)), sample.values_only, large))
    return tuple(found)


def _outlined(
    op: Operator, dtypes: str | Sequence[str] | None, special: bool
) -> list[tuple[OpInfo, dict[str, list[_Outline]]]]:
    """The samples to choose from, by entry and dtype; single precision comes first."""
    found = []
    infos = entries(op)
    taken = dict.fromkeys(name for info in infos for name in info.accepted)
    dtypes = names_among("calls", "dtypes", dtypes, {**dict.fromkeys(ALL_DTYPES), **taken})
    for info in infos:
        chosen = {}
        for dtype in sorted(info.accepted, key=lambda name: name != sample_dtype(info)):
            if available(dtype).name != dtype or (dtypes is not None and dtype not in dtypes):
                continue
            whole = _outlines(info, dtype)
            inner = whole if special else [o for o in whole if not o.edge] or whole
            if inner:
                chosen[dtype] = [o for o in inner if not o.large] or list(inner)
        if chosen:
            found.append((info, chosen))
    if not found:
        got = f"`dtypes` must name some of those that {infos[0].name} takes, got {describe(dtypes)}"
        fail("calls", got, hint=f"it takes {', '.join(taken)}", error=ValueError)
    return found


@st.composite
def _calls(
    draw: st.DrawFn,
    info: OpInfo,
    outlined: dict[str, list[_Outline]],
    special: bool,
    max_side: int,
) -> Call:
    dtype = draw(st.sampled_from(list(outlined)))
    outline = draw(st.sampled_from(outlined[dtype]))
    plain = Draft(info, dtype, outline.index)
    drafts = [plain]
    for change in (_sizes, _rank, _dims):
        for changed in change(draw, drafts[-1], outline, max_side):
            if changed.may_be_taken():
                drafts.append(changed)
                break
    seed, step = draw(st.integers(0, _SEEDS)), draw(st.sampled_from((0.25, None)))
    drafts = [dataclasses.replace(draft, seed=seed, step=step) for draft in drafts]
    if special and not info.finite_only and draw(st.integers(0, 3)) == 3:
        values = draw(st.lists(st.sampled_from(SPECIAL), min_size=1, max_size=4))
        target = draw(st.integers(0, 3))
        drafts.append(dataclasses.replace(drafts[-1], poked=(target, tuple(values))))
    taken = next((draft for draft in reversed(drafts) if draft.is_taken()), plain)
    sample = taken.whole()
    layouts = itertools.cycle([draw(st.sampled_from(_LAYOUTS)) for _ in range(_ARRAYS)])
    laid_out = [layout(x) for x, layout in zip(sample.arrays(), layouts, strict=False)]
    call = sample.with_arrays(laid_out)
    key = _key(info, seed) if info.random else {}
    return Call(info, sample, call.args, {**key, **call.kwargs})


# A shorter list of choices is a simpler one to Hypothesis, so as many are made for each sample.
_SIZES, _ARRAYS = 4, 3


def _sizes(draw: st.DrawFn, draft: Draft, outline: _Outline, max_side: int) -> list[Draft]:
    """All sizes changed, or one of them, where an option or a put array knows the others."""
    sides = [*range(1, max_side + 1), *range(2, max_side + 1), 0, None]
    drawn = [draw(st.sampled_from(sides)) for _ in range(_SIZES)]
    pairs = zip(outline.sizes, itertools.cycle(drawn))
    sizes = {n: m for n, m in pairs if m is not None and m != n}
    some = [sizes, *({n: m} for n, m in sizes.items())] if len(sizes) > 1 else [sizes]
    return [dataclasses.replace(draft, sizes=chosen) for chosen in some if chosen]


def _rank(draw: st.DrawFn, draft: Draft, outline: _Outline, max_side: int) -> list[Draft]:
    vary, which = draw(st.sampled_from(_RANKS)), draw(st.integers(0, 3))
    return [dataclasses.replace(draft, varied=(vary, k)) for k in (which, which % 2) if vary]


def _dims(draw: st.DrawFn, draft: Draft, outline: _Outline, max_side: int) -> list[Draft]:
    """Other dimensions of the first array, from either end."""
    roles = draft.info.spec.roles if draft.info.spec is not None else {}
    asked = [name for name, role in roles.items() if role.kind in (RoleKind.DIM, RoleKind.DIMS)]
    arrays = draft.sample().arrays()
    if not asked or not arrays or not arrays[0].ndim or not draw(st.booleans()):
        return []
    rank = arrays[0].ndim
    one = st.integers(0, rank - 1) | st.integers(-rank, -1)
    options = {}
    for name in asked:
        several = st.lists(one, min_size=1, max_size=rank, unique_by=lambda d, n=rank: d % n)
        dims = roles[name].kind is RoleKind.DIMS
        options[name] = draw(one | several.map(tuple) if dims else one)
    alone = [{name: value} for name, value in options.items()] if len(options) > 1 else []
    return [dataclasses.replace(draft, options=chosen) for chosen in (options, *alone)]


_LAYOUTS: tuple[Callable[[jax.Array], Any], ...] = (
    lambda x: x,
    np.asarray,
    lambda x: np.array(x, order="F"),
    lambda x: np.flip(np.flip(np.asarray(x)).copy()) if x.ndim else np.asarray(x),
    lambda x: np.repeat(np.asarray(x), 2, -1)[..., ::2] if x.ndim else np.asarray(x),
)


def _key(info: OpInfo, seed: int) -> dict[str, jax.Array]:
    assert info.spec is not None
    return {info.spec.key_parameter: jax.random.key(seed)}

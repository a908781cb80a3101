"""What operators give at kinks, ties, zeros and NaN: all of one entry in one program."""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import available, category
from functx._core.context.user_contexts import showing_singular
from functx.testing.opinfo import Convention, OpInfo, Sample

from .cases import ArrayFunction
from .own_rules import has_own_rules
from .programs import CheckProgram, CheckSteps


MODES: dict[str, ArrayFunction] = {"forward": jax.jacfwd, "reverse": jax.jacrev}


def check_conventions(info: OpInfo, sample: Sample) -> CheckSteps:
    """At kinks, ties, zeros and NaN, values and derivatives are the ones that the entry states."""
    return (yield from _check_conventions(info, nests=None))


def check_conventions_once(info: OpInfo, sample: Sample) -> CheckSteps:
    """The same, in fewer nests of modes at second order and beyond.

    Where a reverse rule is given, either mode is once inside and once outside, so that both rules
    are differentiated. Elsewhere JAX derives reverse mode from forward mode, and one nest says it.
    """
    return (yield from _check_conventions(info, nests=2 if has_own_rules(info) else 1))


def _check_conventions(info: OpInfo, nests: int | None) -> CheckSteps:
    stated = list(info.conventions(info.make(convention_dtype(info))))
    op = info.with_key(jax.random.key(7)) if info.random else info.op
    programs = {_asked(c): CheckProgram(_program(op, c, nests)) for c in stated}
    found = yield [programs[_asked(c)](*c.sample.arrays()) for c in stated]
    wrong = [f"{info.id}, {c.what}: {said}" for c in stated for said in _not_refused(op, c)]
    wrong += [
        f"{info.id}, {convention.what}: {what}"
        for convention, facts in zip(stated, found, strict=True)
        for what in _complaints(convention, facts)
    ]
    assert not wrong, "; ".join(wrong)
    return bool(stated)


def convention_dtype(info: OpInfo) -> str:
    """Double precision, if there is any, or the last dtype of an entry that does not take it."""
    return available("float64").name if "float64" in info.accepted else info.accepted[-1]


def _asked(c: Convention) -> Hashable:
    """What the program of a convention depends on: all but the values of arrays."""
    leaves, tree = jax.tree.flatten((c.sample.args, dict(c.sample.kwargs)))
    given = tuple((x.shape, x.dtype) if isinstance(x, jax.Array) else repr(x) for x in leaves)
    wanted = (c.value is None, c.gradient is None, c.hessian is None, c.smooth, c.singular)
    wanted += (c.order, c.modes)
    finite = c.gradient is None or _finite(c.gradient)
    return tree, given, wanted, finite, c.through, c.holds, c.like


def _program(op: ArrayFunction, c: Convention, most: int | None) -> ArrayFunction:
    """What is asked of a convention, by name, as a function of the sample's arrays.

    Derivatives of an order are taken in at most so many nests of modes, or in all.
    """

    def program(*arrays: jax.Array) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if c.value is not None or c.holds is not None:
            out = c.sample.over_arrays(op)(*arrays)
            found |= {} if c.value is None else {"value": jax.tree.leaves(out)}
            found |= {} if c.holds is None else {"holds": jnp.all(c.holds(out))}
        scalar, point = _scalar(op, c, arrays)
        nests = {order: _nests(order, most) for order in range(max(c.order, 2) + 1)}
        if c.gradient is not None:
            forward = jax.jacfwd(scalar) if _finite(c.gradient) else _tangents(op, c, arrays)
            for mode, derivative in (("forward", forward), ("reverse", jax.grad(scalar))):
                if mode in c.modes:
                    found[f"gradient in {mode} mode"] = derivative(point)
        if c.hessian is not None or c.singular:
            found |= _derivatives(scalar, point, nests[2], "hessian, ")
        if c.singular:
            with showing_singular(True):
                shown, point = _scalar(op, c, arrays)
                found |= _derivatives(shown, point, nests[2], "shown, ")
        if c.smooth:
            found |= _derivatives(scalar, point, _nests(c.order, most and 2), "smooth, ")
        if c.like is not None:
            for order in range(c.order + 1):
                what = f"derivative of order {order}, "
                found |= _derivatives(scalar, point, nests[order], what)
                first = ("forward", *["reverse"] * (order - 1))[:order]
                formula, _ = _scalar(c.like, c, arrays)
                [found[f"like {order}"]] = _derivatives(formula, point, [first], "").values()
        return found

    return program


def _nests(order: int, most: int | None) -> list[tuple[str, ...]]:
    """Every nest of modes of this order; beyond 2, the two in which they take turns.

    With `most`, at most so many nests beyond the first order, those in which modes take turns.
    """
    if order < 2 or (order == 2 and most is None):
        return list(itertools.product(MODES, repeat=order))
    return [(*["forward", "reverse"] * order,)[i : i + order] for i in (0, 1)][:most]


def _derivatives(
    f: ArrayFunction, point: jax.Array, nests: Sequence[tuple[str, ...]], what: str
) -> dict[str, jax.Array]:
    """The derivative tensor in these nests of modes."""
    found = {}
    for nest in nests:
        g = f
        for mode in reversed(nest):
            g = MODES[mode](g)
        found[what + " over ".join(nest)] = g(point)
    return found


def _not_refused(op: ArrayFunction, c: Convention) -> Iterator[str]:
    if not c.refused:
        return
    scalar, point = _scalar(op, c, c.sample.arrays())
    for mode, derivative in MODES.items():
        try:
            jax.jit(derivative(scalar)).lower(point)  # a rule is run when it is compiled
        except (TypeError, ValueError, RuntimeError) as error:
            if not re.search(c.refused, str(error)):
                yield f"{mode} mode: {error}, expected {c.refused!r}"
        else:
            yield f"differentiated in {mode} mode, expected an error"


def _scalar(
    op: ArrayFunction, c: Convention, arrays: Sequence[jax.Array]
) -> tuple[ArrayFunction, jax.Array]:
    """The sum of what is differentiated, over the real numbers that the arrays are made of."""
    moving = [i for i, x in enumerate(arrays) if category(x.dtype) >= 2]
    call = c.sample.over_arrays(op)

    def scalar(point: jax.Array) -> jax.Array:
        full = list(arrays)
        for i, x in zip(moving, _rebuilt(point, [arrays[i] for i in moving]), strict=True):
            full[i] = x
        out = call(*full) if c.through is None else c.through(call(*full))
        total = jnp.zeros((), point.dtype)
        for y in jax.tree.leaves(out):
            assert category(y.dtype) < 3, f"{c.what}: `through` must make the result real"
            total = total + jnp.sum(y).astype(point.dtype) if category(y.dtype) == 2 else total
        return total

    return scalar, _point([arrays[i] for i in moving])


def _point(arrays: Sequence[jax.Array]) -> jax.Array:
    parts = [jnp.ravel(part) for x in arrays for part in _parts(x)]
    return jnp.concatenate([part.astype(available("float64")) for part in parts] or [jnp.zeros(0)])


def _parts(x: jax.Array) -> tuple[jax.Array, ...]:
    return (x,) if category(x.dtype) < 3 else (jnp.real(x), jnp.imag(x))


def _rebuilt(point: jax.Array, likes: Sequence[jax.Array]) -> Iterator[jax.Array]:
    at = 0
    for like in likes:
        parts = []
        for part in _parts(like):
            parts.append(point[at : at + like.size].reshape(like.shape).astype(part.dtype))
            at += like.size
        yield parts[0] if len(parts) == 1 else jax.lax.complex(*parts)


def _tangents(op: ArrayFunction, c: Convention, arrays: Sequence[jax.Array]) -> ArrayFunction:
    """Forward mode where derivatives are infinite or NaN: one array at a time, along ones.

    The tangents of other elements would be 0 times that.
    """
    call = c.sample.over_arrays(op)

    def one(i: int) -> jax.Array:
        def f(x: jax.Array) -> jax.Array:
            out = call(*arrays[:i], x, *arrays[i + 1 :])
            out = out if c.through is None else c.through(out)
            [y] = [y for y in jax.tree.leaves(out) if category(y.dtype) >= 2]
            return y

        return jax.jvp(f, (arrays[i],), (jnp.ones_like(arrays[i]),))[1]

    moving = [i for i, x in enumerate(arrays) if category(x.dtype) >= 2]
    return lambda point: [one(i) for i in moving]


def _complaints(c: Convention, found: dict[str, Any]) -> Iterator[str]:
    for what, got in found.items():
        if what == "holds" and not got:
            yield "does not hold"
        if what.startswith("smooth") and not np.isfinite(got).all():
            yield f"{what}: not finite"
        if what.startswith("shown") and not np.isnan(got).any():
            yield f"{what}: detect_anomaly is not told of the infinite second derivative"
        if what.startswith(("like", "shown")) or what == "holds":
            continue
        for g, want in _pairs(c, what, got, found):
            if not _agree(g, want, c, signs=what == "value"):
                yield f"{what} {np.asarray(g).tolist()}, expected {np.asarray(want).tolist()}"


def _pairs(c: Convention, what: str, got: Any, found: dict[str, Any]) -> list[tuple[Any, Any]]:
    """What was found, with what is expected of it."""
    if what == "value":
        wanted = c.value if isinstance(c.value, tuple) else (c.value,)
        return [(g, w) for g, w in zip(got, wanted, strict=True) if w is not None]
    if what.startswith("hessian"):
        wanted = np.zeros(got.shape) if c.hessian is None else c.hessian
        return [(got, np.reshape(np.asarray(wanted, np.float64), got.shape))]
    if what.startswith("smooth"):
        first = next(k for k in found if k.startswith("smooth"))
        return [(got, found[first])]
    if what.startswith("derivative"):
        return [(got, found[f"like {got.ndim}"])]
    moving = [x for x in c.sample.arrays() if category(x.dtype) >= 2]
    wanted = c.gradient if isinstance(c.gradient, tuple) else (c.gradient,)
    if isinstance(got, list):  # tangents along ones
        several = [(g, w) for g, w in zip(got, wanted, strict=True) if w is not None]
        pairs = [(g, np.asarray(w, g.dtype)) for g, w in several]
        return [(g, w) if g.shape == w.shape else (g.sum(), w.sum()) for g, w in pairs]
    likes = zip(_rebuilt(got, moving), wanted, strict=True)
    return [(g, w) for g, w in likes if w is not None]


def _agree(got: Any, want: Any, c: Convention, *, signs: bool) -> bool:
    got = np.asarray(got)
    want = np.asarray(want).astype(got.dtype)
    if got.shape != want.shape:
        return False
    if category(got.dtype) < 2:
        return np.array_equal(got, want)
    near = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore"):
        allowed = c.ulps * jnp.finfo(got.dtype).eps * np.abs(want) + c.floor
        near |= np.isfinite(want) & (np.abs(got - want) <= allowed)
    if signs and category(got.dtype) == 2:
        near &= (want != 0) | (np.signbit(got) == np.signbit(want))
    return bool(near.all())


def _finite(gradient: Any) -> bool:
    several = gradient if isinstance(gradient, tuple) else (gradient,)
    return all(np.isfinite(np.asarray(g)).all() for g in several if g is not None)

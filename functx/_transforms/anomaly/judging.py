"""Judges what equations computed: traced, and for many of them at once.

What is kept of an array is one int32, so that a compiled program pays a single reduction for it:
the kind of the worst element, and, below, how far from the end the first such element lies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core.jax_compat import JaxprEqn, Literal

from .lanes import is_inexact
from .sites import Options


FINE, INF, NAN = range(3)
_BITS = 29  # of the element; later ones count as the last
_MOST_INPUTS = 19  # whose kinds fit an int32, three possibilities each


# The first anomaly so far, an int32 vector. Its rank is 0 if there is none, 1 if what came in was
# bad already, 2 where it began; then the number of the site, which of its outputs, which element,
# its kind, those of the inputs as digits to the base of 3, and the steps of the loops around it.
FOUND = ("rank", "site", "output", "element", "kind", "inputs")


def nothing_found(depth: int) -> Array:
    """What is found before anything runs, in a program with `depth` loops inside one another."""
    return jnp.array([0] * len(FOUND) + [-1] * depth, "int32")


class Seen(NamedTuple):
    """An equation that has run, the number of its site, and what counts as an anomaly there."""

    eqn: JaxprEqn
    number: int
    options: Options


def judge(
    found: Array, seen: Sequence[Seen], values: Mapping[Any, Any], steps: Sequence[Any]
) -> Array:
    """What is found after the equations `seen` have run, in this order, giving `values`."""
    results = [
        (one, output, x)
        for one in seen
        for output, x in enumerate(one.eqn.outvars)
        if can_be_bad(x.aval)
    ]
    codes = [code_of(values[x]) for *_, x in results]
    slots: dict[Any, int] = {x: i for i, (*_, x) in enumerate(results)}

    def slot(x: Any) -> int:
        key = id(x) if isinstance(x, Literal) else x
        if key not in slots:
            slots[key] = len(codes)
            codes.append(code_of(x.val if isinstance(x, Literal) else values[x]))
        return slots[key]

    inputs = {one.number: [slot(x) for x in one.eqn.invars] for one in seen}
    width, nothing = max(map(len, inputs.values())), len(codes)
    codes.append(np.int32(FINE))
    table = np.array(  # of each result: its site, which output it is, and the slots of the inputs
        [
            [one.number, output, *inputs[one.number], *[nothing] * (width - len(one.eqn.invars))]
            for one, output, _ in results
        ],
        np.int32,
    )
    nan, inf = np.array([one.options for one, *_ in results]).T

    code = lax.optimization_barrier(jnp.stack(codes))  # or XLA computes it anew for each use
    kind = code >> _BITS
    came, left = kind[table[:, 2:]], kind[: len(results)]
    bad_before = (((came == NAN) & nan[:, None]) | ((came == INF) & inf[:, None])).any(1)
    bad = ((left == NAN) & nan) | ((left == INF) & inf)
    rank = jnp.where(bad, jnp.where(bad_before, 1, 2), 0).astype("int32")
    order = rank * len(results) + np.arange(len(results), dtype=np.int32)[::-1]
    chosen = order == order.max()  # the first of the highest rank

    def of_chosen(x: Any) -> Array:  # a sum, as XLA for CPUs fails at some fusions of slices
        return jnp.sum(jnp.where(chosen.reshape(-1, *(1,) * (x.ndim - 1)), x, 0), 0, dtype="int32")

    best, worst = of_chosen(rank), of_chosen(code[: len(results)])
    site, output = of_chosen(table[:, :2])
    digits = of_chosen(came[:, :_MOST_INPUTS])
    digits *= 3 ** np.arange(digits.size, dtype=np.int32)
    element = ((1 << _BITS) - 1 - worst) & ((1 << _BITS) - 1)
    new = [best, site, output, element, worst >> _BITS, jnp.sum(digits, dtype="int32"), *steps]
    return jnp.where(best > found[0], jnp.stack(new), found)


def can_be_bad(aval: Any) -> bool:
    """Whether an array of this type can hold what is no number."""
    return is_inexact(aval) and math.prod(aval.shape) > 0


def code_of(x: Any) -> Any:
    """The kind of the worst element of `x`, and where the first such one is, as an int32."""
    if not can_be_bad(jax.typeof(x)):
        return np.int32(FINE)
    if isinstance(x, (np.ndarray, np.generic, float, complex)):
        with jax.ensure_compile_time_eval():
            return np.asarray(_code(jnp.asarray(x)))
    return _code(x)


@jax.jit
def _code(x: Array) -> Array:
    size = math.prod(x.shape)
    left = jnp.maximum((1 << _BITS) - 1 - lax.iota("int32", size).reshape(x.shape), 0)
    kind = jnp.isnan(x).astype("int32") * NAN + jnp.isinf(x).astype("int32") * INF
    if jnp.iscomplexobj(x):  # which may be both
        kind = jnp.minimum(kind, NAN)
    return jnp.max((kind << _BITS) + jnp.minimum(kind, 1) * left)


def first_bad(xs: Sequence[Any], options: Options) -> Array:
    """One more than the number of the first of `xs` that is an anomaly, or 0."""
    kinds = jnp.stack([jnp.int32(FINE), *map(code_of, xs)]) >> _BITS
    bad = ((kinds == NAN) & options.check_nan) | ((kinds == INF) & options.check_inf)
    return jnp.argmax(bad).astype("int32")

"""Contractions of arrays of any rank, with dimensions named by subscripts or by numbers."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Arrays,
    as_dtype,
    Autocast,
    canonical_dims,
    category,
    describe,
    is_numeric,
    LONG,
    operator,
    Promote,
    refuse,
)


__all__ = ["einsum", "tensordot"]

_LETTERS = string.ascii_uppercase + string.ascii_lowercase  # PyTorch's order of subscripts 0 to 51


def _einsum_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Reads `(equation, *operands)` and `(x, [0, 1], y, [1], [0])` as `(equation, [x, y])`."""
    if not args and kwargs.keys() == {"equation", "operands"}:  # as declared
        return args, kwargs
    if len(args) == 2 and isinstance(args[1], str):  # PyTorch's operator database says it so
        args = args[::-1]
    if not args or (isinstance(args[0], str) and len(args) == 1 and "operands" not in kwargs):
        refuse(
            "an equation and at least one operand must be given",
            hint="einsum('ij,jk->ik', x, y), or einsum(x, [0, 1], y, [1, 2], [0, 2])",
            error=ValueError,
        )
    first = args[0]
    numeric = isinstance(first, (Array, np.ndarray, np.generic)) and is_numeric(first.dtype)
    if not isinstance(first, str) and not (numeric and len(args) > 1):
        refuse(f"`equation` must be a string, got {describe(first)}", error=TypeError)
    if isinstance(first, str):
        if len(args) == 2 and isinstance(args[1], (list, tuple)):
            return args, kwargs
        for operand in args[1:]:
            if isinstance(operand, (bool, int, float, complex)):
                refuse(f"operands must be arrays, got {describe(operand)}", error=TypeError)
        return (args[0], *([list(args[1:])] if len(args) > 1 else [])), kwargs
    terms = [_term_of(numbers) for numbers in args[1::2]]
    if len(args) % 2:  # the last list is the output's
        return (f"{','.join(terms)}->{_term_of(args[-1])}", list(args[:-1:2])), kwargs
    return (",".join(terms), list(args[::2])), kwargs


def _term_of(numbers: Any) -> str:
    if not isinstance(numbers, (list, tuple)):
        refuse(f"subscripts must be a list of ints, got {describe(numbers)}", error=TypeError)
    for number in numbers:
        if number is not Ellipsis and not (isinstance(number, int) and 0 <= number < 52):
            refuse(f"subscripts must lie in [0, 51], got {describe(number)}", error=ValueError)
    return "".join("..." if n is Ellipsis else _LETTERS[n] for n in numbers)


@overload
def einsum(equation: str, *operands: ArrayLike) -> Array: ...
@overload
def einsum(equation: str, operands: Arrays) -> Array: ...
@overload
def einsum(*operands_and_subscripts: ArrayLike | Sequence[int]) -> Array: ...
@operator(promote=Promote.SAME, other_signatures=_einsum_form, autocast=Autocast.LOWER)
def einsum(equation: str, operands: Arrays) -> Array:
    r"""Sum of products over named subscripts: `"ij,jk->ik"` is $y_{ik} = \sum_j x_{ij} z_{jk}$.

    - `equation`: one term of subscripts for each operand, and after `->` those of the result.
    - `operands`: arrays, one sequence or several arguments: `einsum(equation, x, y, ...)`.
      Subscripts may be numbers, too: `einsum(x, [0, 1], y, [1, 2], [0, 2])`.

    Subscripts are letters. `...` stands for any number of dimensions, which broadcast. A subscript
    twice in a term takes the diagonal. Subscripts that are not in the output are summed; without an
    output, it is `...` and then, sorted, each subscript that occurs once. Dimensions of length 1
    broadcast. The order of contraction is chosen to save work.

    Dtypes: the same for all operands. The sum over one operand of integers or bools is int64, as
    that of `functx.sum`. Products of bools are bools, and are not summed.
    Errors: RuntimeError for an `equation` that does not fit the operands.

    >>> x = jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32")
    >>> functx.einsum("ij,j->i", x, x[0])
    Array([ 5., 11.], dtype=float32)
    >>> functx.einsum("ii", x)
    Array(5., dtype=float32)
    """
    terms, output = _parsed(equation, operands)
    _check_lengths(terms, operands)
    summed = set("".join(terms)) - set(output)
    path = f"{','.join(terms)}->{output}"
    kind = category(operands[0].dtype)
    if len(operands) == 1 and summed and kind < 2:
        operands = [lax.convert_element_type(operands[0], as_dtype(LONG))]
    elif kind == 0:
        if summed:
            refuse(
                f"products of bools must not be summed, got {describe(list(operands))}",
                hint="x.astype(functx.int64) makes numbers of them",
                error=TypeError,
            )
        return jnp.einsum(path, *(x.astype(np.int8) for x in operands)).astype(bool)
    return jnp.einsum(path, *operands)


def _check_lengths(terms: list[str], operands: Sequence[Array]) -> None:
    """Refuses dimensions of one name that differ in length; 1 broadcasts, but not within a term."""
    known: dict[str, int] = {}
    for term, x in zip(terms, operands, strict=True):
        here: dict[str, int] = {}
        for letter, n in zip(term, x.shape, strict=True):
            if here.setdefault(letter, n) != n:
                refuse(
                    f"subscript {letter!r} must name equal lengths within a term, "
                    f"got {here[letter]} and {n} in {describe(x)}"
                )
            if known.setdefault(letter, n) == 1:
                known[letter] = n
            if n not in (1, known[letter]):
                refuse(
                    f"subscript {letter!r} must name equal lengths, "
                    f"got {known[letter]} and {n} in {describe(x)}"
                )


def _parsed(equation: str, operands: Sequence[Array]) -> tuple[list[str], str]:
    """The terms and the output of `equation`, with a letter of its own for every dimension."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = [_Term(*_split(term)) for term in left.split(",")]
    if len(terms) != len(operands):
        refuse(
            f"`equation` must have one term for each operand, "
            f"got {len(terms)} terms for {len(operands)} operands"
        )
    for term, x in zip(terms, operands, strict=True):
        named = len(term.before) + len(term.after)
        if named > x.ndim or (named < x.ndim and not term.dots):
            refuse(
                f"each term must name every dimension of its operand, got {term} for {describe(x)}",
                hint="`...` stands for the dimensions that are not named",
            )
    used = {a for term in terms for a in term.before + term.after} | set(right)
    free = [a for a in _LETTERS if a not in used]
    extra = [x.ndim - len(t.before) - len(t.after) for t, x in zip(terms, operands, strict=True)]
    if max(extra) > len(free):
        refuse("at most 52 dimensions can be named", error=ValueError)
    dots = "".join(free[: max(extra)])
    full = [t.before + dots[len(dots) - n :] + t.after for t, n in zip(terms, extra, strict=True)]
    if not arrow:
        once = "".join(t.before + t.after for t in terms)
        return full, dots + "".join(sorted(a for a in set(once) if once.count(a) == 1))
    out = _Term(*_split(right))
    for letter in out.before + out.after:
        if (out.before + out.after).count(letter) > 1:
            refuse(f"the output must name a subscript once, got {letter!r} twice in {right!r}")
        if not any(letter in term for term in full):
            refuse(f"the output must name subscripts of the operands, got {letter!r}")
    return full, out.before + (dots if out.dots else "") + out.after


class _Term(NamedTuple):
    """The subscripts before and after `...`, if `...` occurs."""

    before: str
    dots: str
    after: str

    def __str__(self) -> str:
        return repr(self.before + self.dots + self.after)


def _split(term: str) -> tuple[str, str, str]:
    before, dots, after = term.partition("...")
    for a in before + after:
        if a not in _LETTERS:
            refuse(f"subscripts must be letters or one `...` a term, got {a!r} in {term!r}")
    return before, dots, after


@operator(
    promote=Promote.SAME,
    accepts=Accepts.NUMBER,
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.LOWER,
)
def tensordot(a: ArrayOnly, b: ArrayOnly, dims: int | Sequence[Sequence[int]] = 2) -> Array:
    """Sums the products of `a` and `b` over paired dimensions.

    - `dims`: an integer n, for the last n dimensions of `a` with the first n of `b`, 2 by default;
      or two lists of dimensions, paired in order.

    Shapes: the other dimensions of `a`, then those of `b`. Paired dimensions have the same length,
    or one of them length 1, which broadcasts.
    Dtypes: the same for both. Errors: TypeError for bools and for two dtypes, RuntimeError for
    `dims` that are out of range or do not fit.

    >>> x = jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32")
    >>> functx.tensordot(x, x, dims=([0], [0]))
    Array([[10., 14.],
           [14., 20.]], dtype=float32)
    """
    left, right = _contracted(dims, a, b)
    if len(left) != len(right):
        refuse(f"`dims` must pair dimensions of `a` and `b`, got {dims}")
    for i, j in zip(left, right, strict=True):
        m, n = a.shape[i], b.shape[j]
        if m == 1 != n:
            b = jnp.sum(b, axis=j, keepdims=True, dtype=b.dtype)
        elif n == 1 != m:
            a = jnp.sum(a, axis=i, keepdims=True, dtype=a.dtype)
        elif m != n:
            refuse(
                f"`dims` must pair dimensions of one length, got {m} (dimension {i} of `a`) "
                f"and {n} (dimension {j} of `b`)"
            )
    return lax.dot_general(a, b, ((left, right), ((), ())))


def _contracted(dims: Any, a: Array, b: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            refuse(f"`dims` must lie in [0, {min(a.ndim, b.ndim)}], got {dims}")
        return tuple(range(a.ndim - dims, a.ndim)), tuple(range(dims))
    if (
        not isinstance(dims, (tuple, list))
        or len(dims) != 2
        or not all(isinstance(part, (tuple, list)) for part in dims)
    ):
        refuse(f"`dims` must be an int or two lists of ints, got {dims!r}", error=TypeError)
    left, right = dims
    return canonical_dims(left, a.ndim, "dims") or (), canonical_dims(right, b.ndim, "dims") or ()

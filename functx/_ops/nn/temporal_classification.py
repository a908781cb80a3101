r"""Connectionist temporal classification.

The forward variables of Graves et al., "Connectionist temporal classification" (2006), are
logarithms here: after step t, $\alpha_t(s)$ is the probability that the first s symbols of the
target, with blanks between them, were said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    available,
    category,
    describe,
    Index,
    LONG,
    operator,
    peek,
    refuse,
    Requirement,
    UnpromotedArrayOrArrays,
)
from functx._core.devices.manual_axes import equally_varying, varying_like
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.quotients import mean

from .reduction import reduction_of


__all__ = ["ctc_loss"]


_ARRAYS = ("log_probs", "targets", "input_lengths", "target_lengths")


def _padded_targets(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Targets that follow one another as a matrix, if their lengths are known."""
    given = dict(zip(_ARRAYS, args, strict=False)) | kwargs
    log_probs, lengths = given.get("log_probs"), given.get("target_lengths")
    targets: Any = given.get("targets")
    if getattr(targets, "ndim", 0) != 1 or getattr(log_probs, "ndim", 0) != 3:
        return args, kwargs
    known = _known(lengths)
    if known is None or known.sum() != targets.size or known.min() < 0:
        return args, kwargs
    starts = np.cumsum(known) - known
    at = np.minimum(starts[:, None] + np.arange(known.max()), max(targets.size - 1, 0))
    given["targets"] = jnp.asarray(targets)[at]
    positional = _ARRAYS[: len(args)]
    rest = {name: given[name] for name in kwargs}
    return (*(given[name] for name in positional), *args[len(positional) :]), rest


def _known(lengths: Any) -> np.ndarray | None:
    """The lengths as numbers, if there is at least one and none is traced; else None."""
    if isinstance(lengths, (tuple, list)):
        whole = all(isinstance(n, (int, np.integer)) for n in lengths)
        return np.asarray(lengths, np.int64) if whole and lengths else None
    if getattr(lengths, "ndim", 0) != 1 or category(lengths.dtype) != 1 or not lengths.size:
        return None
    return peek(lengths)


def _whole(x: Any, name: str) -> Array:
    """The widest integers, from an array or a sequence of numbers."""
    several = [jnp.asarray(each) for each in (x if isinstance(x, (tuple, list)) else [x])]
    for each in several:
        if category(each.dtype) != 1:
            refuse(f"`{name}` must hold integers, got {describe(each)}", error=TypeError)
    wide = [each.astype(available(LONG)) for each in several]
    if not isinstance(x, (tuple, list)):
        return wide[0]
    if any(each.ndim for each in wide):
        refuse(f"`{name}` must hold numbers, got {describe(several[0])}", error=TypeError)
    return jnp.stack(wide) if wide else jnp.zeros(0, available(LONG))


def _lengths_fit(
    *, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, **_: Any
) -> Iterator[Requirement]:
    if log_probs.ndim not in (2, 3):
        return
    steps, classes = log_probs.shape[0], log_probs.shape[-1]
    longest = targets.shape[-1] if targets.ndim else 0
    lengths = _whole(target_lengths, "target_lengths")
    for name, x, most in (
        ("input_lengths", _whole(input_lengths, "input_lengths"), steps),
        ("target_lengths", lengths, longest),
    ):
        ok = (x >= 0) & (x <= most)
        yield Requirement(ok, f"`{name}` must lie in [0, {most}], got {{got}}", x)
    known = (targets >= 0) & (targets < classes)
    if targets.ndim == 2 and lengths.shape == targets.shape[:1]:
        known |= jnp.arange(longest, dtype=lengths.dtype) >= lengths[:, None]
    yield Requirement(known, f"`targets` must lie in [0, {classes - 1}], got {{got}}", targets)


@overload
def ctc_loss(
    log_probs: ArrayLike,
    targets: Index,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Array: ...
@overload
def ctc_loss(
    log_probs: ArrayLike,
    targets: Index,
    input_lengths: Index,
    target_lengths: Index,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Array: ...
@operator(
    accepts=Accepts.FLOATING,
    requires=_lengths_fit,
    other_signatures=_padded_targets,
    autocast_cpu=Autocast.FLOAT32,
)
def ctc_loss(
    log_probs: ArrayLike,
    targets: Index,
    input_lengths: UnpromotedArrayOrArrays,
    target_lengths: UnpromotedArrayOrArrays,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Array:
    r"""$-\log p(\mathrm{target})$, where $p$ is the sum over all ways to say the target step by
    step, with blanks between its classes (Graves et al., 2006).

    Shapes: `log_probs: [T, N, C]`, `targets: [N, S]` or `[sum of target_lengths]`, and both lengths
    `[N]`. Without `N`, `log_probs` is `[T, C]`, `targets` is `[S]` and the lengths are numbers. The
    loss of each element is `[N]` or `[]`.

    - `log_probs`: logarithms of the probabilities of `C` classes at each of `T` steps.
    - `targets`: classes other than `blank`, padded to one length, or one target after the other.
    - `input_lengths`, `target_lengths`: how many steps and how many classes count.
    - `blank`: the class that says nothing.
    - `reduction`: `"mean"` divides each loss by the length of its target, if that is not 0, and
      averages; `"sum"` adds the losses, `"none"` returns them.
    - `zero_infinity`: whether an infinite loss, of a target that is too long, counts as 0.

    Under `jit`, targets that follow one another take as much time as if each had the length of all.
    Gradients: as in PyTorch, the gradient is that of the logits: $e^{\ell}$, with $\ell$ the
    `log_probs`, less the probability that each class was said at each step. For `log_probs` that
    are a `log_softmax` it is the same as without $e^{\ell}$.
    Errors: RuntimeError for shapes that do not fit, for a `blank` that does not exist, and for
    classes and lengths out of range, in eager calls on the CPU; ValueError for another `reduction`;
    TypeError for dtypes.

    >>> log_probs = jnp.log(jnp.full((2, 1, 2), 0.5, "float32"))
    >>> one = jnp.asarray([1])
    >>> loss = functx.nn.functional.ctc_loss(log_probs, jnp.asarray([[1]]), one + 1, one)
    >>> round(float(jnp.exp(-loss)), 5)  # said in three of four ways
    0.75
    """
    reduction = reduction_of(None, None, reduction)
    log_p, labels, steps, lengths = _batched(log_probs, targets, input_lengths, target_lengths)
    if not 0 <= blank < log_p.shape[-1]:
        refuse(f"`blank` must lie in [0, {log_p.shape[-1] - 1}], got {blank}")
    loss = _negative_log_likelihood(log_p, labels, steps, lengths, blank)
    spoken = jnp.arange(log_p.shape[0], dtype=steps.dtype)[:, None] < steps
    loss += _nothing(jnp.where(spoken[..., None], log_p, -jnp.inf))
    if zero_infinity:
        loss = jnp.where(jnp.isinf(loss), 0, loss)
    if reduction == "none":
        return loss if log_probs.ndim == 3 else loss[0]
    if reduction == "mean":
        return mean(loss / jnp.maximum(lengths, 1).astype(loss.dtype))
    return jnp.sum(loss)


# PyTorch's gradient has the slopes of the sum of all probabilities, which logits do not change.
_nothing = derivative_rules(
    lambda log_p: varying_like(jnp.zeros(log_p.shape[1], log_p.dtype), log_p),
    jvp=lambda primals, output, tangents: jnp.sum(jnp.exp(primals[0]) * tangents[0], (0, 2)),
    name="nn.functional.ctc_loss",
)


def _batched(
    log_probs: Array, targets: Any, input_lengths: Any, target_lengths: Any
) -> tuple[Array, Array, Array, Array]:
    targets = _whole(targets, "targets")
    steps = _whole(input_lengths, "input_lengths")
    lengths = _whole(target_lengths, "target_lengths")
    if log_probs.ndim == 2:
        if targets.ndim != 1 or steps.size != 1 or lengths.size != 1:
            refuse(
                "`targets` must be [S] and lengths numbers for `log_probs` of [T, C], got "
                f"{describe(targets)}, {describe(steps)} and {describe(lengths)}"
            )
        return log_probs[:, None], targets[None], steps.reshape(1), lengths.reshape(1)
    if log_probs.ndim != 3:
        refuse(f"`log_probs` must be [T, N, C] or [T, C], got {describe(log_probs)}")
    number = log_probs.shape[1]
    if steps.shape != (number,) or lengths.shape != (number,):
        refuse(
            f"`input_lengths` and `target_lengths` must be [{number}], one for each of "
            f"{describe(log_probs)}, got {describe(steps)} and {describe(lengths)}"
        )
    if targets.ndim == 1:
        starts = jnp.cumsum(lengths) - lengths
        along = jnp.arange(targets.size, dtype=starts.dtype)
        targets = jnp.take(targets, starts[:, None] + along, mode="clip")
    if targets.ndim != 2 or targets.shape[0] != number:
        refuse(f"`targets` must be [{number}, S], or of 1 dimension, got {describe(targets)}")
    return log_probs, targets, steps, lengths


def _negative_log_likelihood(
    log_p: Array, labels: Array, steps: Array, lengths: Array, blank: int
) -> Array:
    number, longest = labels.shape
    places = jnp.arange(2 * longest + 1)
    said = jnp.full((number, places.shape[0]), blank, labels.dtype).at[:, 1::2].set(labels)
    # A step may go two places on, past a blank, unless that would join two equal classes.
    skips = (said != jnp.roll(said, 2, 1)) & (places % 2 == 1)
    each = jnp.take_along_axis(log_p, said[None], -1, mode="clip")

    def step(alpha: Array, given: tuple[Array, Array]) -> tuple[Array, None]:
        t, here = given
        after_skip = jnp.where(skips, _behind(alpha, 2), -jnp.inf)
        moved = here + _log_sum(jnp.stack([alpha, _behind(alpha, 1), after_skip]))
        return jnp.where((t < steps)[:, None], moved, alpha), None

    # Before the first step everything is at the first place, from which a step reaches the second.
    begun = jnp.where(places == 0, jnp.zeros_like(said, log_p.dtype), -jnp.inf)
    begun, *_ = equally_varying([begun, each, steps])
    alpha, _ = lax.scan(step, begun, (jnp.arange(log_p.shape[0], dtype=steps.dtype), each))
    last = 2 * lengths[:, None] - jnp.arange(2, dtype=lengths.dtype)
    ends = jnp.take_along_axis(alpha, jnp.maximum(last, 0), 1)
    return 0 - _log_sum(jnp.where(last < 0, -jnp.inf, ends).T)  # never -0.0


def _behind(alpha: Array, by: int) -> Array:
    """`alpha` shifted by so many places, so that each place holds what an earlier one held."""
    kept = alpha[:, : max(alpha.shape[1] - by, 0)]
    return jnp.pad(kept, ((0, 0), (alpha.shape[1] - kept.shape[1], 0)), constant_values=-jnp.inf)


def _log_sum(x: Array) -> Array:
    """The logarithm of the sum of exponentials along the first dimension, or -inf."""
    most = lax.stop_gradient(jnp.max(x, 0))
    none = most == -jnp.inf
    total = jnp.sum(jnp.exp(x - jnp.where(none, 0, most)), 0)
    return jnp.where(none, -jnp.inf, jnp.log(jnp.where(none, 1, total)) + most)

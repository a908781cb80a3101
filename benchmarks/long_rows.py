"""Attention and classification in blocks of rows, beside the plain formula and PyTorch.

`python -m benchmarks long_rows`. Microseconds, and megabytes of memory that the compiled program
needs besides its arguments and results. PyTorch on one thread, where it is installed.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import functx

from .tables import microseconds, Table, torch_if_there


F = functx.nn.functional
LENGTHS = (128, 1024, 4096, 8192)
WIDTH = 64  # of a query, a key, a value, or a token


class Case(NamedTuple):
    """An operator, the same by hand, and its arguments for a length."""

    name: str
    ours: Callable[..., Any]
    by_hand: Callable[..., Any]
    torch: Callable[[Any], Callable[..., Any]]
    arguments: Callable[[int], Sequence[np.ndarray]]


def attention(q, k, v):
    scores = jnp.matmul(q, k.mT, precision="highest") / math.sqrt(WIDTH)
    return jnp.matmul(jax.nn.softmax(scores, axis=-1), v, precision="highest")


def classified(x, weight, target):
    logits = jax.nn.log_softmax(jnp.matmul(x, weight.T, precision="highest"), axis=-1)
    return -jnp.mean(jnp.take_along_axis(logits, target[:, None], axis=-1))


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype="float32")


CASES = (
    Case(
        "scaled_dot_product_attention",
        F.scaled_dot_product_attention,
        attention,
        lambda torch: torch.nn.functional.scaled_dot_product_attention,
        lambda n: [normal(1, 1, n, WIDTH)] * 3,
    ),
    Case(
        "linear_cross_entropy",
        F.linear_cross_entropy,
        classified,
        lambda torch: lambda x, w, t: torch.nn.functional.cross_entropy(x @ w.T, t),
        lambda n: [normal(n, WIDTH), normal(8192, WIDTH), np.arange(n)],
    ),
)


def tables(seconds: float) -> list[Table]:
    """One table: two operators, values and gradients, by length."""
    torch = torch_if_there()
    rows = []
    for case in CASES:
        for n in LENGTHS:
            raw = case.arguments(n)
            for what in ("value", "gradient"):
                row = [case.name, what, str(n)]
                rows.append([*row, *_measured(case, raw, what == "gradient", torch, seconds)])
    header = ["operator", "of", "rows", "functx", "by hand", "ratio", "functx, MB", "by hand, MB"]
    header += ["torch, 1 thread"] if torch is not None else []
    note = f"Microseconds; jax {jax.__version__}, {jax.devices()[0].device_kind}."
    return [Table("Rows in blocks", note, header, rows)]


def _measured(
    case: Case, raw: Sequence[np.ndarray], gradient: bool, torch: Any, seconds: float
) -> list[str]:
    args = [jnp.asarray(x) for x in raw]
    wrap = _gradient if gradient else (lambda f: f)
    both = [jax.jit(wrap(f)).lower(*args).compile() for f in (case.ours, case.by_hand)]
    calls = [ft.partial(f, *args) for f in both]
    if torch is not None:
        calls.append(_in_torch(case.torch(torch), torch, raw, gradient=gradient))
    ours, by_hand, *peer = microseconds(calls, seconds, least=2)
    needed = [f.memory_analysis().temp_size_in_bytes / 2**20 for f in both]
    figures = [f"{ours:.0f}", f"{by_hand:.0f}", f"{ours / by_hand:.2f}"]
    return [*figures, *(f"{x:.1f}" for x in needed), *(f"{time:.0f}" for time in peer)]


def _gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    def gradients(*args: Any) -> Any:
        moving = tuple(i for i, x in enumerate(args) if x.dtype == jnp.float32)
        return jax.grad(lambda *xs: jnp.sum(f(*xs) ** 2), argnums=moving)(*args)

    return gradients


def _in_torch(
    f: Callable[..., Any], torch: Any, raw: Sequence[np.ndarray], *, gradient: bool
) -> Callable[[], Any]:
    tensors = [torch.tensor(x) for x in raw]
    if not gradient:
        return lambda: f(*tensors)
    moving = [t.requires_grad_() for t in tensors if t.is_floating_point()]
    return lambda: torch.autograd.grad((f(*tensors) ** 2).sum(), moving)

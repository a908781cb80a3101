"""What operators cost beside the same mathematics written in `jax.numpy`.

`python -m benchmarks operators`. Eager: whole calls, as a user makes them. Compiled: both under
`jax.jit`, values and gradients, where functx should add nothing. PyTorch's column is there where
PyTorch is installed; on one thread, as its threads wait by spinning, which would slow the others.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import functx

from .tables import microseconds, Table, torch_if_there


F = functx.nn.functional
SHAPES = [(8, 8), (256, 1024)]


class Case(NamedTuple):
    """An operator, the same by hand, its name in PyTorch, and how many arrays it takes."""

    name: str
    ours: Callable[..., Any]
    by_hand: Callable[..., Any]
    torch: Callable[[Any], Callable[..., Any]]
    arrays: int = 1
    composite: bool = True  # made of several jax.numpy calls
    judged: bool = False  # looks at values, which jax.numpy does not
    differentiable: bool = True


def gelu(x):
    return 0.5 * x * jax.lax.erfc(-x / math.sqrt(2))  # 1 + erf cancels where x < 0


def layer_norm(x):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5)


def softmax(x):
    exps = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return exps / jnp.sum(exps, axis=-1, keepdims=True)


def mse_loss(x, y):
    return jnp.mean((x - y) ** 2)


def smooth_l1_loss(x, y):
    distance = jnp.abs(x - y)
    return jnp.mean(jnp.where(distance < 1, 0.5 * distance**2, distance - 0.5))


def cases() -> list[Case]:
    """Single calls first, then what takes several in `jax.numpy`."""
    return [
        Case("add", functx.add, jnp.add, lambda t: t.add, 2, composite=False),
        Case(
            "gt",
            lambda x: functx.gt(x, 0),
            lambda x: jnp.greater(x, 0),
            lambda t: lambda x: t.gt(x, 0),
            composite=False,
            differentiable=False,
        ),
        Case("sin", functx.sin, jnp.sin, lambda t: t.sin, composite=False),
        Case(
            "sum(dim=1)",
            lambda x: functx.sum(x, 1),
            lambda x: jnp.sum(x, 1),
            lambda t: lambda x: t.sum(x, 1),
            composite=False,
        ),
        Case(
            "sum(axis=1)",
            lambda x: functx.sum(x, axis=1),
            lambda x: jnp.sum(x, axis=1),
            lambda t: lambda x: t.sum(x, axis=1),
            composite=False,
        ),
        *judged_cases(),
        Case(
            "mm",
            lambda x: functx.mm(x, x.T),
            lambda x: jnp.matmul(x, x.T),
            lambda t: lambda x: t.mm(x, x.T),
            composite=False,
        ),
        Case(
            "add(alpha=2)",
            lambda x, y: functx.add(x, y, alpha=2),
            lambda x, y: x + 2 * y,
            lambda t: lambda x, y: t.add(x, y, alpha=2),
            2,
        ),
        Case("gelu", F.gelu, gelu, lambda t: t.nn.functional.gelu),
        Case(
            "layer_norm",
            lambda x: F.layer_norm(x, x.shape[-1:]),
            layer_norm,
            lambda t: lambda x: t.nn.functional.layer_norm(x, x.shape[-1:]),
        ),
        Case(
            "softmax",
            lambda x: F.softmax(x, -1),
            softmax,
            lambda t: lambda x: t.softmax(x, -1),
        ),
        Case(
            "logsumexp",
            lambda x: functx.logsumexp(x, -1),
            lambda x: jax.scipy.special.logsumexp(x, -1),
            lambda t: lambda x: t.logsumexp(x, -1),
        ),
        Case("mse_loss", F.mse_loss, mse_loss, lambda t: t.nn.functional.mse_loss, 2),
        Case(
            "smooth_l1_loss",
            F.smooth_l1_loss,
            smooth_l1_loss,
            lambda t: t.nn.functional.smooth_l1_loss,
            2,
        ),
    ]


def judged_cases() -> list[Case]:
    """Operators that look at values: whether an index exists, whether a number fits."""
    rows = jnp.asarray([1, 2, 5])
    return [
        Case(
            "index_select",
            lambda x: functx.index_select(x, 0, rows),
            lambda x: jnp.take(x, rows, axis=0),
            lambda t: lambda x: t.index_select(x, 0, t.tensor([1, 2, 5])),
            composite=False,
            judged=True,
        ),
        Case(
            "masked_fill",
            lambda x: functx.masked_fill(x, x > 0, 2.0),
            lambda x: jnp.where(x > 0, 2.0, x),
            lambda t: lambda x: t.masked_fill(x, x > 0, 2.0),
            composite=False,
            judged=True,
        ),
    ]


def arrays(case: Case, shape: tuple[int, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape, dtype="float32") for _ in range(case.arrays)]


def eager_table(seconds: float) -> Table:
    """Un-jitted calls: at most 1.3 of a single call (2 if values are judged), less than 1 of a
    composite."""
    torch = torch_if_there()
    rows = []
    for case in cases():
        for shape in SHAPES:
            raw = arrays(case, shape)
            args = [jnp.asarray(x) for x in raw]
            calls = [ft.partial(f, *args) for f in (case.ours, case.by_hand)]
            if torch is not None:
                calls.append(ft.partial(case.torch(torch), *map(torch.tensor, raw)))
            ours, theirs, *peer = microseconds(calls, seconds)
            target = "< 1" if case.composite else "<= 2" if case.judged else "<= 1.3"
            row = [case.name, _size(shape), f"{ours:.1f}", f"{theirs:.1f}"]
            row += [f"{ours / theirs:.2f}", target, *(f"{time:.1f}" for time in peer)]
            rows.append(row)
    header = ["operator", "float32", "functx", "jax.numpy", "ratio", "target"]
    header += ["torch, 1 thread"] if torch is not None else []
    return Table("Operators, eager", f"Microseconds for one call; {_where()}.", header, rows)


def compiled_table(seconds: float) -> Table:
    """Under `jax.jit`: instructions of the optimised program, and time."""
    rows = []
    for case in cases():
        wraps = {"value": lambda f: f} | ({"gradient": _gradient} if case.differentiable else {})
        for what, wrap in wraps.items():
            args = [jnp.asarray(x) for x in arrays(case, SHAPES[1])]
            both = [jax.jit(wrap(f)).lower(*args).compile() for f in (case.ours, case.by_hand)]
            counts = [instructions(program) for program in both]
            ours, theirs = microseconds([ft.partial(f, *args) for f in both], seconds)
            row = [case.name, what, *map(str, counts), f"{ours:.0f}", f"{theirs:.0f}"]
            rows.append([*row, f"{ours / theirs:.2f}"])
    header = ["operator", "of", "instructions", "by hand", "functx", "by hand", "ratio"]
    note = f"float32 {_size(SHAPES[1])}; instructions of optimised HLO, microseconds; {_where()}."
    return Table("Operators, compiled", note, header, rows)


def instructions(program: Any) -> int:
    """How many instructions the optimised program has, fusions' insides included."""
    _, *lines = program.as_text().splitlines()  # the header may have a mesh
    return sum(" = " in line for line in lines)


def tables(seconds: float) -> list[Table]:
    """Both tables."""
    return [eager_table(seconds), compiled_table(seconds)]


def _gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return jax.grad(lambda *xs: jnp.sum(f(*xs) ** 2))


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _where() -> str:
    return f"jax {jax.__version__}, {jax.devices()[0].device_kind}"

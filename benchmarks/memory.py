"""What `functx.memory.analyze` says of programs beside what XLA's compiler says of them.

Nothing is run. The figures are arguments, outputs and temporaries together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import functx
import functx.memory

from .tables import Table


MB = 2**20
F = functx.nn.functional

Program = tuple[Callable[..., Any], tuple[Any, ...]]


def spec(*shape: int, dtype: Any = "float32") -> jax.ShapeDtypeStruct:
    """An argument."""
    return jax.ShapeDtypeStruct(shape, dtype)


def mlp(weights: Sequence[Any], x: Any) -> Any:
    for w in weights:
        x = functx.tanh(functx.matmul(x, w))
    return functx.sum(x * x)


def residual_mlp(weights: Sequence[Any], x: Any) -> Any:
    for w in weights:
        x = x + F.gelu(functx.matmul(F.layer_norm(x, (x.shape[-1],)), w))
    return functx.mean(x * x)


def cnn(weights: Sequence[Any], x: Any) -> Any:
    for w in weights:
        x = F.relu(F.conv2d(x, w, padding=1))
    return functx.sum(F.avg_pool2d(x, 4) ** 2)


def attention(weights: Sequence[Any], x: Any) -> Any:
    q, k, v = (functx.matmul(x, w)[:, None] for w in weights)
    return functx.sum(F.scaled_dot_product_attention(q, k, v) ** 2)


def rnn(weights: Sequence[Any], xs: Any) -> Any:
    def step(h: Any, x: Any) -> tuple[Any, Any]:
        h = functx.tanh(functx.matmul(h, weights[0]) + functx.matmul(x, weights[1]))
        return h, h

    start = jnp.zeros((xs.shape[1], weights[0].shape[0]), xs.dtype)
    return functx.sum(lax.scan(step, start, xs)[1] ** 2)


def layer(w: Any, x: Any) -> Any:
    y = F.layer_norm(x, (x.shape[-1],))
    return functx.add(x, F.gelu(functx.matmul(y, w)))


def deep(wrap: Callable[[Any], Any]) -> Callable[..., Any]:
    body = wrap(layer)

    def loss(ws: Any, x: Any) -> Any:
        return lax.scan(lambda c, w: (body(w, c), None), x, ws)[0].sum()

    return loss


def classifier(w: Any, x: Any, y: Any) -> Any:
    return F.cross_entropy(functx.matmul(x, w), y)


def embedding(table: Any, w: Any, ids: Any) -> Any:
    return functx.sum(functx.matmul(F.embedding(ids, table), w) ** 2)


def covariance(x: Any) -> Any:
    a = functx.matmul(x, x.T) + functx.eye(x.shape[0])
    return functx.logdet(functx.linalg.cholesky(a))


def chain(x: Any) -> Any:
    for _ in range(10):
        x = functx.exp(functx.neg(x * x)) * x
    return functx.sum(x)


def powers(x: Any) -> Any:
    return lax.while_loop(
        lambda c: c[0] < 10, lambda c: (c[0] + 1, functx.tanh(functx.matmul(c[1], c[1]))), (0, x)
    )[1]


def branches(x: Any) -> Any:
    product = lambda x: functx.matmul(x, functx.matmul(x, x) + 1)
    return functx.sum(lax.cond(x[0, 0] > 0, product, functx.neg, x))


def hvp(weights: Sequence[Any], x: Any, direction: Any) -> Any:
    return functx.hvp(lambda x: mlp(weights, x), (x,), (direction,))


def jvp(weights: Sequence[Any], x: Any, direction: Any) -> Any:
    return functx.jvp(lambda x: mlp(weights, x), (x,), (direction,))


def gram(x: Any) -> Any:
    return functx.sum(functx.tanh(functx.matmul(x, x.T)))


def step(weights: Any, x: Any) -> Any:
    gradients = functx.grad(mlp)(weights, x)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)


def programs() -> dict[str, Program]:
    """The programs by name, with their arguments."""
    grad = functx.grad
    square = [spec(256, 256)] * 6
    batch = spec(512, 256)
    kernels, image = [spec(16, 16, 3, 3)] * 4, spec(8, 16, 32, 32)
    heads, words = [spec(64, 64)] * 3, spec(8, 256, 64)
    cell, series = [spec(128, 128), spec(32, 128)], spec(50, 64, 32)
    stacked = spec(8, 256, 256)
    saving = deep(lambda f: functx.checkpoint(f, prevent_cse=False))
    kept = deep(lambda f: functx.checkpoint(f, policy=["matmul"], prevent_cse=False))
    small = [spec(64, 64)] * 3
    single = functx.vmap(grad(lambda p, x: mlp(p, x[None])), in_dims=(None, 0))
    table = (spec(5000, 64), spec(64, 64), spec(16, 128, dtype="int32"))
    labelled = (spec(256, 1000), batch, spec(512, dtype="int32"))
    return {
        "MLP": (mlp, (square, batch)),
        "MLP, gradient": (grad(mlp), (square, batch)),
        "MLP, training step, donated": (jax.jit(step, donate_argnums=0), (square, batch)),
        "residual MLP": (residual_mlp, (square, batch)),
        "residual MLP, gradient": (grad(residual_mlp), (square, batch)),
        "CNN": (cnn, (kernels, image)),
        "CNN, gradient": (grad(cnn), (kernels, image)),
        "attention": (attention, (heads, words)),
        "attention, gradient": (grad(attention), (heads, words)),
        "RNN in a scan": (rnn, (cell, series)),
        "RNN in a scan, gradient": (grad(rnn), (cell, series)),
        "deep network in a scan, gradient": (grad(deep(lambda f: f)), (stacked, batch)),
        "the same, checkpointed": (grad(saving), (stacked, batch)),
        "the same, products kept": (grad(kept), (stacked, batch)),
        "classifier, gradient": (grad(classifier), labelled),
        "embedding, gradient": (grad(embedding, argnums=(0, 1)), table),
        "log determinant, gradient": (grad(covariance), (spec(256, 300),)),
        "ten elementwise steps": (chain, (spec(1024, 1024),)),
        "ten elementwise steps, gradient": (grad(chain), (spec(1024, 1024),)),
        "per-sample gradients, vmap": (
            single,
            (small, spec(128, 64)),
        ),
        "MLP, Hessian-vector product": (hvp, (square, batch, batch)),
        "MLP, jvp": (jvp, (square, batch, batch)),
        "Hessian": (functx.hessian(gram), (spec(12, 8),)),
        "while loop": (powers, (spec(256, 256),)),
        "cond, gradient": (grad(branches), (spec(256, 256),)),
    }


def tables(seconds: float) -> list[Table]:
    """A row for each program."""
    rows, factors = [], {True: [], False: []}
    for name, (f, args) in programs().items():
        report = functx.memory.analyze(f, *args, compiled=True)
        unfused = functx.memory.analyze(f, *args, fused=False)
        assert report.compiled is not None
        theirs = report.compiled.total_bytes
        for found, fused in ((report, True), (unfused, False)):
            factors[fused].append(found.peak_bytes / theirs)
        figures = (theirs, report.peak_bytes, unfused.peak_bytes)
        rows.append(
            [name, *(f"{x / MB:.2f}" for x in figures)]
            + [f"{factors[fused][-1]:.2f}" for fused in (True, False)]
        )
    spread = {fused: f"{min(some):.2f} to {max(some):.2f}" for fused, some in factors.items()}
    note = (
        f"MB in all, {jax.default_backend()}, JAX {jax.__version__}. Ratios to the compiler's: "
        f"{spread[True]}; with fused=False {spread[False]}."
    )
    header = ["", "compiled", "analyze", "fused=False", "ratio", "fused=False"]
    return [Table("Memory before it runs", note, header, rows)]

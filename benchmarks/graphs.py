"""Graphs ahead of time: what recording, dividing and running them costs, and what is saved.

Saved megabytes stand beside those of PyTorch's partitioners, where PyTorch is installed, of the
same networks.
"""

from __future__ import annotations

import functools as ft
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx import aot

from .budgets import chained, cnn, MB, mlp, transformer
from .tables import microseconds, Table, torch_if_there


NETWORKS = {"transformer": transformer, "MLP": mlp, "CNN": cnn}


def tables(seconds: float) -> list[Table]:
    """Costs, and what is saved."""
    return [_costs(seconds), _saved()]


def _costs(seconds: float) -> Table:
    layer, params, x = transformer()
    loss = ft.partial(chained, layer)
    rows = []
    for name, f in {"a transformer's loss": loss, "its gradient": functx.grad(loss)}.items():
        fresh: list[Callable[[], Any]] = [  # JAX remembers what it recorded of the same function
            lambda f=f: jax.make_jaxpr(lambda *args: f(*args))(params, x),
            lambda f=f: aot.trace(f, params, x),
            lambda f=f: aot.trace(f, params, x, level="primitive"),
        ]
        plain, *traced = microseconds(fresh, seconds, least=3)
        rows += [[f"record {name}, make_jaxpr", f"{plain / 1e3:.1f}", "1.00"]]
        for level, time in zip(("operator", "primitive"), traced, strict=True):
            rows.append(
                [
                    f"record {name}, trace at level {level}",
                    f"{time / 1e3:.1f}",
                    f"{time / plain:.2f}",
                ]
            )
    joint = aot.joint_graph(_deep, jnp.ones(8))
    halving = [lambda: aot.default_partition(joint), lambda: aot.min_cut_partition(joint)]
    count = len(joint.graph.nodes)
    for name, time in zip(
        ("default", "min_cut"), microseconds(halving, seconds, least=3), strict=True
    ):
        rows.append([f"{name}_partition of {count} nodes", f"{time / 1e3:.1f}", ""])
    gradient = functx.grad(loss)
    graph, compiled = aot.trace(gradient, params, x), aot.aot_function(loss)
    run = [jax.jit(gradient), jax.jit(graph), jax.jit(functx.grad(compiled))]
    times = microseconds([lambda g=g: g(params, x) for g in run], seconds, least=5)
    names = ("jit(grad(loss))", "jit of its graph", "jit(grad(aot_function(loss)))")
    for name, time in zip(names, times, strict=True):
        rows.append([f"run {name}", f"{time / 1e3:.1f}", f"{time / times[0]:.2f}"])
    note = f"Ratios to the first of each kind. {jax.default_backend()}, JAX {jax.__version__}."
    return Table("Graphs: costs", note, ["", "ms", "ratio"], rows)


def _deep(x: jax.Array) -> jax.Array:
    for _ in range(450):
        x = functx.sin(x) * functx.cos(x)
    return x


def _saved() -> Table:
    rows = []
    for name, network in NETWORKS.items():
        layer, params, x = network()
        joint = aot.joint_graph(ft.partial(chained, layer), params, x)
        ours = [
            partition(joint).saved_bytes / MB
            for partition in (aot.default_partition, aot.min_cut_partition)
        ]
        theirs = _of_pytorch(name, params, x) if torch_if_there() else ()
        rows.append([name, *(f"{size:.1f}" for size in (*ours, *theirs))])
    header = ["", "default_partition", "min_cut_partition"]
    header += ["PyTorch's default", "PyTorch's min-cut"] if torch_if_there() else []
    note = "MB that the forward pass saves for the backward pass, inputs included."
    return Table("Graphs: what is saved", note, header, rows)


def _of_pytorch(name: str, params: Sequence[Any], x: Any) -> list[float]:
    """What PyTorch's partitioners save of the same network."""
    torch, theirs = torch_if_there(), importlib.import_module("functorch.compile")
    partitions = theirs.default_partition, theirs.min_cut_rematerialization_partition
    tensor = lambda a: torch.tensor(np.asarray(a), requires_grad=True)
    layers = [{key: tensor(value) for key, value in p.items()} for p in params]
    flat = [value for p in layers for value in p.values()]
    found = []
    for partition in partitions:
        sizes: list[float] = []

        def noting(graph: Any, _: Any, sizes: list[float] = sizes) -> Any:
            outputs = next(node for node in graph.graph.nodes if node.op == "output").args[0]
            saved = {node for node in outputs[1:] if hasattr(node, "meta")}
            values = [node.meta["val"] for node in saved if node.meta.get("val") is not None]
            arrays = [v for v in values if hasattr(v, "element_size")]
            sizes.append(sum(v.element_size() * v.numel() for v in arrays) / MB)
            return theirs.make_boxed_func(graph.forward)

        def loss(x: Any, *flat: Any) -> Any:
            values = iter(flat)
            for p in layers:
                x = _TORCH[name](dict(zip(p, values, strict=False)), x)
            return (x**2).sum()

        compiled = theirs.aot_function(
            loss, noting, lambda graph, _: theirs.make_boxed_func(graph.forward), partition
        )
        compiled(tensor(x), *flat)
        found.append(sizes[0])
    return found


def _transformer_layer(p: Any, x: Any) -> Any:
    torch_functional = torch_if_there().nn.functional
    batch, length, width = x.shape
    heads = lambda y: y.reshape(batch, length, 4, width // 4).transpose(1, 2)
    normal = torch_functional.layer_norm(x, (width,))
    q, k, v = (heads(y) for y in (normal @ p["qkv"]).chunk(3, -1))
    weights = (q @ k.mT * (width // 4) ** -0.5).softmax(-1)
    x = x + (weights @ v).transpose(1, 2).reshape(x.shape) @ p["out"]
    normal = torch_functional.layer_norm(x, (width,))
    return x + torch_functional.gelu(normal @ p["up"]) @ p["down"]


def _mlp_layer(p: Any, x: Any) -> Any:
    torch_functional = torch_if_there().nn.functional
    return torch_functional.layer_norm(x @ p["w"], (x.shape[-1],)).tanh() * x.sin()


def _conv_layer(p: Any, x: Any) -> Any:
    torch_functional = torch_if_there().nn.functional
    y = torch_functional.conv2d(x, p["a"], padding=1).relu()
    return (torch_functional.conv2d(y, p["b"], padding=1) + x).relu()


_TORCH = {"transformer": _transformer_layer, "MLP": _mlp_layer, "CNN": _conv_layer}

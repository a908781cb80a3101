"""What it costs to import a PyTorch module: the first call beside torchax's, and compiled calls.

`python -m benchmarks importing`, with PyTorch, and torchax if it is there. Each network is written
once, in words that PyTorch and functx share: the module that is imported calls PyTorch's, the
program by hand functx's. First calls are values and gradients in a process of its own each.
"""

from __future__ import annotations

import functools as ft
import importlib
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.interop import from_torch

from .operators import instructions
from .tables import Table, torch_if_there


Program = Callable[[Any, Any, dict[str, Any], Any], Any]


class Network(NamedTuple):
    """A program in shared words, its parameters, and what it is called with."""

    program: Program  # of the words, those of `nn.functional`, parameters and a batch
    shapes: dict[str, tuple[int, ...]]
    batch: tuple[int, ...]

    def params(self) -> dict[str, np.ndarray]:
        """Random parameters, small enough that the depth does not matter."""
        draw = np.random.default_rng(0).standard_normal
        scaled = lambda shape: draw(shape) / max(1, np.prod(shape[1:])) ** 0.5
        return {name: scaled(shape).astype("float32") for name, shape in self.shapes.items()}

    def inputs(self) -> np.ndarray:
        """A random batch."""
        return np.random.default_rng(1).standard_normal(self.batch).astype("float32")


def mlp(torch: Any, nn: Any, p: dict[str, Any], x: Any) -> Any:
    """Layers of equal width."""
    for at in range(8):
        x = nn.gelu(nn.layer_norm(nn.linear(x, p[f"weight{at}"], p[f"bias{at}"]), (256,)))
    return x


def cnn(torch: Any, nn: Any, p: dict[str, Any], x: Any) -> Any:
    """Convolutions with residual connections."""
    x = nn.conv2d(x, p["stem"], padding=1)
    for at in range(4):
        x = x + nn.relu(nn.group_norm(nn.conv2d(x, p[f"conv{at}"], padding=1), 4))
    return torch.mean(x, (2, 3)) @ p["head"]


def transformer(torch: Any, nn: Any, p: dict[str, Any], x: Any) -> Any:
    """Blocks of attention and of two products."""
    heads = lambda a: torch.transpose(torch.reshape(a, (*a.shape[:2], 4, 32)), 1, 2)
    for at in range(4):
        q, k, v = torch.chunk(nn.layer_norm(x, (128,)) @ p[f"qkv{at}"], 3, -1)
        a = nn.scaled_dot_product_attention(heads(q), heads(k), heads(v))
        x = x + torch.reshape(torch.transpose(a, 1, 2), x.shape) @ p[f"out{at}"]
        x = x + nn.gelu(nn.layer_norm(x, (128,)) @ p[f"up{at}"]) @ p[f"down{at}"]
    return x


def _each(count: int, **shapes: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {f"{name}{at}": shape for at in range(count) for name, shape in shapes.items()}


NETWORKS = {
    "MLP, 8 layers": Network(mlp, _each(8, weight=(256, 256), bias=(256,)), (64, 256)),
    "CNN, 5 convolutions": Network(
        cnn,
        {"stem": (32, 3, 3, 3), **_each(4, conv=(32, 32, 3, 3)), "head": (32, 10)},
        (8, 3, 32, 32),
    ),
    "transformer, 4 layers": Network(
        transformer,
        _each(4, qkv=(128, 384), out=(128, 128), up=(128, 512), down=(512, 128)),
        (8, 64, 128),
    ),
}


def module_of(network: Network) -> Any:
    """The network as a module of PyTorch's."""
    torch = torch_if_there()

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, x in network.params().items():
                self.register_parameter(name, torch.nn.Parameter(torch.from_numpy(x)))

        def forward(self, x: Any) -> Any:
            p = dict(self.named_parameters())
            return network.program(torch, torch.nn.functional, p, x)

    return Module().eval()


def imported(network: Network) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A function of parameters and a batch by `from_torch`, and the parameters."""
    model = from_torch(module_of(network))
    return lambda params, x: model(params, x), model.params


def by_hand(network: Network) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The same, written in functx."""
    params = {name: jnp.asarray(x) for name, x in network.params().items()}
    return ft.partial(network.program, functx, functx.nn.functional), params


def of_torchax(network: Network) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The same by torchax."""
    params, function = torchax_if_there().extract_jax(module_of(network))
    return lambda params, x: function(params, (x,)), params


@ft.cache
def torchax_if_there() -> Any:
    """torchax, or None. Its tables name overloads by names of dimensions, which PyTorch 2.13 lacks.

    While it loads, such a name stands for itself: nothing meets it in a program.
    """
    if torch_if_there() is None or importlib.util.find_spec("torchax") is None:
        return None
    import torch  # noqa: TID251  compared with, never used by functx

    packet: Any = torch._ops.OpOverloadPacket
    own = packet.__getattr__

    def lenient(self: Any, name: str) -> Any:
        try:
            return own(self, name)
        except AttributeError:
            if name.startswith("__"):
                raise
            return f"{self}.{name}"

    packet.__getattr__ = lenient
    try:
        torchax = importlib.import_module("torchax")
        torchax.default_env()
    finally:
        packet.__getattr__ = own
    return torchax


SIDES = {"functx": imported, "by hand": by_hand, "torchax": of_torchax}


def sides() -> list[str]:
    """Those that can be run here."""
    return [side for side in SIDES if side != "torchax" or torchax_if_there() is not None]


def loss(function: Callable[..., Any], params: Any, x: Any) -> Any:
    """What is differentiated."""
    return jnp.sum(function(params, x) ** 2)


def first_call(side: str, network: Network) -> list[float]:
    """Seconds of the processor until the program is traced, compiled and run."""
    x, start = network.inputs(), time.process_time()
    function, params = SIDES[side](network)
    lowered = jax.jit(jax.value_and_grad(ft.partial(loss, function))).lower(params, x)
    traced = time.process_time()
    compiled = lowered.compile()
    jax.block_until_ready(compiled(params, x))
    return [traced - start, time.process_time() - start]


def first_calls(repeat: int) -> Table:
    """A row for each network and side, the medians over processes."""
    rows = []
    for name in NETWORKS:
        runs: dict[str, list[list[float]]] = {side: [] for side in sides()}
        for _ in range(repeat):
            for side in runs:
                command = [sys.executable, "-m", __spec__.name, name, side]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                runs[side].append([float(x) for x in done.stdout.split()])
        medians = lambda found: list(map(statistics.median, zip(*found, strict=True)))
        own = medians(runs["functx"])
        for side, found in runs.items():
            taken = medians(found)
            ratios = [f"{taken[at] / own[at]:.2f}" for at in (1, 3)]
            rows.append([f"{name}: {side}", *(f"{x:.2f}" for x in taken), *ratios])
    note = (
        "Seconds of the processor until value and gradient are traced, and until they are there, "
        "float32: of the first module in a process, with what is loaded for it, and of another one "
        f"that is like it. JAX {jax.__version__}."
    )
    header = ["", "first, traced", "there", "second, traced", "there", "first, times", "second"]
    return Table("Imported modules: the first call", note, header, rows)


def calls(seconds: float) -> Table:
    """Compiled calls of imported modules beside the same written in functx."""
    rows = []
    for name, network in NETWORKS.items():
        x = jnp.asarray(network.inputs())
        made = [SIDES[side](network) for side in sides()]
        for what, wrap in {"value": ft.partial, "gradient": _gradient}.items():
            programs = [jax.jit(wrap(f)).lower(params, x).compile() for f, params in made]
            run = [ft.partial(f, params, x) for f, (_, params) in zip(programs, made, strict=True)]
            for other in run[1:]:
                near = ft.partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-3)
                jax.tree.map(near, run[0](), other())
            taken = least(run, seconds)
            counts = [str(instructions(program)) for program in programs]
            ratios = [f"{time / taken[0]:.2f}" for time in taken[1:]]
            rows.append([f"{name}, {what}", *counts, f"{1e3 * taken[0]:.2f}", *ratios])
    header = ["", *(f"instructions, {side}" for side in sides())]
    header += ["functx, ms", *(f"{side}, times" for side in sides()[1:])]
    note = "Compiled, float32, the least of the processor. Above 1, the import takes less."
    return Table("Imported modules: compiled calls", note, header, rows)


def least(run: list[Callable[[], Any]], seconds: float) -> list[float]:
    """The least seconds of the processor that a call of each takes; they take turns."""
    found = [float("inf")] * len(run)
    stop = time.perf_counter() + seconds * len(run)
    while time.perf_counter() < stop:
        for at, call in enumerate(run):
            start = time.process_time()
            jax.block_until_ready(call())
            found[at] = min(found[at], time.process_time() - start)
    return found


def _gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    return jax.grad(ft.partial(loss, function))


def tables(seconds: float) -> list[Table]:
    """First calls and compiled calls; nothing without PyTorch."""
    if torch_if_there() is None:
        return []
    return [first_calls(3 if seconds >= 0.5 else 1), calls(seconds)]


def main(name: str, side: str) -> None:
    """Prints the seconds of a side in this process: of a first module, and of a second."""
    torch_if_there()
    start = time.process_time()
    if side == "torchax":
        torchax_if_there()
    loading = time.process_time() - start
    first, second = (first_call(side, NETWORKS[name]) for _ in range(2))
    print(*(loading + x for x in first), *second)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What functx's transforms cost beside JAX's own, measured side by side in one run.

`python benchmarks/transforms.py [--calls 200] [--only NAME]`. Eager: whole un-jitted calls.
Tracing: what `jax.jit` does at the first call, without compiling.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import functx


class Case(NamedTuple):
    """The same work in functx and in JAX."""

    name: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    args: tuple[Any, ...]


class Row(NamedTuple):
    """Microseconds per call, and their ratio."""

    ours: float
    theirs: float
    ratio: float

    def __str__(self) -> str:
        return f"{self.ours:10.0f}{self.theirs:10.0f}{self.ratio:10.2f}"


def cases() -> list[Case]:
    """Small arrays, where overhead shows."""
    x = jnp.linspace(-1.0, 1.0, 8)
    batch = jnp.ones((16, 8))
    layers = {"w": jnp.ones((8, 8)), "b": jnp.zeros(8)}

    def loss(x):
        return jnp.sin(x).sum()

    def network(p, x):
        return jnp.tanh(jnp.tanh(x @ p["w"] + p["b"]) @ p["w"] + p["b"])

    def network_loss(p, x):
        return (network(p, x) ** 2).mean()

    def case(name, ours, theirs, *args):
        return Case(name, ours, theirs, args)

    return [
        case("grad, sin", functx.grad(loss), jax.grad(loss), x),
        case("grad, network", functx.grad(network_loss), jax.grad(network_loss), layers, batch),
        case(
            "vjp, network",
            lambda p, x: functx.vjp(network, p, x)[1](x),
            lambda p, x: jax.vjp(network, p, x)[1](x),
            layers,
            batch,
        ),
        case(
            "jvp, network",
            lambda p, x: functx.jvp(network, (p, x), (p, x)),
            lambda p, x: jax.jvp(network, (p, x), (p, x)),
            layers,
            batch,
        ),
        case(
            "linearize, network",
            lambda p, x: functx.linearize(network, p, x)[1](p, x),
            lambda p, x: jax.linearize(network, p, x)[1](p, x),
            layers,
            batch,
        ),
        case("vmap, sin", functx.vmap(jnp.sin), jax.vmap(jnp.sin), batch),
        case(
            "vmap, network",
            functx.vmap(network, in_dims=(None, 0)),
            jax.vmap(network, in_axes=(None, 0)),
            layers,
            batch,
        ),
        case("jacrev, sin", functx.jacrev(jnp.sin), jax.jacrev(jnp.sin), x),
        case("jacfwd, sin", functx.jacfwd(jnp.sin), jax.jacfwd(jnp.sin), x),
        case("jacrev, network", functx.jacrev(network), jax.jacrev(network), layers, x),
        case("jacfwd, network", functx.jacfwd(network), jax.jacfwd(network), layers, x),
        case("hessian, sin", functx.hessian(loss), jax.hessian(loss), x),
        case(
            "vmap(grad), network",
            functx.vmap(functx.grad(network_loss), in_dims=(None, 0)),
            jax.vmap(jax.grad(network_loss), in_axes=(None, 0)),
            layers,
            batch,
        ),
    ]


def traced(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that records `f` anew at each call, as `jax.jit` does at the first."""
    return lambda *args: jax.jit(lambda *inner: f(*inner)).trace(*args)


def quick(times: list[float]) -> float:
    """The lower fifth in microseconds: what a call costs when nothing else disturbs it."""
    return 1e6 * sorted(times)[len(times) // 5]


def compare(ours: Callable[..., Any], theirs: Callable[..., Any], args: Any, calls: int) -> Row:
    """Both in turn, call by call, so that a busy machine slows both alike."""
    both: tuple[list[float], list[float]] = ([], [])
    for i in range(calls + calls // 10 + 1):
        # each goes first every other time
        for which in (0, 1) if i % 2 else (1, 0):
            start = time.perf_counter()
            (ours, theirs)[which](*args)
            took = time.perf_counter() - start
            if i > calls // 10:
                both[which].append(took)
    a, b = map(quick, both)
    return Row(a, b, a / b)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"jax {jax.__version__}, {jax.default_backend()}; microseconds; ratio functx / jax")
    print(f"{'':22}{'eager':>30}{'tracing':>30}")
    print(f"{'':22}" + f"{'functx':>10}{'jax':>10}{'ratio':>10}" * 2)
    for case in cases():
        if options.only not in case.name:
            continue
        eager = compare(case.ours, case.theirs, case.args, options.calls)
        tracing = compare(traced(case.ours), traced(case.theirs), case.args, options.calls)
        print(
            f"{case.name:22}"
            + "".join(f"{r.ours:10.0f}{r.theirs:10.0f}{r.ratio:10.2f}" for r in (eager, tracing))
        )


if __name__ == "__main__":
    main()

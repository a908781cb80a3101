"""Jobs over a mesh of devices: what each computes, how it is split, what its program sends.

`python -m tests.ecosystem.sharded_jobs` prints the table of docs/ecosystem/sharding.md.
"""

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

import functx


F = functx.nn.functional
LANES, FEATURES, HIDDEN, CLASSES = 256, 64, 128, 8
MEMBERS = 8


def net(parameters, x):
    return F.linear(F.tanh(F.linear(x, parameters["hidden"])), parameters["scores"])


def loss(parameters, x, label):
    return F.cross_entropy(net(parameters, x), label)


def one_by_one(f):
    return functx.vmap(f, in_dims=(None, 0, 0))


def mean_loss(parameters, x, label):
    return functx.mean(one_by_one(loss)(parameters, x, label))


def pulled_back(x, rows):
    """Rows of a Jacobian, of cotangents that may be split; by explicit axes, or by hand."""
    pullback = functx.vjp(functx.sin, x)[1]
    return functx.vmap(pullback)(rows)[0]


def arguments():
    """Parameters, inputs, labels, an ensemble, a vector, and an identity."""
    keys = jax.random.split(jax.random.key(0), 4)

    def make(key, scale=0.1):
        hidden, scores = jax.random.split(key)
        return {
            "hidden": scale * jax.random.normal(hidden, (HIDDEN, FEATURES), "float32"),
            "scores": scale * jax.random.normal(scores, (CLASSES, HIDDEN), "float32"),
        }

    return {
        "parameters": make(keys[0]),
        "x": jax.random.normal(keys[1], (LANES, FEATURES), "float32"),
        "label": jnp.arange(LANES, dtype="int32") % CLASSES,
        "members": jax.vmap(make)(jax.random.split(keys[2], MEMBERS)),
        "vector": jax.random.normal(keys[3], (FEATURES,), "float32"),
        "rows": jnp.eye(FEATURES, dtype="float32"),
    }


@dataclasses.dataclass(frozen=True)
class Job:
    """A function of named arguments, how those and the result are split, and what is sent."""

    name: str
    run: Callable[..., Any]
    takes: tuple[str, ...]
    specs: tuple[P, ...]
    out: P
    sends: frozenset[str] = frozenset()
    # What explicit axes do without being told how the result is split, where it is not the same.
    explicit: bool = True


SPLIT, WHOLE = P("devices"), P()
BATCH = (WHOLE, SPLIT, SPLIT)
DATA = ("parameters", "x", "label")
SUMS = frozenset({"all-reduce"})
JOBS = [
    Job("per-sample gradients", one_by_one(functx.grad(loss)), DATA, BATCH, SPLIT),
    Job(
        "per-sample gradients in chunks",
        functx.vmap(functx.grad(loss), in_dims=(None, 0, 0), chunk_size=64),
        DATA,
        BATCH,
        SPLIT,
    ),
    Job("gradient of the mean", functx.grad(mean_loss), DATA, BATCH, WHOLE, SUMS),
    Job(
        "Hessian-vector product",
        lambda p, x, label: functx.hvp(lambda p: mean_loss(p, x, label), p, p)[1],
        DATA,
        BATCH,
        WHOLE,
        SUMS,
    ),
    Job(
        "ensemble, a member on each device",
        functx.vmap(functx.grad(mean_loss), in_dims=(0, None, None)),
        ("members", "x", "label"),
        (SPLIT, WHOLE, WHOLE),
        SPLIT,
    ),
    Job(
        "per-sample Hessians in the input",
        one_by_one(functx.hessian(loss, argnums=1)),
        DATA,
        BATCH,
        SPLIT,
    ),
    Job(
        "rows of one Jacobian",
        lambda p, v: functx.jacrev(lambda v: functx.sin(F.linear(v, p["hidden"])))(v),
        ("parameters", "vector"),
        (WHOLE, WHOLE),
        SPLIT,
        explicit=False,
    ),
    Job(
        "columns of one Jacobian",
        lambda p, v: functx.jacfwd(lambda v: functx.sin(F.linear(v, p["hidden"])))(v),
        ("parameters", "vector"),
        (WHOLE, WHOLE),
        P(None, "devices"),
        explicit=False,
    ),
    Job(
        "columns of one Hessian",
        lambda p, v: functx.hessian(lambda v: functx.logsumexp(net(p, v), 0))(v),
        ("parameters", "vector"),
        (WHOLE, WHOLE),
        P(None, "devices"),
        explicit=False,
    ),
    Job(
        "rows by hand, of a split identity", pulled_back, ("vector", "rows"), (WHOLE, SPLIT), SPLIT
    ),
]


def make_mesh(count: int, kind: AxisType = AxisType.Auto) -> Mesh:
    """A mesh of one axis."""
    return jax.make_mesh((count,), ("devices",), axis_types=(kind,), devices=jax.devices()[:count])


def place(job: Job, mesh: Mesh) -> list[Any]:
    """The job's arguments on the mesh, split as it says."""
    values = jax.tree.map(np.asarray, arguments())
    return [
        jax.device_put(values[name], NamedSharding(mesh, spec))
        for name, spec in zip(job.takes, job.specs, strict=True)
    ]


def lower(job: Job, mesh: Mesh, how: str = "auto") -> Any:
    """The job as a jitted function: split by XLA, by the types of arrays, or by hand."""
    if how == "shard_map":
        varying = lambda *xs: [jax.lax.pcast(x, "devices", to="varying") for x in xs]
        whole = [i for i, spec in enumerate(job.specs) if spec == WHOLE]

        def on_one(*xs):
            xs = list(xs)
            for i in whole:
                xs[i] = jax.tree.map(lambda x: varying(x)[0], xs[i])
            result = job.run(*xs)
            if job.out == WHOLE:
                result = jax.tree.map(lambda x: jax.lax.pmean(x, "devices"), result)
            return result

        return jax.jit(jax.shard_map(on_one, mesh=mesh, in_specs=job.specs, out_specs=job.out))
    return jax.jit(job.run, out_shardings=NamedSharding(mesh, job.out) if how == "auto" else None)


WIDTHS = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s32": 4, "u32": 4, "f32": 4} | {
    name: 8 for name in ("s64", "u64", "f64", "c64")
}
SENT = re.compile(
    r"= (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\("
)
ARRAY = re.compile(r"\b([a-z]+\d*)\[([\d,]*)\]")


def collectives(compiled: Any) -> list[tuple[str, int]]:
    """Each collective of a compiled program, with the bytes of its result."""
    found = []
    for shapes, name in SENT.findall(compiled.as_text()):
        sizes = [
            WIDTHS[dtype] * math.prod(map(int, filter(None, dims.split(","))))
            for dtype, dims in ARRAY.findall(shapes)
        ]
        found.append((name, sum(sizes)))
    return found


def held(compiled: Any) -> tuple[int, int, int]:
    """Bytes on one device: of arguments, of results, and of what lies between."""
    memory = compiled.memory_analysis()
    return (
        memory.argument_size_in_bytes,
        memory.output_size_in_bytes,
        memory.temp_size_in_bytes,
    )


def table(counts: tuple[int, ...] = (1, 8)) -> list[str]:
    """Rows of a table in Markdown: what one device holds and sends, in kB."""
    kB = lambda n: f"{n / 1000:.1f}"
    rows = []
    for job in JOBS:
        for count in counts:
            mesh = make_mesh(count)
            compiled = lower(job, mesh).lower(*place(job, mesh)).compile()
            sent = collectives(compiled)
            what = ", ".join(sorted({name for name, _ in sent})) or "nothing"
            total = kB(sum(size for _, size in sent)) if sent else "0"
            cells = [job.name, str(count), *map(kB, held(compiled)), total, what]
            rows.append("| " + " | ".join(cells) + " |")
    return rows


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    print("\n".join(table()))

"""Every operator beside eager PyTorch, on one core: the value, and the value with the gradient.

`python -m benchmarks.against_torch [--only NAME] [--sizes 1000,1000000] [--all]`. Ours is
compiled; the calls are the database's, made larger. The figures are PyTorch's time by functx's:
above 1, functx is faster.
"""

from __future__ import annotations

import argparse
import importlib.util
import operator
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


if __name__ == "__main__":  # before anything starts its threads
    os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category
from functx.testing import op_db, OpInfo
from functx.testing.opinfo import Sample

from .larger import MOST, samples
from .tables import microseconds, Table


SIZES = (10**3, 10**4, 10**5, 10**6)
WORST = 30  # rows, unless all are asked for
LONGEST = 2e6  # microseconds of a call that is timed
Calls = tuple[Callable[[], Any], Callable[[], Any]]  # functx's and PyTorch's


class Figure(NamedTuple):
    """Microseconds of one call."""

    functx: float
    torch: float

    @property
    def ratio(self) -> float:
        return self.torch / self.functx


class Row(NamedTuple):
    """An entry's figures for each size, None where it has no such call."""

    name: str
    what: str
    figures: list[Figure | None]

    @property
    def worst(self) -> float:
        return min((f.ratio for f in self.figures if f), default=float("inf"))


def in_torch(info: OpInfo) -> Callable[..., Any] | None:
    """PyTorch's function of the same name."""
    import torch  # noqa: TID251  compared with, never used by functx

    try:
        return operator.attrgetter(info.name)(torch)
    except AttributeError:
        return None


def to_torch(x: Any) -> Any:
    """An argument as PyTorch takes it."""
    import torch  # noqa: TID251

    if isinstance(x, (jax.Array, np.ndarray)):
        return torch.from_numpy(np.array(x))
    if isinstance(x, (np.dtype, type)) and x not in (int, float, bool, complex):
        return getattr(torch, np.dtype(x).name)
    return x


def pair(info: OpInfo, sample: Sample, *, gradient: bool) -> Calls | None:
    """The same call twice; None if one of the two has none, or PyTorch no work."""
    import torch  # noqa: TID251

    peer, op = in_torch(info), info.op
    if peer is None or info.unmeasured(sample):
        return None
    if info.random:
        op = info.with_key(jax.random.key(0))
    arrays = sample.arrays()
    leaves, tree = jax.tree.flatten((sample.args, dict(sample.kwargs)))
    places = [i for i, x in enumerate(leaves) if isinstance(x, jax.Array)]
    leaves = [to_torch(x) for x in leaves]
    inexact = [i for i, x in enumerate(arrays) if category(x.dtype) >= 2]

    def ours(moving, given):
        for i, x in zip(inexact, moving, strict=True):
            given[i] = x
        return sample.over_arrays(op)(*given)

    def theirs(*moving):
        for i, x in zip(inexact, moving, strict=True):
            leaves[places[i]] = x
        args, kwargs = tree.unflatten(leaves)
        return peer(*args, **kwargs)

    mine, tensors = [arrays[i] for i in inexact], [leaves[places[i]] for i in inexact]
    # What no memory holds is refused here; PyTorch would ask for it.
    results = jax.tree.leaves(jax.eval_shape(ours, mine, arrays))
    if any(y.size > MOST for y in results):
        return None
    if _views(theirs(*tensors), tensors):
        return None
    if not gradient:
        whole = jax.jit(sample.over_arrays(op))
        return lambda: whole(*arrays), lambda: theirs(*tensors)
    if not info.differentiable or not inexact:
        return None
    tensors = [t.requires_grad_() for t in tensors]
    found = [t for t in leaves_of(theirs(*tensors)) if t.requires_grad]
    shapes = [tuple(t.shape) for t in found]
    rng = np.random.default_rng(0)
    weights = [
        torch.from_numpy(rng.uniform(-1, 1, s)).to(t) for s, t in zip(shapes, found, strict=True)
    ]
    cotangents = [jnp.asarray(w.numpy()) for w in weights]

    @jax.jit
    def slope(xs, given, weights):
        floating = lambda xs: [y for y in leaves_of(ours(xs, given)) if category(y.dtype) >= 2]
        out, pull = jax.vjp(floating, xs)
        return out, pull(weights)

    def their_slope():
        out = [t for t in leaves_of(theirs(*tensors)) if t.requires_grad]
        return out, torch.autograd.grad(out, tensors, weights, allow_unused=True)

    return lambda: slope(mine, arrays, cotangents), their_slope


def leaves_of(out: Any) -> list[Any]:
    """The arrays or tensors of a result."""
    return jax.tree.leaves(tuple(out) if isinstance(out, tuple) else out)


def figure(info: OpInfo, elements: int, seconds: float, *, gradient: bool) -> Figure | None:
    """The first of the entry's calls that grows to the size and that both take."""
    for sample in samples(info, elements):
        try:
            calls = pair(info, sample, gradient=gradient)
            if calls is None or not gradient and not _alike(*(call() for call in calls)):
                continue
            took = microseconds(calls, 0.0, least=1)
        except Exception:  # one of the two refuses it
            continue
        return Figure(*(took if max(took) > LONGEST / 4 else microseconds(calls, seconds)))
    return None


def _alike(ours: Any, theirs: Any) -> bool:
    return [y.shape for y in leaves_of(ours)] == [tuple(t.shape) for t in leaves_of(theirs)]


def _views(out: Any, given: list[Any]) -> bool:
    """Whether PyTorch only looks at what it was given, which costs it nothing."""
    place = lambda t: t.untyped_storage().data_ptr()
    return bool({place(t) for t in leaves_of(out)} & {place(t) for t in given})


def measured(only: str, sizes: list[int], seconds: float) -> Iterator[Row]:
    """Two rows for each entry of the database."""
    for info in op_db:
        if only not in info.id:
            continue
        for what in ("value", "gradient"):
            figures = [figure(info, n, seconds, gradient=what == "gradient") for n in sizes]
            if any(figures):
                yield Row(info.id, what, figures)
                ratios = _cells([f.ratio if f else np.nan for f in figures])
                print(info.id, what, *ratios, file=sys.stderr, flush=True)  # it takes long
        jax.clear_caches()


def summary(rows: list[Row], sizes: list[int]) -> Table:
    """Geometric means, and how many are slower than half of PyTorch's speed."""
    out = []
    for what in ("value", "gradient"):
        these = [row for row in rows if row.what == what]
        columns = [[f.ratio for row in these if (f := row.figures[i])] for i in range(len(sizes))]
        means = [np.exp(np.mean(np.log(c))) if c else np.nan for c in columns]
        slow = [sum(ratio < 0.5 for ratio in c) for c in columns]
        out.append([what, str(len(these)), *_cells(means), *map(str, slow)])
    header = ["of", "entries", *map(_size, sizes), *(f"< 0.5, {_size(n)}" for n in sizes)]
    return Table("Against PyTorch, geometric means", _note(), header, out)


def single(rows: list[Row], sizes: list[int], *, every: bool) -> Table:
    """The slowest rows first; or all of them, by name."""
    shown = rows if every else sorted(rows, key=lambda row: row.worst)[:WORST]
    header = ["operator", "of", *map(_size, sizes), *(f"us, {_size(n)}" for n in sizes[-1:])]
    out = [
        [row.name, row.what, *_cells([f.ratio if f else np.nan for f in row.figures])]
        + [f"{f.functx:.0f}" if (f := row.figures[-1]) else "-"]
        for row in shown
    ]
    title = "Against PyTorch" + ("" if every else ", the slowest")
    return Table(title, _note(), header, out)


def _cells(ratios: Any) -> list[str]:
    return ["-" if np.isnan(ratio) else f"{ratio:.2f}" for ratio in ratios]


def _size(n: int) -> str:
    return f"10^{round(np.log10(n))}"


def _note() -> str:
    import torch  # noqa: TID251

    versions = f"JAX {jax.__version__}, PyTorch {torch.__version__}"
    return f"PyTorch's time by functx's, compiled, float32, one core; {versions}."


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="entries whose name contains this")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--seconds", type=float, default=0.1, help="spent on each figure")
    parser.add_argument("--all", action="store_true", help="every entry, not the slowest alone")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        sys.exit("PyTorch is not installed")
    import torch  # noqa: TID251

    torch.set_num_threads(1)
    sizes = [int(n) for n in options.sizes.split(",")]
    rows = list(measured(options.only, sizes, options.seconds))
    for table in (summary(rows, sizes), single(rows, sizes, every=options.all or options.only)):
        print(table.as_markdown() if options.markdown else table.as_text(), end="\n\n")


if __name__ == "__main__":
    main()

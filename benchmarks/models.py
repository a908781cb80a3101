"""Whole PyTorch models, imported by `functx.interop.from_torch`, beside PyTorch itself.

`python -m benchmarks.models [--only NAME] [--cores 1] [--compiled] [--keep-freed]`. Milliseconds of
one call in float32: functx is compiled by `functx.jit`; PyTorch is eager, its gradients of each
sample are `torch.func`'s, and `--compiled` adds `torch.compile`, which needs a compiler of C++.
torchax has a column where it is installed. Two models are also written by hand in JAX. The weights
are random, nothing is fetched; each model runs in a process of its own. With `--keep-freed` the GNU
C library keeps memory that is freed, for all of them: by default it gives large arrays back to the
system, which clears their pages anew at every call.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
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

from .importing import torchax_if_there
from .models_by_hand import BY_HAND
from .tables import microseconds, Table


Call = Callable[[], Any]
SECONDS = 2.0  # spent on each figure
TITLES = {
    "values": "Values of models",
    "gradients": "Values and gradients of models",
    "gradients_of_samples": "Gradients of each sample",
    "training_step": "Values and gradients in training mode",
}
KEEP_FREED = {  # what the GNU C library reads when a process starts
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**32),
}
WAYS = ("functx", "torch", "torch.compile", "torchax", "by hand")
HEADER = ("", *WAYS[:2], "ratio", *WAYS[2:], "difference")
STEPS = {  # what each takes before its first call
    "functx": ("exporting, tracing", "compiling"),
    "torch.compile": ("torch.compile",),
    "torchax": ("tracing by torchax", "compiling by torchax"),
    "by hand": ("tracing by hand", "compiling by hand"),
}
NOT_DONE = {  # what is not timed of each way
    "torch.compile": ("gradients_of_samples",),
    "torchax": ("training_step",),
    "by hand": ("training_step",),
}
# The same of one model. torchax unrolls the steps: XLA had not compiled the program after 8 minutes
# and with 6 GB.
NOT_DONE_OF = {("LSTM", "torchax"): ("gradients_of_samples",)}


def main() -> None:
    """Prints a table for each thing that is timed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__)
    parser.add_argument("--only", help="models whose name has this in it")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--compiled", action="store_true", help="torch.compile too")
    parser.add_argument("--keep-freed", action="store_true", help="freed memory is kept")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--of", help=argparse.SUPPRESS)  # the one model of this process
    options = parser.parse_args()
    if options.of:
        print(json.dumps(_figures(options.of, options.cores, options.compiled)))
        return
    from .public_models import MODELS

    found: dict[str, dict[str, dict[str, Any]]] = {}
    for model in MODELS:
        if (options.only or "").lower() in model.name.lower():
            for what, figures in _in_own_process(model.name, options).items():
                found.setdefault(what, {})[model.name] = figures
    for what, rows in found.items():
        for table in (_table(what, rows, options.cores), _first_calls(what, rows)):
            text = table.as_markdown() if options.markdown else table.as_text()
            print(text, end="\n\n", flush=True)


def _in_own_process(name: str, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    own = [sys.executable, "-m", "benchmarks.models", "--of", name, "--cores", str(options.cores)]
    own += ["--compiled"] * options.compiled
    environment = {**os.environ, **(KEEP_FREED if options.keep_freed else {})}
    done = subprocess.run(own, text=True, capture_output=True, env=environment)
    said = done.stderr.strip().splitlines()
    if done.returncode:
        print(f"{name}: {said[-1]}", file=sys.stderr)
        return {}
    for line in said:
        if line.startswith(f"{name}, "):
            print(line, file=sys.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def _table(what: str, rows: dict[str, dict[str, Any]], cores: int) -> Table:
    text, ratios = [], []
    for name, figures in rows.items():
        ours, torchs, *others = (_milliseconds(figures.get(way)) for way in WAYS)
        ratios.append(figures["torch"] / figures["functx"])
        text.append([name, ours, torchs, f"{ratios[-1]:.2f}", *others, figures["difference"]])
    mean = statistics.geometric_mean(ratios)
    text.append(["geometric mean", "", "", f"{mean:.2f}", *("" for _ in WAYS[2:]), ""])
    note = (
        f"Milliseconds on {cores} of the machine's cores. The ratio is PyTorch's time by functx's. "
        "The difference is the largest, by PyTorch's largest value of the same array, or by a "
        "thousandth of that of all arrays."
    )
    return Table(what, note, HEADER, text)


def _first_calls(what: str, rows: dict[str, dict[str, Any]]) -> Table:
    def seconds(figures: dict[str, Any]) -> list[str]:
        given = ((figures["first"].get(way), steps) for way, steps in STEPS.items())
        return [f"{x:.1f}" if took else "" for took, steps in given for x in took or steps]

    text = [[name, *seconds(figures)] for name, figures in rows.items()]
    header = ("", *(step for steps in STEPS.values() for step in steps))
    return Table(f"{what}: before the first call", "Seconds.", header, text)


def _milliseconds(x: float | None) -> str:
    return "" if x is None else f"{x:.1f}"


def _figures(name: str, cores: int, with_compiled: bool) -> dict[str, dict[str, Any]]:
    """The figures of a model, by what is timed."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])
    import torch  # noqa: TID251  compared with, never used by functx

    from .public_models import built, MODELS

    torch.set_num_threads(cores)
    [model] = [model for model in MODELS if model.name == name]
    module, inputs = built(model)
    ours, theirs = InFunctx(module, inputs), InPyTorch(module, inputs)
    timed = [what for what in TITLES if what != "training_step" or model.trained]
    programs = _programs(name, timed, ours, module, with_compiled)
    found = {}
    for what in timed:
        calls = {way: program.call for way, program in programs[what].items()}
        calls["torch"] = getattr(theirs, what)()
        draws = what == "training_step" and model.drawing
        difference = "" if draws else f"{_difference(calls['functx'](), calls['torch']()):.0e}"
        times = dict(zip(calls, _milliseconds_of(list(calls.values())), strict=True))
        first = {way: program.first for way, program in programs[what].items()}
        found[TITLES[what]] = {**times, "first": first, "difference": difference}
    return found


def _programs(
    name: str, timed: list[str], ours: InFunctx, module: Any, with_compiled: bool
) -> dict[str, dict[str, Compiled]]:
    """The compiled programs of a model by what is timed, and by the way that compiled them."""
    ways: dict[str, Callable[[], InFunctx | InPyTorch]] = {"functx": lambda: ours}
    if with_compiled:
        own = copy.deepcopy(module)  # whose training steps leave other statistics of batches
        ways["torch.compile"] = lambda: InPyTorch(own, ours.tensors, compiled=True)
    # PyTorch compiles nothing any more once torchax is loaded, which finding it does.
    ways["torchax"] = lambda: ByTorchax(module, ours)
    if name in BY_HAND:
        ways["by hand"] = lambda: ByHand(name, ours)
    found: dict[str, dict[str, Compiled]] = {what: {} for what in timed}
    for way, of_model in ways.items():
        if way == "torchax" and torchax_if_there() is None:
            continue
        runner = of_model()
        left_out = NOT_DONE.get(way, ()) + NOT_DONE_OF.get((name, way), ())
        for what in timed:
            if what in left_out:
                continue
            try:
                found[what][way] = runner.started(what)
            except Exception as e:  # what another library cannot do is said, and does not end this
                if way == "functx":
                    raise
                reason = str(e).strip().splitlines() or [type(e).__name__]
                print(f"{name}, {TITLES[what]}, {way}: {reason[0]}", file=sys.stderr)
    return found


class Compiled(NamedTuple):
    """A compiled program, as a call without arguments, and the seconds that its steps took before:
    to trace, with the module's export, and to compile, or both at once.
    """

    call: Call
    first: tuple[float, ...]


class InPyTorch:
    """What is timed, as PyTorch does it: each method makes a call without arguments."""

    def __init__(self, module: Any, inputs: Any, *, compiled: bool = False):
        import torch  # noqa: TID251

        self.torch, self.inputs = torch, inputs
        self.module = module
        self.call = torch.compile(module) if compiled else module
        self.names = [name for name, _ in module.named_parameters()]
        self.params = list(module.parameters())

    def started(self, what: str) -> Compiled:
        """One of these after its first call."""
        call, start = getattr(self, what)(), time.perf_counter()
        call()
        return Compiled(call, (time.perf_counter() - start,))

    def values(self) -> Call:
        """The first output."""
        return self.torch.no_grad()(lambda: _first(self.call(*self.inputs)))

    def gradients(self) -> Call:
        """The loss, and its gradient with respect to each parameter."""

        def call() -> Any:
            loss = _loss(self.call(*self.inputs))
            found = self.torch.autograd.grad(loss, self.params, allow_unused=True)
            pairs = zip(self.names, self.params, found, strict=True)
            given = {n: self.torch.zeros_like(p) if g is None else g for n, p, g in pairs}
            return loss.detach(), given

        return call

    def gradients_of_samples(self) -> Call:
        """The gradients of the loss of each sample, by `torch.func`."""
        func = self.torch.func

        def loss(params: Any, *sample: Any) -> Any:
            batch = tuple(x[None] for x in sample)
            return _loss(func.functional_call(self.module, params, batch))

        each = func.vmap(func.grad(loss), (None, *(0 for _ in self.inputs)))
        params = {name: p.detach() for name, p in self.module.named_parameters()}
        return lambda: each(params, *self.inputs)

    def training_step(self) -> Call:
        """As `gradients`, in training mode."""
        inner = self.gradients()

        def call() -> Any:
            self.module.train()
            try:
                return inner()
            finally:
                self.module.eval()

        return call


class InFunctx:
    """What is timed, as functx does it to the imported model."""

    def __init__(self, module: Any, inputs: Any):
        self.model = from_torch(module)
        self.params = self.model.params
        self.tensors, self.inputs = inputs, [jnp.asarray(x.numpy()) for x in inputs]
        self.function: Callable[..., Any] = self.model

    def started(self, what: str) -> Compiled:
        """One of these, compiled."""
        return getattr(self, what)()

    def values(self) -> Compiled:
        """The first output."""
        return self._compiled(lambda params, *xs: _first(self.function(params, *xs)))

    def gradients(self) -> Compiled:
        """The loss, and its gradient with respect to each parameter."""
        return self._compiled(
            functx.value_and_grad(lambda params, *xs: _loss(self.function(params, *xs)))
        )

    def gradients_of_samples(self) -> Compiled:
        """The gradients of the loss of each sample."""
        loss = lambda params, *sample: _loss(self.function(params, *(x[None] for x in sample)))
        return self._compiled(functx.vmap(functx.grad(loss), (None, *(0 for _ in self.inputs))))

    def training_step(self) -> Compiled:
        """As `gradients`, in training mode."""

        def loss(params: Any, *xs: Any) -> Any:
            out, buffers = self.model.apply(params, self.model.buffers, *xs, key=jax.random.key(0))
            return _loss(out), buffers

        step = functx.value_and_grad(loss, has_aux=True)

        def without_buffers(params: Any, *xs: Any) -> Any:
            (value, buffers), gradients = step(params, *xs)
            return value, gradients, buffers

        return self._compiled(without_buffers)

    def _compiled(self, function: Callable[..., Any]) -> Compiled:
        start = time.perf_counter()
        lowered = jax.jit(function).lower(self.params, *self.inputs)
        traced = time.perf_counter()
        program = lowered.compile()
        times = traced - start, time.perf_counter() - traced
        return Compiled(lambda: program(self.params, *self.inputs), times)


class ByHand(InFunctx):
    """What is timed, of a model as written in JAX."""

    def __init__(self, name: str, imported: InFunctx):
        self.inputs = imported.inputs
        self.function, self.params = BY_HAND[name](imported.params, imported.model.buffers)


class ByTorchax(InFunctx):
    """What is timed, of a model as torchax runs it."""

    def __init__(self, module: Any, imported: InFunctx):
        self.inputs = imported.inputs
        states, function = torchax_if_there().extract_jax(module)
        self.params = {name: states[name] for name, _ in module.named_parameters()}
        self.function = lambda params, *xs: function(states | params, xs)


def _first(output: Any) -> Any:
    return output[0] if isinstance(output, tuple) else output


def _loss(output: Any) -> Any:
    return (_first(output) ** 2).mean()


def _difference(ours: Any, theirs: Any) -> float:
    """The largest difference between arrays and tensors, by the largest value of the same array.

    An array whose values are all rounding, as the gradient of a bias that changes nothing, is held
    by a thousandth of the largest value of all.
    """
    # The new buffers, which training steps of functx return last, have no counterpart.
    leaves = zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=False)
    pairs = [(np.asarray(x), y.detach().numpy()) for x, y in leaves]
    scales = [float(np.abs(y).max()) for _, y in pairs]
    least = max(scales) / 1000
    differences = [float(np.abs(x - y).max()) for x, y in pairs]
    return max(d / max(scale, least) for d, scale in zip(differences, scales, strict=True))


def _milliseconds_of(calls: list[Call]) -> list[float]:
    return [t / 1000 for t in microseconds(calls, SECONDS, least=7)]


if __name__ == "__main__":
    main()

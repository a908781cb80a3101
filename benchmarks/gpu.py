"""functx on a GPU, in ten minutes: checks, speed, autocast, memory. Writes a page.

`python -m benchmarks gpu`, or `python -m benchmarks.gpu [--minutes 10] [--output gpu.md]`. Where
JAX sees no GPU, operators and programs are lowered for CUDA, and the page says "not run" of the
rest. PyTorch's columns are there where PyTorch sees a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import functools as ft
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any


if __name__ == "__main__":  # before JAX sees the environment
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.testing import op_db
from functx.testing.checks.lowering import check_lowering

from . import operators
from .tables import microseconds, Table
from .transform_programs import by_hand, in_torchs_words, inputs


TORCH_DEVICE = "cuda"
NOT_RUN = "not run"
SHAPE = (2048, 4096)  # of operators' arrays
SCALE = 4  # of the programs' arrays
SHARES = {"checks": 0.45, "operators": 0.15, "programs": 0.25, "autocast": 0.1}  # of the time
CLOSE = 2e-3  # relative: what is timed must agree
AUTOCAST = ("per-sample gradients, CNN", "ensemble", "transformer, gradient")
Section = tuple[str, Sequence[str]]  # a heading, and what stands below it


def gpu() -> jax.Device | None:
    """The first GPU that JAX sees."""
    try:
        return jax.devices("gpu")[0]
    except RuntimeError:
        return None


def torch_with_cuda() -> Any:
    """PyTorch, if it sees a GPU, with float32 as float32; else None."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch  # noqa: TID251  compared with, never used by functx

    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    return torch


class Waited:
    """PyTorch's result, for which is waited as for JAX's."""

    def __init__(self, torch: Any, result: Any) -> None:
        self.torch, self.result = torch, result

    def block_until_ready(self) -> Waited:
        """Until the GPU is done."""
        if TORCH_DEVICE == "cuda":
            self.torch.cuda.synchronize()
        return self

    def as_numpy(self) -> Any:
        """The same result for NumPy."""
        return jax.tree.map(lambda x: x.detach().cpu().numpy(), self.result)


def in_torch(torch: Any, f: Callable[..., Any], *args: Any) -> Callable[[], Waited]:
    """A call of PyTorch's on its own copies of the arrays, on the GPU."""
    moved = jax.tree.map(lambda x: torch.tensor(np.asarray(x), device=TORCH_DEVICE), args)
    return lambda: Waited(torch, f(*moved))


def apart(ours: Any, theirs: Any) -> float:
    """The largest difference of two results, relative to the largest number."""
    gaps = [0.0]
    for x, y in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        x, y = np.asarray(x, "float64"), np.asarray(y, "float64")
        gaps.append(float(np.max(np.abs(x - y)) / (np.max(np.abs(y)) + 1e-6)))
    return float(np.max(gaps))  # NaN, if one is


def timed(
    calls: dict[str, Callable[[], Any]], until: float, seconds: float
) -> tuple[dict[str, float], str]:
    """Microseconds of each call in turn, and what is to be said of them; none after `until`."""
    if time.perf_counter() > until:
        return {}, "no time left"
    results = {name: call() for name, call in calls.items()}
    wanted = results["by hand"]
    arrays = [r.as_numpy() if isinstance(r, Waited) else r for r in results.values()]
    worst = np.max([apart(result, wanted) for result in arrays])
    if not worst <= CLOSE:  # NaN, too
        return {}, f"results differ by {worst:.1e}"
    times = microseconds(list(calls.values()), seconds)
    return dict(zip(calls, times, strict=True)), ""


def ratio_row(name: str, times: dict[str, float], said: str) -> list[str]:
    """A table's row: times and ratios, or why there are none."""
    if not times:
        return [name, said, "", "", "", ""]
    ours, hand, peer = times["functx"], times["by hand"], times.get("torch")
    row = [name, f"{ours:.1f}", f"{hand:.1f}", f"{ours / hand:.2f}"]
    return [*row, f"{peer:.1f}" if peer else "-", f"{peer / ours:.2f}" if peer else "-"]


HEADER = ["", "functx", "by hand", "functx / by hand", "PyTorch", "PyTorch / functx"]


def operator_table(until: float, seconds: float = 0.2) -> Table:
    """Compiled operators beside `jax.numpy` by hand, and PyTorch's kernels."""
    torch, rows = torch_with_cuda(), []
    for case in operators.cases():
        args = [jnp.asarray(x) for x in operators.arrays(case, SHAPE)]
        calls = {
            "functx": ft.partial(jax.jit(case.ours), *args),
            "by hand": ft.partial(jax.jit(case.by_hand), *args),
        }
        if torch is not None and not case.judged:  # whose indices are made on the host
            calls["torch"] = in_torch(torch, case.torch(torch), *args)
        rows.append(ratio_row(case.name, *timed(calls, until, seconds)))
    size = "x".join(map(str, SHAPE))
    note = f"Microseconds of a call, compiled, waited for; float32, {size}."
    return Table("Operators", note, HEADER, rows)


def program_table(scale: int, until: float, seconds: float = 0.3) -> Table:
    """Ten programs of transforms, compiled, beside JAX by hand and eager `torch.func`."""
    torch, rows = torch_with_cuda(), []
    ours, theirs = in_torchs_words(functx, functx.nn.functional), by_hand()
    peers = in_torchs_words(torch, torch.nn.functional) if torch is not None else {}
    for name, raw in inputs(scale).items():
        args = jax.tree.map(jnp.asarray, raw)
        calls = {
            "functx": ft.partial(jax.jit(ours[name]), *args),
            "by hand": ft.partial(jax.jit(theirs[name]), *args),
        }
        if name in peers:
            calls["torch"] = in_torch(torch, peers[name], *raw)
        try:
            rows.append(ratio_row(name, *timed(calls, until, seconds)))
        except Exception as error:  # one program must not take the others' figures with it
            rows.append(ratio_row(name, {}, f"failed: {str(error).splitlines()[0][:80]}"))
    note = "Microseconds of a call, compiled, waited for; float32. PyTorch is eager torch.func."
    return Table("Programs of transforms", note, HEADER, rows)


def autocast_table(scale: int, until: float, seconds: float = 0.3) -> Table | None:
    """The same programs in half precision, if this functx has autocast."""
    if importlib.util.find_spec("functx.amp") is None:
        return None
    from functx.amp import autocast

    programs, rows = in_torchs_words(functx, functx.nn.functional), []
    for name, raw in inputs(scale).items():
        if name not in AUTOCAST or time.perf_counter() > until:
            continue
        args = jax.tree.map(jnp.asarray, raw)
        versions = [programs[name]]
        versions += [autocast(programs[name], dtype) for dtype in (jnp.bfloat16, jnp.float16)]
        single, *halves = (ft.partial(jax.jit(f), *args) for f in versions)
        wanted = single()
        times = microseconds([single, *halves], seconds)
        gaps = [f"{apart(half(), wanted):.1e}" for half in halves]
        rows.append([name, *(f"{t:.1f}" for t in times), *gaps])
    header = ["", "float32", "bfloat16", "float16", "bfloat16 is off by", "float16 is off by"]
    note = "Microseconds of a call under `functx.amp.autocast`; errors relative to float32."
    return Table("Autocast", note, header, rows)


def memory_table(scale: int, until: float) -> Table:
    """What the compiler plans, what functx predicts without it, and the device's own peak."""
    programs, rows = in_torchs_words(functx, functx.nn.functional), []
    analyze = None
    if importlib.util.find_spec("functx.memory") is not None:
        from functx.memory import analyze
    for name, raw in inputs(scale).items():
        if time.perf_counter() > until:
            rows.append([name, "no time left", "", ""])
            continue
        args = jax.tree.map(jnp.asarray, raw)
        compiled = jax.jit(programs[name]).lower(*args).compile()
        stats = compiled.memory_analysis()
        planned = (
            stats.argument_size_in_bytes
            + stats.output_size_in_bytes
            + stats.temp_size_in_bytes
            - stats.alias_size_in_bytes
        )
        jax.block_until_ready(compiled(*args))
        device = (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use")
        predicted = _megabytes(analyze(programs[name], *args).peak_bytes) if analyze else "-"
        row = [name, _megabytes(planned), predicted]
        rows.append([*row, _megabytes(device) if device else "-"])
    header = ["", "planned by XLA", "functx.memory.analyze", "the device's peak so far"]
    note = (
        "Megabytes: arguments, results and temporaries of one call. The device's peak only grows."
    )
    return Table("Memory", note, header, rows)


def _megabytes(size: float) -> str:
    return f"{size / 1e6:.2f}"


def checks(minutes: float, device: str = "gpu") -> list[str]:
    """The quick profile's cells on the GPU, one sample each, as many as fit."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = max(1, min(8, (os.cpu_count() or 2) - 2))
        command = [sys.executable, "-m", "functx", "check", "--device", device, "--samples", "1"]
        command += ["--jobs", str(jobs), "--minutes", f"{minutes:.2f}"]
        command += ["--journal", str(Path(folder) / "checks.jsonl")]
        late = 60 * minutes + 90
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=late)
        except subprocess.TimeoutExpired:
            return [f"Not done after {late:.0f} seconds, of which {60 * minutes:.0f} were given."]
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    status = "all passed" if not done.returncode else "some cells are left"
    if done.returncode not in (0, 3):
        status = "some failed" if done.returncode == 1 else "it did not run"
    return [f"Exit status {done.returncode}: {status}.", "", "```text", *said[-12:], "```"]


def lowered(entries: int, scale: int = 1) -> list[str]:
    """Operators spread over the database, and the ten programs, lowered for CUDA."""
    step = max(1, len(op_db) // entries)
    chosen = [info for info in op_db if "float32" in info.accepted][::step][:entries]
    failed = []
    for info in chosen:
        sample = next(iter(info.samples(info.make("float32"))))
        try:
            check_lowering(info, sample, platform="cuda")
        except Exception as error:
            failed.append(f"{info.id}: {str(error).splitlines()[0][:100]}")
    programs, raws = in_torchs_words(functx, functx.nn.functional), inputs(scale)
    for name, raw in raws.items():
        args = jax.tree.map(jnp.asarray, raw)
        try:
            jax.jit(programs[name]).trace(*args).lower(lowering_platforms=("cuda",))
        except Exception as error:
            failed.append(f"{name}: {str(error).splitlines()[0][:100]}")
    tried = f"{len(chosen)} operators with their pullbacks, and {len(raws)} programs of transforms"
    if not failed:
        return [f"{tried}: all are lowered for CUDA."]
    return [f"{tried}: {len(failed)} are not lowered for CUDA.", "", *(f"- {f}" for f in failed)]


def sections(minutes: float, entries: int) -> Iterator[Section]:
    """The page below its title, section by section, as they are done."""
    names = ("Checks of the quick profile", "Operators", "Programs of transforms")
    if gpu() is None:
        yield "Lowering for CUDA", lowered(entries)
        for name in (*names, "Autocast", "Memory"):
            yield name, [NOT_RUN]
        return
    start, given = time.perf_counter(), 60 * minutes
    ends = {name: start + given * sum([*SHARES.values()][: i + 1]) for i, name in enumerate(SHARES)}
    yield names[0], checks(max(0.1, SHARES["checks"] * minutes - 1.5))
    with jax.default_matmul_precision("highest"):
        yield names[1], _body(operator_table(ends["operators"]))
        yield names[2], _body(program_table(SCALE, ends["programs"]))
        table = autocast_table(SCALE, ends["autocast"])
        yield "Autocast", [NOT_RUN] if table is None else _body(table)
        yield "Memory", _body(memory_table(SCALE, start + given))


def _body(table: Table) -> list[str]:
    """A table without its title, which is the section's heading."""
    return table.as_markdown().split("\n\n", 1)[1].splitlines()


def heading() -> list[str]:
    """What the page is of."""
    device, torch = gpu(), torch_with_cuda()
    lines = ["# functx on a GPU", ""]
    if device is None:
        lines.append(f"JAX {jax.__version__} sees no GPU here: {jax.devices()}.")
    else:
        lines.append(f"{device.device_kind}, JAX {jax.__version__}.")
        if torch is None:
            lines.append("PyTorch with CUDA is not installed: its columns are empty.")
        else:
            lines.append(f"PyTorch {torch.__version__}.")
    return [*lines, "", "To repeat: `python -m benchmarks gpu`."]


def write_page(output: Path, *, minutes: float = 10, entries: int = 60) -> str:
    """Writes the page, anew after each section, so that what is done is not lost."""
    lines = heading()
    for title, body in sections(minutes, entries):
        lines += ["", f"## {title}", "", *body]
        output.write_text("\n".join(lines) + "\n")
    return output.read_text()


def main() -> None:
    """Writes the page and prints it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=9.5, help="for everything together")
    parser.add_argument("--output", type=Path, default=Path("gpu.md"))
    parser.add_argument("--entries", type=int, default=60, help="operators that are lowered")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        print(write_page(options.output, minutes=options.minutes, entries=options.entries))


if __name__ == "__main__":
    main()

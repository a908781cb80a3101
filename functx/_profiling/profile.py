"""`profile`: what ran in a region, and where its time went."""

from __future__ import annotations

import contextlib
import functools as ft
import os
import tempfile
import threading
import time
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, TYPE_CHECKING

import jax
import jax.profiler

from functx._core import fail

from .attribution import place_of
from .chrome import write_chrome_trace
from .comparison import compared, ProfileComparison
from .flames import draw_bars, Kind, write_flame_graph
from .readings import reading_of, TraceReading
from .tables import grouped, Order, ProfileTable, shown_seconds


if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["profile"]

_running = threading.Lock()
_WHO = "profiler.profile"


class profile:
    """Records what runs in a region, and says where the time went, in the program's own words.

    JAX's profiler notes each kernel. The compiled programs say what each kernel computes; so its
    time goes to operators, to the forward and the backward pass, to lines of the source, and to the
    scopes that `record_function` named. A kernel into which XLA fused several operators is divided
    among them in proportion to the elements that their instructions handle, of products to their
    multiplications: of such kernels the sum is measured, the division is an estimate.

    - `python_calls`: whether Python's calls are recorded too, for `export_chrome_trace`. They slow
      down Python.
    - `keep`: a folder that keeps JAX's own files, for XProf and TensorBoard; by default they go.

    The region waits at its end for all arrays that are alive: keep the results, for a program whose
    results are dropped before it is done may be missing. Tables are read after the region. One
    profile runs at a time, in all threads together; a second one, or one while `jax.profiler` is
    tracing, is a RuntimeError. So is reading before the end, or where no compiled program ran.

    Leave the first call of a compiled function out of the region, or its compilation is in it.
    Outside of `jax.jit` each operator is a program of its own, and of a backward pass only those
    operators are told apart that have a derivative rule: profile a compiled step.

    >>> step = jax.jit(functx.grad_and_value(lambda w: functx.sum(functx.nn.functional.gelu(w))))
    >>> w = jnp.ones((64, 64), "float32")
    >>> gradient, value = jax.block_until_ready(step(w))
    >>> with functx.profiler.profile() as p:
    ...     gradient, value = step(w)
    >>> sorted({row.phase for row in p.by_operator().named("nn.functional.gelu")})
    ['backward', 'forward']
    """

    def __init__(
        self, *, python_calls: bool = False, keep: str | os.PathLike[str] | None = None
    ) -> None:
        """A profile that begins with its `with`; see the class for `python_calls` and `keep`."""
        self._python_calls = python_calls
        self._keep = None if keep is None else Path(keep)
        self._state = "new"
        self._data = b""
        self._seconds = 0.0

    def __enter__(self) -> profile:
        if self._state != "new":
            fail(_WHO, "a profile records one region", hint="make another: profiler.profile()")
        if not _running.acquire(blocking=False):
            fail(
                _WHO,
                "another profile is running, and profiles do not nest",
                hint="profiler.record_function names a region inside of one",
            )
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="functx-profile-")
            options = jax.profiler.ProfileOptions()
            options.python_tracer_level = int(self._python_calls)
            try:
                jax.profiler.start_trace(self._keep or self._folder.name, profiler_options=options)
            except RuntimeError as error:
                self._folder.cleanup()
                fail(
                    _WHO,
                    f"JAX's profiler does not start: {error}",
                    hint="jax.profiler.stop_trace() ends a trace that was begun before",
                )
        except BaseException:
            _running.release()
            raise
        self._state, self._began = "running", time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                _wait_for_all()
        finally:
            self._seconds = time.perf_counter() - self._began
            try:
                jax.profiler.stop_trace()
                self._data = _newest(self._keep or Path(self._folder.name))
            finally:
                self._state = "ended"
                self._folder.cleanup()
                _running.release()

    @ft.cached_property
    def _reading(self) -> TraceReading:
        if self._state != "ended":
            when = "has not begun" if self._state == "new" else "has not ended"
            fail(_WHO, f"the region {when}", hint="read results after the `with` block")
        reading = reading_of(self._data, self._seconds)
        if not reading.kernels:
            fail(
                _WHO,
                "no compiled program ran in the region",
                hint="call what is to be profiled inside of the `with` block, and keep its results",
            )
        return reading

    @property
    def seconds(self) -> float:
        """How long the region took, with the wait at its end."""
        return self._reading.seconds

    @property
    def kernel_seconds(self) -> float:
        """For how long at least one kernel ran."""
        return self._reading.kernel_seconds

    @property
    def compile_seconds(self) -> float:
        """For how long XLA compiled."""
        return self._reading.compile_seconds

    def by_operator(
        self, *, phases: bool = True, sort: Order = "self", limit: int | None = None
    ) -> ProfileTable:
        """Time by operator; what is no operator of functx stands under its primitive, `lax.mul`.

        - `phases`: whether forward, backward and tangent have rows of their own.
        - `sort`: `"self"`, `"total"`, `"calls"`, `"kernels"` or `"name"`; the most comes first.
        - `limit`: the number of rows, all by default.

        Calls are counted by call site and phase: as often as the kernel of the site that ran most.
        Where XLA makes a loop one kernel, they are the runs of the loop.
        What `jax.numpy` calls stands under its primitives. An operator's total is its self time.
        """
        return grouped(
            "operator",
            self._reading.shares,
            lambda share: (share.origin.name,),
            phases=phases,
            sort=sort,
            limit=limit,
            who=f"{_WHO}.by_operator",
        )

    def by_transform(self, *, sort: Order = "self", limit: int | None = None) -> ProfileTable:
        """Time by transform: forward, backward and tangent, each batched by `vmap` or not.

        - `sort`: `"self"`, `"total"`, `"calls"`, `"kernels"` or `"name"`; the most comes first.
        - `limit`: the number of rows, all by default.

        A forward-mode derivative computes values and tangents together: both are `tangent`.
        """
        return grouped(
            "transform",
            self._reading.shares,
            lambda share: (share.transform,),
            phases=False,
            sort=sort,
            limit=limit,
            who=f"{_WHO}.by_transform",
        )

    def by_line(
        self, *, phases: bool = False, sort: Order = "self", limit: int | None = None
    ) -> ProfileTable:
        """Time by line of the user's source; the total of a line includes what it calls.

        - `phases`: whether forward, backward and tangent have rows of their own.
        - `sort`: `"self"`, `"total"`, `"calls"`, `"kernels"` or `"name"`; the most comes first.
        - `limit`: the number of rows, all by default.
        """
        return grouped(
            "line",
            self._reading.shares,
            lambda share: [place_of(f) for f in reversed(share.frames)] or ["(no line)"],
            phases=phases,
            sort=sort,
            limit=limit,
            who=f"{_WHO}.by_line",
        )

    def by_scope(
        self, *, phases: bool = False, sort: Order = "self", limit: int | None = None
    ) -> ProfileTable:
        """Time on the device by named scope, of `record_function` or of `jax.named_scope`.

        - `phases`: whether forward, backward and tangent have rows of their own.
        - `sort`: `"self"`, `"total"`, `"calls"`, `"kernels"` or `"name"`; the most comes first.
        - `limit`: the number of rows, all by default.

        A scope inside another counts in the total of both.
        """
        return grouped(
            "scope",
            self._reading.shares,
            lambda share: share.origin.scopes or ("(no scope)",),
            phases=phases,
            sort=sort,
            limit=limit,
            who=f"{_WHO}.by_scope",
        )

    def by_kernel(self, *, sort: Order = "self", limit: int | None = None) -> ProfileTable:
        """Time by kernel, as XLA named it and as it was measured, undivided.

        - `sort`: `"self"`, `"total"`, `"calls"`, `"kernels"` or `"name"`; the most comes first.
        - `limit`: the number of rows, all by default.

        The self time of a loop or a branch is without the kernels that run inside.
        """
        return grouped(
            "kernel",
            self._reading.shares,
            lambda share: (f"{share.kernel} ({share.module})",),
            phases=False,
            sort=sort,
            limit=limit,
            who=f"{_WHO}.by_kernel",
        )

    def by_range(self) -> ProfileTable:
        """Time on the host by range of `record_function`, `mark` and their kin.

        It is the time between beginning and end, also of work that only waits in a queue; where a
        function is compiled in a range, compilation counts. The self time is without ranges inside.
        """
        return self._reading.ranges()

    def compare(self, other: profile) -> ProfileComparison:
        """This run, before, and `other`, after: operator by operator, the largest change first.

        - `other`: another profile, whose region has ended.
        """
        if not isinstance(other, profile):
            fail(
                f"{_WHO}.compare",
                f"`other` must be a profile, got {type(other).__name__}",
                error=TypeError,
            )
        return compared(self.by_operator(), other.by_operator())

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes what ran, as a file for https://ui.perfetto.dev and for Chrome's tracing page.

        - `path`: where to; a name that ends in `.gz` is compressed.

        Each kernel is named after its operators, and carries phase, line, scope and the name that
        XLA gave it; ranges and calls of the host are beside them.
        """
        write_chrome_trace(self._reading, Path(path))

    def flame_graph(self, path: str | os.PathLike[str], *, by: Kind = "operator") -> None:
        """Writes a flame graph: one HTML page that loads nothing, wide where time is spent.

        - `path`: where to.
        - `by`: `"operator"` stacks phase, functions, scopes, operators and kernels; `"line"` stacks
          the lines of the user's source that led to a kernel.

        A click on a bar fills the page with it.
        """
        write_flame_graph(self._reading, Path(path), by)

    def plot(self, *, limit: int = 12, axes: Axes | None = None) -> Axes:
        """Draws the operators that take most time as bars, by phase, with matplotlib.

        - `limit`: how many operators.
        - `axes`: where to draw, a new figure by default.

        Returns the axes. Matplotlib is imported here; without it, it is an ImportError.
        """
        return draw_bars(self.by_operator(), limit, axes)

    def __str__(self) -> str:
        reading = self._reading
        rest = max(0.0, reading.seconds - reading.kernel_seconds - reading.compile_seconds)
        shown = self.by_operator()
        some = reading.devices
        lines = [
            f"{shown_seconds(reading.seconds)} in the region, kernels ran for "
            f"{shown_seconds(reading.kernel_seconds)}"
            f" ({100 * reading.kernel_seconds / reading.seconds:.1f} %) on "
            f"{', '.join(some) if len(some) <= 2 else f'{len(some)} devices'}.",
            f"Not in the tables: compilation {shown_seconds(reading.compile_seconds)}, "
            f"dispatch, Python and waiting {shown_seconds(rest)}.",
            "",
            str(shown[:15]),
        ]
        if len(shown) > 15:
            lines.append(f"({len(shown) - 15} more rows: by_operator())")
        return "\n".join([*lines, "", str(self.by_transform())])

    def __repr__(self) -> str:
        return f"<functx.profiler.profile, {self._state}>"

    def __getstate__(self) -> dict[str, Any]:
        if self._state == "running":
            fail(_WHO, "a running profile cannot be pickled", hint="pickle it after the region")
        kept = ("_python_calls", "_keep", "_state", "_data", "_seconds")
        return {name: vars(self)[name] for name in kept}


def _wait_for_all() -> None:
    """Until the arrays that are alive are computed: kernels that run later would be missing.

    An array whose computation failed raises where its owner reads it, not here.
    """
    jax.effects_barrier()
    for array in jax.live_arrays():
        with contextlib.suppress(jax.errors.JaxRuntimeError):
            if not array.is_deleted():
                array.block_until_ready()


def _newest(folder: Path) -> bytes:
    """The bytes of the trace that was written last."""
    files = sorted(folder.rglob("*.xplane.pb"), key=lambda path: path.stat().st_mtime_ns)
    if not files:
        warnings.warn(f"{_WHO}: JAX's profiler wrote no trace", stacklevel=3)
        return b""
    return files[-1].read_bytes()

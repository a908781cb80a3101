"""Checks ask for programs; many are compiled as one, since dispatching each would cost more.

A check is a function that returns nothing, or a generator: it yields requests, each a program and
its arguments, receives their results, and judges them. The programs of all samples and all checks
of an entry become a few modules; a program that is asked for several times, with other arguments of
the same shapes, is compiled once.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import functools as ft
import gc
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.backend import get_backend
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun, jaxprs_in_params


_strictly = contextvars.ContextVar("strictly", default=False)


@contextlib.contextmanager
def tracing_strictly(strictly: bool) -> Iterator[None]:
    """Traces programs in JAX's strict settings: who forbids implicit promotion calls operators too.

    Functions of users are not held to that.
    """
    token = _strictly.set(strictly)
    try:
        yield
    finally:
        _strictly.reset(token)


@contextlib.contextmanager
def _strict_settings() -> Iterator[None]:
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        yield


class CheckProgram:
    """A function of arrays to be compiled; calling it makes a request.

    A trace is kept, so that what is asked of it several times is traced once.
    """

    def __init__(self, f: Callable[..., Any], x64: bool = True):
        self.f, self.x64 = f, x64
        self._traces: dict[Any, Trace] = {}

    def __call__(self, *args: Any) -> ProgramCall:
        return ProgramCall(self, args)

    def trace(self, *args: Any) -> Trace:
        """Its equations for arguments of these shapes and dtypes."""
        leaves, tree = jax.tree.flatten(_uncommitted(args))
        types = tree, tuple((np.shape(x), getattr(x, "dtype", type(x))) for x in leaves)
        types += (_strictly.get(),)
        if types not in self._traces:
            with _strict_settings() if _strictly.get() else contextlib.nullcontext():
                traced = jax.make_jaxpr(self.f, return_shape=True)(*tree.unflatten(leaves))
            self._traces[types] = Trace(traced[0], jax.tree.structure(traced[1]))
        return self._traces[types]


@dataclasses.dataclass(frozen=True)
class Trace:
    """A program's equations, and the structure of its outputs."""

    jaxpr: ClosedJaxpr
    out: Any  # a PyTreeDef


@dataclasses.dataclass(eq=False)
class ProgramCall:
    """A program and what to call it with."""

    program: CheckProgram
    args: tuple[Any, ...]
    #: its share of the time that tracing, compiling and running took: of what is compiled together,
    #: by the number of equations
    seconds: float = 0.0


# Yields requests and receives their results; returns False if there was nothing to check.
CheckSteps: TypeAlias = Generator[Sequence[ProgramCall], list[Any], bool | None]

LARGEST = 4000  # equations compiled as one: beyond, XLA's time grows faster than they


def run_requests(requests: Sequence[ProgramCall]) -> list[Any]:
    """The result of each request, or the exception that its program raised."""
    points: dict[CheckProgram, list[ProgramCall]] = {}
    for request in requests:
        points.setdefault(request.program, []).append(request)
    results: dict[ProgramCall, Any] = {}
    for x64 in (True, False):
        with jax.enable_x64(x64 and jax.config.read("jax_enable_x64")):
            traced: list[_Traced] = []
            for asked in (own for program, own in points.items() if program.x64 is x64):
                try:
                    traced.append(_Traced(asked))
                except Exception as error:
                    results |= dict.fromkeys(asked, error)
            for group in _grouped(traced):
                began = time.perf_counter()
                results |= _run(group)
                _share(time.perf_counter() - began, group)
    return [results[request] for request in requests]


class _Traced:
    """A program as equations, and the requests for it."""

    def __init__(self, asked: list[ProgramCall]):
        self.asked = asked
        began = time.perf_counter()
        self._trace = asked[0].program.trace(*asked[0].args)
        self.size = equations_of(self._trace.jaxpr.jaxpr)
        self.share(time.perf_counter() - began)

    def share(self, seconds: float) -> None:
        """Counts `seconds` in those of the requests, to equal parts."""
        for request in self.asked:
            request.seconds += seconds / len(self.asked)

    def __call__(self, args: Any) -> Any:
        outputs = jaxpr_as_fun(self._trace.jaxpr)(*jax.tree.leaves(args))
        return jax.tree.unflatten(self._trace.out, outputs)


def equations_of(jaxpr: Any) -> int:
    """How many there are, those of inner calls counted wherever they are called."""
    inner = (sub for eqn in jaxpr.eqns for sub in jaxprs_in_params(eqn.params))
    return len(jaxpr.eqns) + sum(map(equations_of, inner))


def _grouped(programs: Sequence[_Traced]) -> Iterator[list[_Traced]]:
    """The programs in order, as many together as are not too large."""
    group: list[_Traced] = []
    for program in programs:
        if group and sum(p.size for p in group) + program.size > LARGEST:
            yield group
            group = []
        group.append(program)
    if group:
        yield group


def _share(seconds: float, programs: Sequence[_Traced]) -> None:
    """Counts the time of what was compiled together in that of each program."""
    equations = sum(1 + program.size for program in programs)
    for program in programs:
        program.share(seconds * (1 + program.size) / equations)


def _run(programs: list[_Traced]) -> dict[ProgramCall, Any]:
    """Of programs that fail together, halves: the error belongs to one of them."""
    try:
        return _merged(programs)
    except Exception as error:
        if len(programs) == 1:
            return dict.fromkeys(programs[0].asked, error)
    middle = len(programs) // 2
    return _run(programs[:middle]) | _run(programs[middle:])


def _merged(programs: list[_Traced]) -> dict[ProgramCall, Any]:
    results: dict[ProgramCall, Any] = {}
    step = compiled(lambda every: [p(args) for p, args in zip(programs, every, strict=True)])
    for k in range(max(len(p.asked) for p in programs)):
        now = [p.asked[k] if k < len(p.asked) else p.asked[0] for p in programs]
        results |= zip(now, step([_uncommitted(request.args) for request in now]), strict=True)
    return results


def _uncommitted(args: Any) -> Any:
    """As NumPy arrays: a mixture of arrays on a device and others is another program for JAX."""
    plain = lambda x: isinstance(x, jax.Array) and not jnp.issubdtype(x.dtype, jax.dtypes.extended)
    return jax.tree.map(lambda x: np.asarray(x) if plain(x) else x, args)


# The programs are small and run once: on CPUs nearly all of a check is XLA compiling it. These
# make that several times cheaper. Eager operators keep the pipeline that users get, unless XLA's
# flags say otherwise.
CHEAPER: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}


def cheaper_flags() -> str:
    """The same for all of a process, as XLA's flags; none for a JAX that does not know them all.

    XLA ends the process at a flag that it does not know.
    """
    if jax.__version_info__ >= (0, 11):
        return ""
    return " ".join(f"--{name}={str(value).lower()}" for name, value in CHEAPER.items())


def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as one program, compiled quickly rather than well."""
    return jax.jit(f, compiler_options=_options(jax.default_backend()))


@ft.cache
def _options(platform: str) -> dict[str, Any] | None:
    """Those of the options that this XLA knows: their names are not part of JAX's interface."""
    return {k: v for k, v in CHEAPER.items() if _known(k, v)} if platform == "cpu" else None


def _known(name: str, value: Any) -> bool:
    try:
        jax.jit(lambda: 0, compiler_options={name: value}).lower().compile()
    except Exception:
        return False
    return True


KEPT = 400  # compiled programs, each of some 2 MB


def let_go() -> None:
    """Frees compiled programs, of which few are met again, and garbage, once there are many."""
    if len(get_backend().live_executables()) > KEPT:
        jax.clear_caches()
        gc.collect()

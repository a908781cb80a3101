"""Checks ask for programs; many are compiled as one, since dispatching each would cost more.

A check is a function that returns nothing, or a generator: it yields requests, each a program and
its arguments, receives their results, and judges them. The programs of all samples and all checks
of an entry become a few modules; a program that is asked for several times, with other arguments of
the same shapes, is compiled once.
"""

from __future__ import annotations

import dataclasses
import functools as ft
import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A function of arrays to be compiled; calling it makes a request."""

    f: Callable[..., Any]
    x64: bool = True

    def __call__(self, *args: Any) -> Request:
        return Request(self, args)


@dataclasses.dataclass(frozen=True, eq=False)
class Request:
    """A program and what to call it with."""

    program: Program
    args: tuple[Any, ...]


# Yields requests and receives their results; returns False if there was nothing to check.
Steps: TypeAlias = Generator[Sequence[Request], list[Any], bool | None]

LARGEST = 100  # programs compiled as one: beyond, XLA gains nothing and a failure costs more


def run_requests(requests: Sequence[Request]) -> list[Any]:
    """The result of each request, or the exception that its program raised."""
    points: dict[Program, list[Request]] = {}
    for request in requests:
        points.setdefault(request.program, []).append(request)
    results: dict[Request, Any] = {}
    for x64 in (True, False):
        asked = [own for program, own in points.items() if program.x64 is x64]
        for i in range(0, len(asked), LARGEST):
            results |= _run(asked[i : i + LARGEST])
    return [results[request] for request in requests]


def _run(asked: list[list[Request]]) -> dict[Request, Any]:
    """Of programs that fail together, halves: the error belongs to one of them."""
    try:
        return _merged(asked)
    except Exception as error:
        if len(asked) == 1:
            return dict.fromkeys(asked[0], error)
    middle = len(asked) // 2
    return _run(asked[:middle]) | _run(asked[middle:])


def _merged(asked: list[list[Request]]) -> dict[Request, Any]:
    programs = [own[0].program for own in asked]
    results: dict[Request, Any] = {}
    with jax.enable_x64(programs[0].x64 and jax.config.read("jax_enable_x64")):
        step = compiled(lambda every: [p.f(*args) for p, args in zip(programs, every, strict=True)])
        for k in range(max(map(len, asked))):
            now = [own[k] if k < len(own) else own[0] for own in asked]
            results |= zip(now, step([_uncommitted(request.args) for request in now]), strict=True)
    return results


def _uncommitted(args: Any) -> Any:
    """As NumPy arrays: a mixture of arrays on a device and others is another program for JAX."""
    plain = lambda x: isinstance(x, jax.Array) and not jnp.issubdtype(x.dtype, jax.dtypes.extended)
    return jax.tree.map(lambda x: np.asarray(x) if plain(x) else x, args)


# The programs are small and run once: on CPUs nearly all of a check is XLA compiling it. These
# make that several times cheaper. Eager operators keep the pipeline that users get.
_CHEAPER: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}


def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as one program, compiled quickly rather than well."""
    return jax.jit(f, compiler_options=_options(jax.default_backend()))


@ft.cache
def _options(platform: str) -> dict[str, Any] | None:
    """Those of the options that this XLA knows: their names are not part of JAX's interface."""
    return {k: v for k, v in _CHEAPER.items() if _known(k, v)} if platform == "cpu" else None


def _known(name: str, value: Any) -> bool:
    try:
        jax.jit(lambda: 0, compiler_options={name: value}).lower().compile()
    except Exception:
        return False
    return True


_ENDED = itertools.count(1)


def let_go(every: int) -> None:
    """Frees compiled programs now and then: each takes 2 MB, and few are met again."""
    if next(_ENDED) % every == 0:
        jax.clear_caches()

"""`detect_anomaly`: a function that says where the first value that is not a number came from."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable
from typing import Any, NoReturn, overload, TYPE_CHECKING

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import describe, fail, require_bool
from functx._core.context.user_contexts import showing_singular
from functx._core.randomness.ambient_generator import drawing, recording
from functx._transforms.arguments import require_callable
from functx._transforms.concretization import tracing
from functx._transforms.generics import P, Y
from functx._transforms.programs.partition import partition
from functx._transforms.programs.recording import record

from .exception_notes import noting
from .judging import first_bad, FOUND
from .lanes import watching
from .raising import raise_found
from .report import MAPS, Table
from .sites import Options, scope_of
from .static_parts import StaticArguments, StaticOutput
from .watching import Watch


__all__ = ["detect_anomaly"]


@overload
def detect_anomaly(
    func: Callable[P, Y], *, check_nan: bool = True, check_inf: bool = False
) -> Callable[P, Y]: ...
@overload
def detect_anomaly(*, check_nan: bool = True, check_inf: bool = False) -> Decorator: ...
def detect_anomaly(
    func: Callable[..., Any] | None = None, *, check_nan: bool = True, check_inf: bool = False
) -> Any:
    """`func`, which raises `AnomalyError` where an operator makes a NaN out of numbers.

    - `func`: any nest of transforms, such as `functx.vmap(functx.grad(loss))`, of any arguments.
      Put `detect_anomaly` outside. Without `func` it is a decorator with the options given.
    - `check_nan`: whether NaN is an anomaly.
    - `check_inf`: whether an infinity is an anomaly. A `detect_anomaly` inside of `func` decides
      for what it is given.

    The result is that of `func`, in shapes, dtypes and values.

    Errors:

    - `AnomalyError`: names the first operator whose result, tangent or cotangent holds an anomaly
      while nothing that came in did, with the line that called it, the transforms around it, the
      lane and the step of the loop. An argument or a constant that was bad before is reported if
      the result is bad, too.
    - RuntimeError: while a program is being recorded around it, in which nothing can be raised,
      except by `functx.debug.checked` outside.
    - An exception that a derivative's rule raises gets a note with the line of the forward pass.

    `func` is recorded and compiled with its checks, so it may ask for no array's value. Loops,
    branches, checkpoints and compiled functions are looked into. An operator is looked at as a
    whole, and so are functions with own rules and JAX's own, such as `jnp.var`: an infinity inside
    of them is no anomaly.

    >>> loss = lambda x: functx.sum(functx.sqrt(x) * 0)
    >>> functx.debug.detect_anomaly(functx.grad(loss))(jnp.zeros(2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    functx.debug.AnomalyError: detect_anomaly: sqrt returned nan values in output 0, in the
    backward pass
      line: ...
    """
    require_bool("detect_anomaly", "check_nan", check_nan)
    require_bool("detect_anomaly", "check_inf", check_inf)
    options = Options(check_nan, check_inf)
    if func is None:
        return Decorator(options)
    if isinstance(func, bool):
        fail(
            "detect_anomaly",
            f"`func` must be callable, got {func}",
            hint="check_nan is given by name",
            error=TypeError,
        )
    require_callable("detect_anomaly", func)
    return _detecting(func, options)


class Decorator:
    """What `detect_anomaly` returns without a function. It is no region, unlike PyTorch's."""

    def __init__(self, options: Options):
        self._options = options

    def __call__(self, func: Callable[P, Y]) -> Callable[P, Y]:
        """`func`, watched for anomalies."""
        return detect_anomaly(func, **self._options._asdict())

    if not TYPE_CHECKING:  # for type checkers it is no context, which they report

        def __enter__(self) -> NoReturn:
            fail(
                "detect_anomaly",
                "it is a transform of a function and no context",
                hint="functx.debug.detect_anomaly(functx.grad(loss))(x); what was compiled before "
                "a region has no checks in it",
                error=TypeError,
            )

        def __exit__(self, *_: object) -> None:
            """Python asks for it before it enters."""


def _detecting(func: Callable[..., Any], options: Options) -> Callable[..., Any]:
    program = jax.jit(ft.partial(_watched, recording(func), options), static_argnums=0)

    @ft.wraps(func)
    def detecting(*args: Any, **kwargs: Any) -> Any:
        if watching.value is not None:
            with scope_of(options), showing_singular(options.check_nan):
                return func(*args, **kwargs)
        given = partition((args, kwargs))
        result = noting(drawing, ft.partial(program, StaticArguments(given)), given.arrays)
        raise_found(result.record, result.table)
        return result.output.of(result.arrays)

    return detecting


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _WatchedResult:
    """What a program that was watched returns."""

    arrays: list[Array]
    record: Array  # `report.FIELDS`, and the steps of loops
    table: Table = dataclasses.field(metadata={"static": True})
    output: StaticOutput = dataclasses.field(metadata={"static": True})


def _watched(
    func: Callable[..., Any],
    options: Options,
    rest: StaticArguments,
    draw: Any,
    arrays: list[Array],
) -> tuple[_WatchedResult, Any]:
    """Runs `func`, traced, with a watch on it; the second result is what it drew."""

    def over_arrays(draw: Any, *arrays: Array) -> Any:
        args, kwargs = rest.whole(arrays)
        return tracing("detect_anomaly", func, draw, *args, **kwargs)

    with watching(options), showing_singular(options.check_nan):
        recorded = record(over_arrays, draw, *arrays)
    watch = Watch(recorded, options)
    results, found = watch.run([*jax.tree.leaves(draw), *arrays])
    closed = (f"a value that `func` closes over, {describe(x)}," for x in recorded.consts)
    table = Table(tuple(watch.sites), (*rest.paths(), *closed), options)
    extra = [first_bad((*arrays, *recorded.consts), options), first_bad(results, options)]
    lanes = [jnp.int32(-1)] * MAPS
    numbers = jnp.concatenate(
        [found[: len(FOUND)], jnp.stack([*extra, *lanes]), found[len(FOUND) :]]
    )
    _, drawn = recorded.output(results)
    return _WatchedResult(results, numbers, table, StaticOutput(recorded.outputs)), drawn

"""`budget`: a function that is refused before it runs where it needs too much memory."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import jax

from functx._aot.graphs.signature import is_spec, spec_of
from functx._core import describe, fail
from functx._core.randomness.ambient_generator import recording, upcoming_draw
from functx._transforms.arguments import require_bools, require_callable
from functx._transforms.generics import P, Y
from functx._transforms.programs.partition import is_array, partition

from .analysis import measured, recorded
from .devices import allocated_besides
from .errors import OverBudget, refuse_memory
from .report import MemoryReport
from .suggestions import hint_for


__all__ = ["budget"]

_WHO = "memory.budget"


@overload
def budget(func: Callable[P, Y], bytes: int, *, live: bool = False) -> Callable[P, Y]: ...
@overload
def budget(
    func: None = None, *, bytes: int, live: bool = False
) -> Callable[[Callable[P, Y]], Callable[P, Y]]: ...
def budget(
    func: Callable[..., Any] | None = None, bytes: int | None = None, *, live: bool = False
) -> Any:
    """`func`, refused before it runs if it needs more than `bytes` of memory at once.

    - `func`: a function of trees of arrays that can be recorded, as for `functx.memory.analyze`.
      Without it, `budget` is a decorator with the options given.
    - `bytes`: the most that may be alive at once, arguments and results included: an int.
    - `live`: whether arrays count that are alive on JAX's default device already, besides the
      arguments.

    What a call needs is what `functx.memory.analyze` says. It is looked at once for each
    combination of shapes, dtypes and other leaves, Python's numbers too; under `jax.jit`, while it
    is traced. Under `vmap` it is what one lane needs: put the budget around the map.

    Errors: `functx.memory.OverBudget`, which is a MemoryError, names the largest buffers, and says
    which `functx.checkpoint` around the function that `functx.grad` or `functx.vjp` differentiates
    would do, if one does. TypeError and ValueError for options of a wrong kind; those of `func`.

    >>> def loss(x):
    ...     for _ in range(4):
    ...         x = functx.tanh(functx.matmul(x, x))
    ...     return functx.sum(x)
    >>> small, large = jnp.ones((8, 8), "float32"), jnp.ones((80, 80), "float32")
    >>> limited = functx.memory.budget(functx.grad(loss), 100_000)
    >>> limited(small).shape
    (8, 8)
    >>> try:
    ...     limited(large)
    ... except functx.memory.OverBudget as error:
    ...     error.report.peak_bytes
    256000
    """
    if func is None:
        decorator: Any = budget
        return ft.partial(decorator, bytes=bytes, live=live)
    require_callable(_WHO, func)
    require_bools(_WHO, live=live)
    if isinstance(bytes, bool) or not isinstance(bytes, int):
        message = f"`bytes` must be an int, got {describe(bytes)}"
        fail(_WHO, message, hint="2 * 2**30 are two gibibytes", error=TypeError)
    if bytes < 0:
        fail(_WHO, f"`bytes` must not be negative, got {bytes}", error=ValueError)
    reports = _Reports(func)

    @ft.wraps(func)
    def within(*args: Any, **kwargs: Any) -> Any:
        report = reports.of(args, kwargs)
        others = allocated_besides((args, kwargs)) if live else 0
        if report.peak_bytes + others > bytes:
            _refuse(func, args, kwargs, bytes, others, report)
        return func(*args, **kwargs)

    return within


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True, eq=False)
class _Static:
    """A report that tracing returns, and JAX keeps with the program that it records."""

    report: MemoryReport


class _Leaves:
    """The leaves of a call that are no arrays, by which its analyses are told apart."""

    def __init__(self, call: Any) -> None:
        self.call = call._replace(arrays=[])
        self._key = (call.structure, *((type(x), x) for x in call.rest))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Leaves) and self._key == other._key


class _Reports:
    """The reports of a function's calls, each made once.

    JAX keeps them with what it traces: by shapes and dtypes, and by all the state that tracing
    reads.
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        self._func = func
        self._probes: dict[_Leaves, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._func,)  # programs are not pickled

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> MemoryReport:
        """The report of a call."""
        call = partition((tuple(args), dict(kwargs)), lambda x: is_array(x) or is_spec(x))
        leaves = _Leaves(call)
        try:
            probe = self._probes.get(leaves)
        except TypeError:  # a leaf without a hash, which cannot be told apart from others
            return measured(recorded(_WHO, self._func, args, kwargs))
        if probe is None:
            if len(self._probes) >= _MOST:
                self._probes.clear()
            probe = self._probes[leaves] = self._probe(leaves)
        return probe.eval_shape(upcoming_draw(), *map(spec_of, call.arrays))[0].report

    def _probe(self, leaves: _Leaves) -> Any:
        """A compiled function of a call's arrays that returns the report; it is traced, not run."""

        def body(*arrays: Any) -> _Static:
            args, kwargs = leaves.call.whole(arrays)
            return _Static(measured(recorded(_WHO, self._func, args, kwargs)))

        return jax.jit(recording(body))


_MOST = 256  # combinations of leaves that are no arrays


def _refuse(
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    bytes: int,
    others: int,
    report: MemoryReport,
) -> None:
    message = f"`{report.name}` needs {report.peak_bytes:,} bytes at once"
    message += f" beside {others:,} that are alive already" if others else ""
    message += f", and `bytes` allows {bytes:,}"
    refuse_memory(OverBudget, _WHO, message, hint_for(func, args, kwargs, bytes - others), report)

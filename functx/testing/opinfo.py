"""`OpInfo`: what checks need of one operator: samples, a reference, refusals, known gaps."""

from __future__ import annotations

import dataclasses
import functools as ft
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category, describe, Device, OpSpec, Refused
from functx._core.operators.tracing import trace_operator

from .make import Make
from .tail import Tail


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """One call: positional and keyword arguments, and calls like it with other values.

    `call`, `edge` and `held` make samples; the checks fill in `lanes`, `drawn` and `derived`.
    """

    args: tuple[Any, ...]  #: what is given by position
    kwargs: Mapping[str, Any]  #: what is given by name
    lanes: tuple[Sample, ...] = ()  #: the same call under other seeds: the lanes of a batch
    values_only: bool = False  #: derivatives are not looked at: infinite, or not there
    held: bool = False  #: the derivative is not that of the values: differences are not asked
    drawn: str = ""  #: the dtype that `OpInfo.draw` drew it in
    derived: bool = False  #: from another sample of its entry: only values are looked at
    exact: bool = False  #: nothing may be flushed to zero

    def __repr__(self) -> str:
        named = [f"{k}={describe(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join([*map(describe, self.args), *named])})"

    def arrays(self) -> list[jax.Array]:
        """The arrays of this call, in order."""
        leaves = jax.tree.leaves((self.args, dict(self.kwargs)))
        return [x for x in leaves if isinstance(x, jax.Array)]

    @property
    def dtype(self) -> str:
        """That of the first floating or complex array; of the first one, if none is; or bool."""
        names = [x.dtype for x in self.arrays()]
        inexact = [name for name in names if category(name) >= 2]
        return [*inexact, *names, np.dtype(bool)][0].name

    def with_arrays(self, arrays: Sequence[Any]) -> Sample:
        """This call with others in the places of its arrays, in order; without lanes."""
        leaves, tree = jax.tree.flatten((self.args, dict(self.kwargs)))
        where = [i for i, x in enumerate(leaves) if isinstance(x, jax.Array)]
        for i, x in zip(where, arrays, strict=True):
            leaves[i] = x
        args, kwargs = tree.unflatten(leaves)
        return dataclasses.replace(self, args=args, kwargs=kwargs, lanes=())

    def over_arrays(self, op: Callable[..., Any]) -> Callable[..., Any]:
        """`op` as a function of this call's arrays alone."""

        def f(*arrays: jax.Array) -> Any:
            sample = self.with_arrays(arrays)
            return op(*sample.args, **sample.kwargs)

        return f


def call(*args: Any, **kwargs: Any) -> Sample:
    """The sample `op(*args, **kwargs)`, whose values and derivatives are checked."""
    return Sample(args, kwargs)


def edge(*args: Any, **kwargs: Any) -> Sample:
    """The sample `op(*args, **kwargs)` at edges of the domain: its values count, no derivative.

    PyTorch decides one by one what derivatives are there, and so they are conventions.
    """
    return Sample(args, kwargs, values_only=True)


def held(*args: Any, **kwargs: Any) -> Sample:
    """The sample `op(*args, **kwargs)` where PyTorch's derivative is not that of the values.

    An example is a bound that hands on the slope of what it bounds. Differences are not asked of
    such a sample, and conventions say what the slope is.
    """
    return Sample(args, kwargs, held=True)


@dataclasses.dataclass(frozen=True)
class Floor:
    """What results that cancel may be off by, besides ulps of each element, and why.

    The floor is `ulps` of the largest magnitude in the result and the floating arguments. Where
    `elementwise`, a reference allows those of the magnitudes at the element, or of what `of` says
    of the call's arguments, in NumPy.
    """

    ulps: float  #: how many, of the largest magnitude or of that at the element
    reason: str  #: why results cancel: a fact
    elementwise: bool = False  #: of the magnitudes at the element, not of the largest
    of: Callable[..., Any] | None = None  #: the magnitudes there, in NumPy
    scale: float | None = None  #: what counts in place of the arguments' largest magnitude


@dataclasses.dataclass(frozen=True)
class Looser:
    """How far an element may be off on other platforms than the CPU, and why it is more there."""

    ulps: float  #: of the element, in place of the entry's own where that is less
    reason: str  #: what these platforms compute otherwise: a fact
    devices: frozenset[str] = frozenset({"gpu"})  #: platforms: `"gpu"`, `"tpu"`
    dtypes: frozenset[str] = frozenset()  #: in which it holds; empty: all of them


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A call that must raise `error` with a message matching the regular expression `match`."""

    sample: Sample  #: the call
    match: str  #: a regular expression found in the message
    error: type[Exception] = RuntimeError  #: the exception's class


@dataclasses.dataclass(frozen=True)
class Gap:
    """A check this operator is known to fail, and why. Fails the day it passes."""

    check: str  #: its name in `functx.testing.CHECKS`
    reason: str  #: a fact of mathematics or of a platform
    dtypes: frozenset[str] = frozenset()  #: in which it fails; empty: all of them
    devices: frozenset[str] = frozenset()  #: platforms on which it fails; empty: all of them


@dataclasses.dataclass(frozen=True)
class FixedSizes:
    """Sizes with which, as symbols, no program can be exported, and why. Fails the day one is."""

    argument: str  #: the array, or the option, by name
    reason: str  #: why they must be numbers: a fact
    dims: tuple[int, ...] = ()  #: dimensions of the array, or places in the option; empty: all
    along: str = ""  #: the option that names dimensions of the array, in place of `dims`
    unless: str = ""  #: with `along`, the option that says other sizes for them, and -1 for none
    #: options, by name, with which alone they must be; empty: with any
    given: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Extreme:
    """Extreme arguments at which float32 cannot give what float64 does. Fails the day it does.

    `at` is a regular expression found in what the check of such arguments calls them:
    `"huge in array 0"`.
    """

    at: str  #: a regular expression, found in the name of the arguments
    reason: str  #: why float32 cannot: a fact


# By default, how far an element may be off: pointwise functions of XLA and of NumPy err that much.
# Halves are computed in single precision and rounded.
ULPS = 8.0
ULPS_OF_HALVES = 2.0


@dataclasses.dataclass(frozen=True)
class OwnDtypes:
    """Result dtypes that are not PyTorch's, or where PyTorch has none, and why.

    `answer` and `cases`, a regular expression, are written as in `functx.testing.dtype_facts`:
    `*` is the dtype that a sample was drawn in, `^` that of the arrays promoted, `\\1` the first
    group of `cases`, `-` a refusal.
    """

    answer: str  #: the result's dtype: `"f32"`, or one of the signs above
    reason: str  #: why it is not PyTorch's: a fact
    cases: str = ""  #: a regular expression, found in the cases in which it holds; empty: in all
    dtypes: frozenset[str] = frozenset()  #: that samples are drawn in; empty: all of them
    defaults: frozenset[str] = frozenset()  #: the default dtypes in force; empty: all of them


@dataclasses.dataclass(frozen=True, eq=False)
class Convention:
    """What an operator gives at kinks, ties, zeros and NaN, in double precision.

    `value` is its result; `gradient` and `hessian` are the derivatives of the result's sum, or of
    the sum of `through(result)`. A tuple holds one item for each output, or for each floating
    array of the sample, None where nothing is said; anything else is the only one. The rows of
    `hessian` and its columns run through the elements of all floating arrays.
    """

    what: str  #: a name for the place: `"ties share"`
    sample: Sample  #: the call
    value: Any = None  #: the result
    gradient: Any = None  #: the gradient of the result's sum, in each of `modes`
    hessian: Any = None  #: the second derivative of the sum, in all nests of two modes
    through: Callable[[Any], Any] | None = None  #: what of the result is summed, made real
    holds: Callable[[Any], Any] | None = None  #: what is true of the result
    #: whether the second derivative is infinite, and 0 stands for it in all nests: `hessian` need
    #: not be given, and `functx.detect_anomaly` sees it
    singular: bool = False
    smooth: bool = False  #: whether the derivatives of `order` are finite, and alike in all modes
    refused: str = ""  #: what the error of differentiating says: a regular expression
    #: a formula whose value and derivatives, up to `order`, are the operator's
    like: Callable[..., Any] | None = None
    order: int = 2  #: of the derivatives that `smooth` and `like` look at
    modes: tuple[str, ...] = ("forward", "reverse")  #: in which the gradient is looked at
    ulps: float = 8  #: how far an element may be off that is not 0, infinite or NaN
    floor: float = 0  #: and by how much besides, where terms cancel
    departure: str = ""  #: why PyTorch has it otherwise, if it does: a fact


@dataclasses.dataclass(frozen=True, eq=False)
class Departure:
    """Calls that functx answers otherwise than PyTorch, and why. Fails the day it passes.

    `kind` is what the fuzzer beside PyTorch calls the difference: accepted, refused, structure,
    shape, dtype, value, gradient. `match` is a regular expression found in its line about such a
    call, `sample` is one of them.
    """

    kind: str  #: what the fuzzer calls the difference
    sample: Sample  #: one such call
    reason: str  #: why functx answers otherwise: a fact
    match: str = ""  #: a regular expression, found in the fuzzer's line about such a call


Samples = Callable[[Make], Iterator[Sample]]


def no_conventions(make: Make) -> Iterator[Convention]:
    return iter(())


def _no_departures(make: Make) -> Iterator[Departure]:
    return iter(())


def _no_refusals(make: Make) -> Iterator[Refusal]:
    return iter(())


@dataclasses.dataclass(frozen=True, eq=False)
class OpInfo:
    """What the database knows of an operator beyond what the operator says itself."""

    op: Callable[..., Any]  #: the function: of functx, or yours
    #: a generator function of `make`: `call(*args, **kwargs)`s, `edge(...)`s where only values
    #: count, no derivatives, `held(...)`s where the derivative is not that of the values
    samples: Samples
    #: the same in NumPy: arrays in, arrays out, the same signature
    reference: Callable[..., Any] | None = None
    #: one that yields `Refusal`s: calls that must raise
    refusals: Callable[[Make], Iterator[Refusal]] = _no_refusals
    #: one that yields `Convention`s: what is given at kinks, ties, zeros and NaN
    conventions: Callable[[Make], Iterator[Convention]] = no_conventions
    variant: str = ""  #: a name for a further entry of the same function
    #: how far an element may be off, in units of its last place, where 8 (2 in halves) is too loose
    #: or, with the reason beside it, too tight: in every dtype, or by dtype
    ulps: float | Mapping[str, float] | None = None
    looser: tuple[Looser, ...] = ()  #: how far it may be off on a GPU, if that is more
    floor: Floor | None = None  #: what results that cancel may be off besides
    #: whether the reference has the zeros' signs; not looked at where there is a floor for all
    signed_zeros: bool = True
    gaps: tuple[Gap, ...] = ()  #: checks known to fail; one that passes fails
    fixed_sizes: tuple[FixedSizes, ...] = ()  #: sizes that cannot be symbols of `jax.export`
    extremes: tuple[Extreme, ...] = ()  #: extreme arguments that float32 is not held to
    #: what of the output is determined: drops signs, phases and orders (svd, eigh, qr)
    gauge: Callable[[Any], Any] | None = None
    #: the directions in which derivatives are held against differences, as a function of any, and
    #: of where: Hermitian ones, where one triangle is read and the gradient is spread over both
    directions: Callable[[Any, Any], Any] | None = None
    #: options that devices of some platforms alone take, by name, or none; refusals show it on the
    #: others
    only_on: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    #: of random operators: the mean and standard deviation of each element, from the same arguments
    moments: Callable[..., tuple[Any, Any]] | None = None
    #: of random operators, in NumPy: a function of a `numpy.random.Generator`, of how many draws
    #: and of the same arguments, that gives the draws along a new first dimension
    sampler: Callable[..., Any] | None = None
    #: whether positions may differ where values tie: PyTorch promises no order of equal elements
    ties_in_any_order: bool = False
    own_dtypes: tuple[OwnDtypes, ...] = ()  #: of functx's operators: dtypes other than PyTorch's
    tails: tuple[Tail, ...] = ()  #: functions of one number that are right far out, relatively
    #: one that yields `Departure`s: calls that functx answers otherwise than PyTorch
    departures: Callable[[Make], Iterator[Departure]] = _no_departures
    #: fewer dtypes than the function accepts; of yours, in place of float32 and float64
    dtypes: tuple[str, ...] | None = None

    @property
    def spec(self) -> OpSpec | None:
        """The operator's declaration; a function of your own has none."""
        return getattr(self.op, "spec", None)

    @property
    def name(self) -> str:
        return self.spec.name if self.spec else getattr(self.op, "__name__", repr(self.op))

    @property
    def id(self) -> str:
        return self.name + (f"-{self.variant}" if self.variant else "")

    @property
    def accepted(self) -> tuple[str, ...]:
        """The dtypes that this entry is checked in."""
        if self.dtypes is not None:
            return self.dtypes
        return self.spec.accepts.value if self.spec else ("float32", "float64")

    def takes_here(self, option: str) -> bool:
        """Whether the default device takes an option."""
        return option not in self.only_on or jax.default_backend() in self.only_on[option]

    @property
    def finite_only(self) -> bool:
        """Whether nobody says what becomes of values that are not finite: LAPACK does not."""
        return self.spec is not None and self.spec.accepts.name.startswith("LAPACK")

    @property
    def differentiable(self) -> bool:
        return self.spec is None or self.spec.differentiable

    @ft.cached_property
    def random(self) -> bool:
        """Whether the calls of this entry consume a key: all of them, or none."""
        if self.spec is None or self.spec.draws is None:
            return self.spec is not None and self.spec.random
        first = next(self.samples(self.make(self.accepted[0])))
        return self.spec.draws_key(*first.args, **first.kwargs)

    def refuses(self, error: Exception) -> bool:
        """Whether an error is the operator's refusal, in its own words, and no fault of it.

        A function of your own may refuse in any words.
        """
        unnamed = isinstance(error, Refused)  # of a rule that was called by itself
        return self.spec is None or unnamed or str(error).startswith(f"{self.name}: ")

    def draws(self, sample: Sample) -> bool:
        """Whether this call consumes a key: of a random entry, that of an odd sample need not."""
        assert self.spec is not None
        return self.random and self.spec.draws_key(*sample.args, **sample.kwargs)

    def with_key(self, key: jax.Array) -> Callable[..., Any]:
        """The operator, drawing from this key."""
        assert self.spec is not None
        return ft.partial(self.op, **{self.spec.key_parameter: key})

    def determined(self, output: Any) -> Any:
        """What the gauge leaves of an output."""
        return output if self.gauge is None else self.gauge(output)

    def unmeasured(self, sample: Sample) -> list[str]:
        """The sizes that depend on values and that this sample leaves out."""
        if self.spec is None or not self.spec.measured:
            return []
        given = self.spec.arguments(sample.args, sample.kwargs)
        default = {n: self.spec.signature.parameters[n].default for n in self.spec.measured}
        return [name for name in default if given.get(name, default[name]) == default[name]]

    def measures(self, names: Sequence[str], sample: Sample) -> dict[str, jax.Array]:
        """Sizes that the sample's values decide."""
        assert self.spec is not None
        given = self.spec.arguments(sample.args, sample.kwargs)
        return {
            name: trace_operator(self.spec, rule=self.spec.measured[name], **given)
            for name in names
        }

    def gap(self, check: str, dtype: str, platform: str = "cpu") -> Gap | None:
        """The declared reason why a check must fail here, if there is one."""
        for gap in self.gaps:
            here = not gap.dtypes or dtype in gap.dtypes
            if gap.check == check and here and (not gap.devices or platform in gap.devices):
                return gap
        return None

    def make(self, dtype: str, seed: int = 0, device: Device | None = None) -> Make:
        """What the sample generators draw their arrays from."""
        entropy = zlib.crc32(f"{self.id}:{dtype}".encode())
        rng = np.random.default_rng([entropy, seed])
        return Make(np.dtype(jnp.dtype(dtype)), rng, device)

    def draw(self, dtype: str, *, lanes: int = 3, device: Device | None = None) -> Iterator[Sample]:
        """The samples in `dtype`, each with `lanes` calls of the same shape to batch."""
        seeds = [self.samples(self.make(dtype, seed, device)) for seed in range(lanes)]
        for twins in zip(*seeds, strict=True):
            yield dataclasses.replace(twins[0], lanes=twins, drawn=dtype)

"""`OpInfo`: what checks need of one operator: samples, a reference, refusals, known differences."""

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

from .differences import Extreme, FixedSizes, Floor, Gap, Looser, OwnDtypes
from .make import Make
from .tail import Tail


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """One call: positional and keyword arguments, and calls like it with other values.

    - `args`, `kwargs`: what is given by position and by name.
    - `lanes`: the same call under other seeds, the lanes of a batch; the checks fill them in.
    - `values_only`: whether derivatives are not looked at: they are infinite, or not there.
    - `held`: whether the derivative is not that of the values, so that differences are not asked.
    - `drawn`: the dtype that `OpInfo.draw` drew the sample in; the checks fill it in.
    - `derived`: whether the sample was made from another one, so that only values are looked at.
    - `exact`: whether nothing may be flushed to zero.

    `call`, `edge` and `held` make samples.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    lanes: tuple[Sample, ...] = ()
    values_only: bool = False
    held: bool = False
    drawn: str = ""
    derived: bool = False
    exact: bool = False

    def __repr__(self) -> str:
        named = [f"{k}={describe(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join([*map(describe, self.args), *named])})"

    def arrays(self) -> list[jax.Array]:
        """The arrays of this call, in order."""
        leaves = jax.tree.leaves((self.args, dict(self.kwargs)))
        return [x for x in leaves if isinstance(x, jax.Array)]

    @property
    def dtype(self) -> str:
        """The dtype of the first floating or complex array, else of the first array, else bool."""
        names = [x.dtype for x in self.arrays()]
        inexact = [name for name in names if category(name) >= 2]
        return [*inexact, *names, np.dtype(bool)][0].name

    def with_arrays(self, arrays: Sequence[Any]) -> Sample:
        """This call with other arrays in the places of its own, in order; without lanes."""
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
class Refusal:
    """A call that must raise an error with a certain message.

    - `sample`: the call.
    - `match`: a regular expression found in the message.
    - `error`: the exception's class.
    """

    sample: Sample
    match: str
    error: type[Exception] = RuntimeError


# By default, how far an element may be off: pointwise functions of XLA and of NumPy err that much.
# Halves are computed in single precision and rounded.
ULPS = 8.0
ULPS_OF_HALVES = 2.0


@dataclasses.dataclass(frozen=True, eq=False)
class Convention:
    """What an operator gives at kinks, ties, zeros and NaN, in double precision.

    - `what`: a name for the place: `"ties share"`.
    - `sample`: the call.
    - `value`: the result.
    - `gradient`, `hessian`: the first and second derivatives of the result's sum, or of the sum of
      `through(result)`, in each of `modes` and in all nests of two modes. The rows of `hessian` and
      its columns run through the elements of all floating arrays.
    - `through`: a function of the result that gives what of it is summed, made real.
    - `holds`: a function of the result that must be true.
    - `singular`: whether the second derivative is infinite, and 0 stands for it in all nests:
      `hessian` need not be given, and `functx.detect_anomaly` sees it.
    - `smooth`: whether the derivatives of `order` are finite, and alike in all modes.
    - `refused`: a regular expression found in the error that differentiating raises.
    - `like`: a formula whose value and derivatives, up to `order`, are the operator's.
    - `order`: the order of the derivatives that `smooth` and `like` look at.
    - `modes`: the modes in which the gradient is looked at.
    - `ulps`: how far an element may be off that is not 0, infinite or NaN, in units of its last
      place.
    - `floor`: how much more an element may be off, where terms cancel.
    - `departure`: why PyTorch has it otherwise, if it does: a fact.

    For `value` and the derivatives, a tuple holds one item for each output, or for each floating
    array of the sample, None where nothing is said; anything else is the only item.
    """

    what: str
    sample: Sample
    value: Any = None
    gradient: Any = None
    hessian: Any = None
    through: Callable[[Any], Any] | None = None
    holds: Callable[[Any], Any] | None = None
    singular: bool = False
    smooth: bool = False
    refused: str = ""
    like: Callable[..., Any] | None = None
    order: int = 2
    modes: tuple[str, ...] = ("forward", "reverse")
    ulps: float = 8
    floor: float = 0
    departure: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Departure:
    """Calls that functx answers otherwise than PyTorch, and why. Fails the day it passes.

    - `kind`: what the fuzzer beside PyTorch calls the difference: accepted, refused, structure,
      shape, dtype, value, gradient.
    - `sample`: one such call.
    - `reason`: why functx answers otherwise: a fact.
    - `match`: a regular expression found in the fuzzer's line about such a call.
    """

    kind: str
    sample: Sample
    reason: str
    match: str = ""


Samples = Callable[[Make], Iterator[Sample]]


def no_conventions(make: Make) -> Iterator[Convention]:
    return iter(())


def _no_departures(make: Make) -> Iterator[Departure]:
    return iter(())


def _no_refusals(make: Make) -> Iterator[Refusal]:
    return iter(())


@dataclasses.dataclass(frozen=True, eq=False)
class OpInfo:
    """What the database knows of an operator beyond what the operator says itself.

    - `op`: the function: of functx, or yours.
    - `samples`: a generator function of a `Make`: of `call(*args, **kwargs)`s, of `edge(...)`s
      where only values count, and of `held(...)`s where the derivative is not that of the values.
    - `reference`: the same function in NumPy: arrays in, arrays out, the same signature.
    - `refusals`: a generator function of a `Make`: of `Refusal`s, calls that must raise.
    - `conventions`: one of `Convention`s, results at kinks, ties, zeros and NaN.
    - `variant`: a name for a further entry of the same function.
    - `ulps`: how far an element may be off, in units of its last place, in every dtype or by dtype.
      None is 8, and 2 in halves.
    - `looser`: how far an element may be off on other platforms, if that is more.
    - `floor`: how much more results that cancel may be off.
    - `signed_zeros`: whether the reference has the zeros' signs, which a `floor` for all hides.
    - `gaps`: checks that are known to fail; one that passes fails.
    - `fixed_sizes`: sizes that cannot be symbols of `jax.export`.
    - `extremes`: extreme arguments that float32 is not held to.
    - `gauge`: a function of the output that gives the part of it that is determined, without signs,
      phases and orders (svd, eigh, qr).
    - `directions`: a function of any direction, and of where, that gives the directions in which
      derivatives are held against differences: Hermitian ones, where one triangle is read and the
      gradient is spread over both.
    - `only_on`: options by name, with the platforms whose devices alone take them; refusals show it
      on the others.
    - `moments`: for random operators, the mean and standard deviation of each element, from the
      same arguments.
    - `sampler`: for random operators, a function of a `numpy.random.Generator`, of how many draws
      and of the same arguments, which gives the draws along a new first dimension.
    - `ties_in_any_order`: whether positions may differ where values tie: PyTorch promises no order
      of equal elements.
    - `own_dtypes`: for functx's operators, result dtypes other than PyTorch's.
    - `tails`: functions of one number that are right far out, relatively.
    - `departures`: a generator function of a `Make`: of `Departure`s, calls that functx answers
      otherwise than PyTorch.
    - `dtypes`: fewer dtypes than the function accepts; for yours, in place of float32 and float64.
    """

    op: Callable[..., Any]
    samples: Samples
    reference: Callable[..., Any] | None = None
    refusals: Callable[[Make], Iterator[Refusal]] = _no_refusals
    conventions: Callable[[Make], Iterator[Convention]] = no_conventions
    variant: str = ""
    ulps: float | Mapping[str, float] | None = None
    looser: tuple[Looser, ...] = ()
    floor: Floor | None = None
    signed_zeros: bool = True
    gaps: tuple[Gap, ...] = ()
    fixed_sizes: tuple[FixedSizes, ...] = ()
    extremes: tuple[Extreme, ...] = ()
    gauge: Callable[[Any], Any] | None = None
    directions: Callable[[Any, Any], Any] | None = None
    only_on: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    moments: Callable[..., tuple[Any, Any]] | None = None
    sampler: Callable[..., Any] | None = None
    ties_in_any_order: bool = False
    own_dtypes: tuple[OwnDtypes, ...] = ()
    tails: tuple[Tail, ...] = ()
    departures: Callable[[Make], Iterator[Departure]] = _no_departures
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
        if self.spec is None or self.spec.needs_key is None:
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
        if self.spec is None or not self.spec.sizes_from_values:
            return []
        given = self.spec.arguments(sample.args, sample.kwargs)
        default = {
            n: self.spec.signature.parameters[n].default for n in self.spec.sizes_from_values
        }
        return [name for name in default if given.get(name, default[name]) == default[name]]

    def measures(self, names: Sequence[str], sample: Sample) -> dict[str, jax.Array]:
        """Sizes that the sample's values decide."""
        assert self.spec is not None
        given = self.spec.arguments(sample.args, sample.kwargs)
        return {
            name: trace_operator(self.spec, rule=self.spec.sizes_from_values[name], **given)
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

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

from functx._core import describe, Device, OpSpec, Refused
from functx._core.operators.tracing import trace_operator

from .differences import Departure, FixedSizes, Gap
from .dtypes import HALVES
from .make import Make
from .samples import NoSample, Refusal, Sample
from .tail import Tail
from .tolerances import Tolerance, ULPS, ULPS_OF_HALVES


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
      `hessian` need not be given, and `functx.debug.detect_anomaly` sees it.
    - `smooth`: whether the derivatives of `order` are finite, and alike in all modes.
    - `refused`: a regular expression found in the error that differentiating raises.
    - `like`: a formula whose value and derivatives, up to `order`, are the operator's.
    - `order`: the order of the derivatives that `smooth` and `like` look at.
    - `modes`: the modes in which the gradient is looked at.
    - `ulps`: how far an element may be off that is not 0, infinite or NaN, in units of its last
      place.
    - `floor`: how much more an element may be off, where terms cancel.
    - `departure`: why PyTorch has it otherwise, if it does: a fact. The convention is the call that
      shows this departure.

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


Samples = Callable[[Make], Iterator[Sample]]
Departures = Callable[[Make], Iterator[Departure]]


def no_conventions(make: Make) -> Iterator[Convention]:
    return iter(())


def _no_refusals(make: Make) -> Iterator[Refusal]:
    return iter(())


def _holds(stated: Gap | Tolerance, dtype: str, platform: str) -> bool:
    here = not stated.dtypes or dtype in stated.dtypes
    return here and (not stated.devices or platform in stated.devices)


# What the fields that say "not equal" hold.
_STATED: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("tolerances", 'Tolerance("reason", ulps=...)', lambda x: isinstance(x, Tolerance)),
    ("gaps", 'Gap("check", "reason")', lambda x: isinstance(x, Gap)),
    (
        "departures",
        "a Departure, or a function of a Make that gives such",
        lambda x: isinstance(x, Departure) or callable(x),
    ),
)
_FEW = 4  # dtypes that are named


@dataclasses.dataclass(frozen=True, eq=False)
class OpInfo:
    """What the database knows of an operator beyond what the operator says itself.

    What is called and what must come out:

    - `op`: the function: of functx, or yours.
    - `samples`: a generator function of a `Make`: of `call(*args, **kwargs)`s, of `edge(...)`s
      where only values count, and of `held(...)`s where the derivative is not that of the values.
    - `reference`: the same function in NumPy: arrays in, arrays out, the same signature.
    - `refusals`: a generator function of a `Make`: of `Refusal`s, calls that must raise.
    - `conventions`: one of `Convention`s, results at kinks, ties, zeros and NaN.
    - `tails`: functions of one number that are right far out, relatively.
    - `moments`: for random operators, the mean and standard deviation of each element, from the
      same arguments.
    - `sampler`: for random operators, a function of a `numpy.random.Generator`, of how many draws
      and of the same arguments, which gives the draws along a new first dimension.

    What may be otherwise, and why:

    - `tolerances`: how close results must be: within 8 ulps of each element, and 2 in halves, where
      none says otherwise.
    - `gaps`: checks that are known to fail; one that passes fails.
    - `departures`: where functx differs from PyTorch: `Departure`s, and generator functions of a
      `Make` that give such with calls.

    What of it is looked at:

    - `variant`: a name for a further entry of the same function.
    - `dtypes`: fewer dtypes than the function accepts; for yours, in place of float32 and float64.
    - `only_on`: options by name, with the platforms whose devices alone take them; refusals show it
      on the others.
    - `fixed_sizes`: sizes that cannot be symbols of `jax.export`.
    - `gauge`: a function of the output that gives the part of it that is determined, without signs,
      phases and orders (svd, eigh, qr).
    - `kinked`: whether the function has ties, kinks, zeros or singular points where JAX has no
      function of that meaning: `functx.testing.conventions` says that it keeps its derivatives.
    - `ties_in_any_order`: whether positions may differ where values tie: PyTorch promises no order
      of equal elements.
    - `directions`: a function of any direction, and of where, that gives the directions in which
      derivatives are held against differences: Hermitian ones, where one triangle is read and the
      gradient is spread over both.
    """

    op: Callable[..., Any]
    samples: Samples
    reference: Callable[..., Any] | None = None
    refusals: Callable[[Make], Iterator[Refusal]] = _no_refusals
    conventions: Callable[[Make], Iterator[Convention]] = no_conventions
    tails: tuple[Tail, ...] = ()
    moments: Callable[..., tuple[Any, Any]] | None = None
    sampler: Callable[..., Any] | None = None
    tolerances: tuple[Tolerance, ...] = ()
    gaps: tuple[Gap, ...] = ()
    departures: tuple[Departure | Departures, ...] = ()
    variant: str = ""
    dtypes: tuple[str, ...] | None = None
    only_on: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    fixed_sizes: tuple[FixedSizes, ...] = ()
    gauge: Callable[[Any], Any] | None = None
    kinked: bool = False
    ties_in_any_order: bool = False
    directions: Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        for name, what, holds in _STATED:
            given = getattr(self, name)
            if not isinstance(given, tuple):
                raise TypeError(f"{self.id}: `{name}` must be a tuple, got {describe(given)}")
            for i, one in enumerate(given):
                if not holds(one):
                    got = describe(one)
                    raise TypeError(f"{self.id}: `{name}[{i}]` must be {what}, got {got}")
        if sum(tolerance.floor is not None for tolerance in self.tolerances) > 1:
            raise ValueError(f"{self.id}: one of `tolerances` may have a `floor`, got several")

    def __repr__(self) -> str:
        dtypes = self.accepted
        few = ", ".join(dtypes) if len(dtypes) <= _FEW else f"{len(dtypes)} dtypes"
        counts = {name: len(getattr(self, name)) for name, *_ in _STATED}
        stated = [f"{n} {name[: -1 if n == 1 else None]}" for name, n in counts.items() if n]
        return f"OpInfo({'; '.join([self.id, few, *stated])})"

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

    @ft.cached_property
    def cancelling(self) -> Tolerance | None:
        """The tolerance of results that cancel: the one with a floor."""
        floors = (own for own in self.tolerances if own.floor is not None)
        return next(floors, None)

    @ft.cached_property
    def signed_zeros(self) -> bool:
        """Whether the reference has the zeros' signs."""
        return all(own.signed_zeros for own in self.tolerances)

    @property
    def expected_failures(self) -> tuple[Gap, ...]:
        """The gaps because of which cells fail; the others let points of a check pass."""
        return tuple(gap for gap in self.gaps if not gap.at)

    def gap(self, check: str, dtype: str, platform: str = "cpu") -> Gap | None:
        """The declared reason why a check must fail here, if there is one."""
        for gap in self.expected_failures:
            if gap.check == check and _holds(gap, dtype, platform):
                return gap
        return None

    def ulps(self, dtype: str, platform: str = "cpu") -> float:
        """How far an element may be off from the reference, in units of its last place.

        What holds on some platforms alone can be more than elsewhere, and not less.
        """
        stated = (own for own in self.tolerances if _holds(own, dtype, platform))
        here = [(own.ulps, own.devices) for own in stated if own.ulps is not None]
        default = ULPS_OF_HALVES if dtype in HALVES else ULPS
        everywhere = [ulps for ulps, devices in here if not devices] or [default]
        return max([*everywhere, *(ulps for ulps, _ in here)])

    def gaps_at(self, check: str, dtype: str, platform: str = "cpu") -> list[Gap]:
        """The gaps that let points of a check pass."""
        named = (gap for gap in self.gaps if gap.at and gap.check == check)
        return [gap for gap in named if _holds(gap, dtype, platform)]

    @property
    def dtype_departures(self) -> tuple[Departure, ...]:
        """The departures that say the dtypes of results."""
        return tuple(own for own in self.departures if isinstance(own, Departure) and own.answer)

    def call_departures(self) -> Iterator[Departure]:
        """The departures that calls show."""
        for own in self.departures:
            if not isinstance(own, Departure):
                yield from own(self.make(self.accepted[-1]))
            elif own.sample is not None:
                yield own

    def make(self, dtype: str, seed: int = 0, device: Device | None = None) -> Make:
        """What the sample generators draw their arrays from."""
        entropy = zlib.crc32(f"{self.id}:{dtype}".encode())
        rng = np.random.default_rng([entropy, seed])
        return Make(np.dtype(jnp.dtype(dtype)), rng, device)

    def draw(self, dtype: str, *, lanes: int = 3, device: Device | None = None) -> Iterator[Sample]:
        """The samples in `dtype`, each with `lanes` calls of the same shape to batch."""
        seeds = [self.samples(self.make(dtype, seed, device)) for seed in range(lanes)]
        for twins in zip(*seeds, strict=True):
            if not isinstance(twins[0], Sample):
                got = describe(twins[0])
                raise NoSample(f"{self.id}: `samples` must yield call(...), got {got}")
            yield dataclasses.replace(twins[0], lanes=twins, drawn=dtype)

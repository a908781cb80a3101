"""`Draft`: how a call is made from a sample of an entry, once more under each seed."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category
from functx.testing.calls import Calls
from functx.testing.opinfo import OpInfo, Sample
from functx.testing.variations import poked, Vary

from .resized import Resized


TINY = "tiny"  # half of the least normal number of a dtype


@dataclasses.dataclass(frozen=True)
class Draft:
    """The sample at `index` of an entry, changed.

    - `sizes`: other sizes for those that it has, `step` between values, as in `Resized`.
    - `varied`: the arrays of another rank, or one of them narrower: the result at a position
      of those that a function in `functx.testing.variations` yields.
    - `options`: other values by the name of the parameter.
    - `poked`: first elements by the position of an inexact array.
    """

    info: OpInfo
    dtype: str
    index: int
    seed: int = 0
    sizes: Mapping[int, int] = dataclasses.field(default_factory=dict)
    step: float | None = None
    varied: tuple[Vary, int] | None = None
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    poked: tuple[int, tuple[float | str, ...]] | None = None

    def sample(self, lane: int = 0) -> Sample:
        """The call; others give it other values, as the lanes of a batch have."""
        made = self.info.make(self.dtype, self.seed + lane)
        make = Resized(made.dtype, made.rng, None, self.sizes, self.step)
        sample = next(itertools.islice(self.info.samples(make), self.index, None))
        if self.varied is not None:
            sample = sample.with_arrays(_varied(sample, *self.varied))
        if self.options:
            calls = Calls(self.info.op)
            given = {**calls.arguments(sample.args, sample.kwargs), **self.options}
            args, kwargs = calls.call_of(given)
            sample = dataclasses.replace(sample, args=args, kwargs=kwargs)
        if self.poked is not None:
            arrays = _poked(sample.arrays(), *self.poked)
            sample = dataclasses.replace(sample.with_arrays(arrays), values_only=True)
        return sample

    def whole(self, lanes: int = 3) -> Sample:
        """The call with lanes, of which it is the first."""
        several = tuple(self.sample(lane) for lane in range(lanes))
        return dataclasses.replace(several[0], lanes=several, drawn=self.dtype)

    def may_be_taken(self) -> bool:
        """Whether the operator accepts shapes, dtypes and options, as far as a trace can tell."""
        sample = self._made()
        if sample is None:
            return False

        def traced() -> None:
            if not self.decided_by_values(sample):
                jax.eval_shape(sample.over_arrays(self._op()), *sample.arrays())

        return self._accepts(traced)

    def is_taken(self) -> bool:
        """Whether the operator accepts the call, its values too where it looks at them."""
        lanes = [s for s in map(self._made, range(3)) if s is not None]
        if len(lanes) < 3:
            return False
        if not self.may_be_taken():
            return False
        if self.info.spec is not None and not self.info.spec.requires:
            if not self.decided_by_values(lanes[0]):
                return True
        calls = (lambda s=s: self._op()(*s.args, **s.kwargs) for s in lanes)
        return all(map(self._accepts, calls))

    def _made(self, lane: int = 0) -> Sample | None:
        """The call, or None where the entry cannot make it of other sizes than its own."""
        try:
            return self.sample(lane)
        except Exception:
            if not self.sizes:
                raise
            return None

    def _accepts(self, made: Callable[[], Any]) -> bool:
        """Whether the operator takes a call; what is no refusal of its own is raised."""
        try:
            made()
        except Exception as error:
            if not self.info.refuses(error):
                raise
            return False
        return True

    def decided_by_values(self, sample: Sample) -> bool:
        """Whether the shape of the result is left to the values."""
        return bool(self.info.unmeasured(sample))

    def _op(self) -> Any:
        return self.info.with_key(jax.random.key(0)) if self.info.random else self.info.op


def _varied(sample: Sample, vary: Vary, which: int) -> list[Any]:
    arrays = {str(i): x for i, x in enumerate(sample.arrays())}
    new = next(itertools.islice(vary(arrays), which, None), {})
    return list((arrays | new).values())


def _poked(arrays: list[jax.Array], target: int, values: tuple[float | str, ...]) -> list[Any]:
    inexact = [i for i, x in enumerate(arrays) if category(x.dtype) >= 2]
    if not inexact:
        return arrays
    at = inexact[target % len(inexact)]
    x = arrays[at]
    tiny = float(jnp.finfo(x.dtype).tiny) / 2
    numbers = [tiny if v == TINY else float(v) for v in values]
    if category(x.dtype) == 3:  # what is not finite in the plane, nobody promises
        numbers = [v if np.isfinite(v) else 0.0 for v in numbers]
    return [*arrays[:at], poked(x, numbers), *arrays[at + 1 :]]

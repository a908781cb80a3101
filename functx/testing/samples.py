"""`Sample`: one call, which `call`, `edge` or `held` makes; `Refusal`: a call that must raise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from functx._core import category, describe


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


class NoSample(TypeError):
    """An entry's `samples` give something else than calls: no check can say anything of it."""


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

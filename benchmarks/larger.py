"""The database's samples, made larger: what an operator is timed on, for every operator alike."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import jax

from functx.testing import OpInfo
from functx.testing.make import Make
from functx.testing.opinfo import Sample


DRAWING = ("__call__", "nonzero", "distinct", "small", "delicate", "mask", "matrix")
DRAWING += ("positive_definite",)
SIZES = {"size", "output_size", "shape", "normalized_shape", "num_classes", "k"}
MOST = 10**7  # elements of an array
TRIES = 8  # samples of an entry that are tried


@dataclasses.dataclass(frozen=True)
class Larger(Make):
    """Makes arrays each of whose dimensions is `factor` times as long; those of 1 stay."""

    factor: float = 1.0

    def longer(self, n: int) -> int:
        """A dimension's length."""
        return n if n < 2 else max(2, round(n * self.factor))

    def shape(self, *shape: int) -> list[int]:
        """A shape that is longer."""
        longer = list(map(self.longer, shape))
        if math.prod(longer) > MOST:
            raise ValueError(f"{longer} is too large")
        return longer

    def index(self, size: int, *shape: int, dtype: Any = "int64") -> jax.Array:
        """Positions in a dimension that is longer itself."""
        return super().index(self.longer(size), *self.shape(*shape), dtype=dtype)

    def distinct(self, *shape: int, dtype: Any = None) -> jax.Array:
        """Values in any order, no two alike where the dtype has so many."""
        return super().distinct(*self.shape(*shape), dtype=dtype)


def _drawing_longer(name: str) -> Callable[..., Any]:
    draw = getattr(Make, name)

    def longer(self: Larger, *shape: int, **named: Any) -> jax.Array:
        return draw(self, *self.shape(*shape), **named)

    return longer


for _name in DRAWING:
    setattr(Larger, _name, _drawing_longer(_name))


def samples(info: OpInfo, elements: int) -> Iterator[Sample]:
    """Calls of an entry's first kinds whose largest array has about so many elements.

    Sizes among the options grow too, where the call allows it. What does not grow is left out.
    """
    for which, plain in enumerate(_first(info, 1.0)):
        if which >= TRIES or plain.values_only or not _largest(plain):
            continue
        factor = 1.0
        for _ in range(12):  # dimensions are rounded, and not all of them grow
            sample = _nth(info, factor, which)
            if sample is None or 0.8 * elements <= _largest(sample) <= 1.25 * elements:
                break
            rank = max(x.ndim for x in sample.arrays())
            factor *= (elements / _largest(sample)) ** (1 / max(rank, 1))
        else:
            sample = _nth(info, factor, which)
        if sample is None or not 0.3 * elements <= _largest(sample) <= 3 * elements:
            continue
        yield from (_with_longer_sizes(info, sample, factor), sample)


def _first(info: OpInfo, factor: float) -> Iterator[Sample]:
    plain = info.make("float32" if "float32" in info.accepted else info.accepted[-1])
    return info.samples(Larger(plain.dtype, plain.rng, plain.device, factor))


def _nth(info: OpInfo, factor: float, which: int) -> Sample | None:
    try:
        for i, sample in enumerate(_first(info, factor)):
            if i == which:
                return sample
    except (TypeError, ValueError, IndexError):  # it relies on lengths
        return None
    return None


def _largest(sample: Sample) -> int:
    return max((x.size for x in sample.arrays()), default=0)


def _with_longer_sizes(info: OpInfo, sample: Sample, factor: float) -> Sample:
    """`sample` with sizes among its options grown, by the names that PyTorch gives them."""
    names = list(inspect.signature(info.op).parameters)
    grow = lambda v: v if not _sizes(v) else jax.tree.map(lambda n: max(1, round(n * factor)), v)
    args = tuple(
        grow(v) if name in SIZES else v for name, v in zip(names, sample.args, strict=False)
    )
    kwargs = {name: grow(v) if name in SIZES else v for name, v in sample.kwargs.items()}
    return dataclasses.replace(sample, args=args + sample.args[len(args) :], kwargs=kwargs)


def _sizes(value: Any) -> bool:
    leaves = jax.tree.leaves(value)
    return bool(leaves) and all(type(v) is int and v > 1 or v == 1 for v in leaves)

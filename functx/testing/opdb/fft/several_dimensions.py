"""Samples of discrete Fourier transforms along several dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.fft

import functx
from functx.testing.make import Make
from functx.testing.opinfo import FixedSizes, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def of_images(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(3, 2, 4), (2, 5), (2, 0), "ortho")
    yield call(make(2, 3, 2), s=(4, -1), norm="forward")
    yield call(make(2, 2), norm="backward")
    yield call(make(0, 2, 3), dim=(-1, 1))


def of_halves(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(3, 2, 4), s=(2, 5), dim=(2, 0), norm="ortho")
    yield call(make(2, 3, 2), (4, -1), norm="forward")
    yield call(make(2, 3), None, (0,), "backward")
    yield call(make(2, 3, 2, 1, 2))
    yield call(make(3), 4, 0)
    yield call(make(0, 3), dim=-1)


def of_any(make: Make) -> Iterator[Sample]:
    yield from of_halves(make)
    yield call(make())
    yield call(make(2), dim=())


def refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, (2, 0)), r"`s`, must be at least 1, got 0")
    yield Refusal(call(x, (-2, 2)), r"`s`, must be at least 1, got -2")
    yield Refusal(call(make(2, 0)), r"`s`, must be at least 1, got")
    yield Refusal(call(x, (2, 2), (0,)), "`s` and `dim` must have the same length")
    yield Refusal(call(x, dim=(1, -1)), "`dim` names a dimension twice")
    yield Refusal(call(x, dim=(0, 2)), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(), dim=(0,)), "`dim` must be left out for", IndexError)
    yield Refusal(call(x, norm="x"), "`norm` must be 'backward', 'ortho' or 'forward'")
    yield Refusal(call(make(2, 2, dtype="float16")), "expected bool, .*, got f16", TypeError)


def all_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    yield Refusal(call(make(2, 3), (1, 2, 3)), "`s` must have at most 2 lengths for")


def some_refusals(make: Make) -> Iterator[Refusal]:
    yield from all_refusals(make)
    yield Refusal(call(make()), "`dim` must name at least 1 dimension, got None")
    yield Refusal(call(make(2), dim=()), r"`dim` must name at least 1 dimension, got \(\)")


def real_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(
        call(make(2, 3, dtype="complex64")), "expected bool, .* or float64 arrays", TypeError
    )


def like(transform: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's, with PyTorch's names and defaults; lengths of -1 are the array's."""

    def reference(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
        s = (s,) if isinstance(s, int) else s
        if dim is None:
            two = transform.__name__.endswith("2")
            dim = (-2, -1) if two else range(input.ndim)[-len(s) if s else None :]
        dim = (dim,) if isinstance(dim, int) else dim
        if not len(dim):
            return input + 0j
        if s is not None:
            half = transform.__name__ in ("hfft2", "hfftn", "irfft2", "irfftn")
            own = [input.shape[k] for k in dim]
            own[-1] = 2 * (own[-1] - 1) if half else own[-1]
            s = [m if n == -1 else n for m, n in zip(own, s, strict=True)]
        return transform(input.astype(np.result_type(input, "float64")), s, dim, norm)

    return reference


def with_real(more: Callable[[Make], Iterator[Refusal]]) -> Callable[[Make], Iterator[Refusal]]:
    """Those of transforms of real signals."""

    def both(make: Make) -> Iterator[Refusal]:
        yield from more(make)
        yield from real_refusals(make)

    return both


_FACT = "XLA's transforms have lengths that are numbers"
LENGTHS = (FixedSizes("input", _FACT, along="dim", unless="s"), FixedSizes("s", _FACT))

OPS = [
    OpInfo(
        operator,
        samples,
        like(getattr(scipy.fft, operator.__name__)),
        refusals_of,
        tolerances=(SUMS,),
        fixed_sizes=LENGTHS,
    )
    for operator, samples, refusals_of in [
        (functx.fft.fftn, of_any, all_refusals),
        (functx.fft.fft2, of_images, refusals),
        (functx.fft.ifftn, of_any, all_refusals),
        (functx.fft.ifft2, of_images, refusals),
        (functx.fft.rfftn, of_halves, with_real(some_refusals)),
        (functx.fft.rfft2, of_images, with_real(refusals)),
        (functx.fft.irfftn, of_halves, some_refusals),
        (functx.fft.irfft2, of_images, refusals),
        (functx.fft.hfftn, of_halves, some_refusals),
        (functx.fft.hfft2, of_images, refusals),
        (functx.fft.ihfftn, of_halves, with_real(some_refusals)),
        (functx.fft.ihfft2, of_images, with_real(refusals)),
    ]
]

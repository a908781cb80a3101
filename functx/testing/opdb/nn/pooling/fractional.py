from __future__ import annotations

import functools as ft
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call

from .windows import greatest


INF, NAN = np.inf, np.nan


def plane_samples(make: Make) -> Iterator[Sample]:
    shares = abs(make(1, 2, 2)) % 1
    yield call(make.distinct(2, 4, 5), 2, 3, _random_samples=shares)
    yield call(make.distinct(1, 2, 5, 4), (1, 2), (3, 2), None, True, shares)
    yield call(make.distinct(2, 4, 6), 2, output_ratio=(0.5, 0.5), _random_samples=shares)
    yield call(make.distinct(2, 4, 5), (2, 1), output_ratio=(0.75, 0.5), _random_samples=shares)


def volume_samples(make: Make) -> Iterator[Sample]:
    shares = abs(make(1, 1, 3)) % 1
    yield call(make.distinct(1, 3, 4, 5), (1, 2, 2), (2, 2, 3), _random_samples=shares)
    yield call(make.distinct(1, 1, 4, 4, 4), 2, (2, 1, 2), None, True, shares)
    yield call(
        make.distinct(1, 3, 4, 4), 1, output_ratio=(0.375, 0.5, 0.75), _random_samples=shares
    )


def drawn(make: Make, *, n: int) -> Iterator[Sample]:
    x, kernel = make.distinct(2, *[2] * (n - 1), 5), (*[1] * (n - 1), 2)
    yield call(x, kernel, (*[1] * (n - 1), 3))
    rising = jnp.sort(x)  # so that in each channel the window that is drawn decides
    yield call(rising, kernel, output_ratio=(*[0.5] * (n - 1), 0.625))


def moments(x, *_, n, **options):
    """Of three windows of 2 over 5, the second begins at 2 for a third of all draws, else at 1."""
    x = x[(..., *[slice(1, 2)] * (n - 1), slice(None))]  # a single window is the last
    first, likely, other, last = (x[..., i : i + 2].max(-1) for i in range(4))
    mean = np.stack([first, (2 * likely + other) / 3, last], -1)
    spread = np.stack([0 * first, np.sqrt(2) / 3 * abs(likely - other), 0 * last], -1)
    return mean, spread


def sampler(rng, draws, x, *_, n, **options):
    x = x[(..., *[slice(1, 2)] * (n - 1), slice(None))]
    first, likely, other, last = (x[..., i : i + 2].max(-1) for i in range(4))
    begins_later = rng.integers(3, size=(draws, *first.shape)) == 0
    second = np.where(begins_later, other, likely)
    ends = (np.broadcast_to(end, second.shape) for end in (first, last))
    return np.stack([next(ends), second, next(ends)], -1)


def np_fractional_max_pool(
    x,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    _random_samples=None,
    *,
    n,
):
    sizes = x.shape[-n:]
    if output_size is None:
        shares = np.broadcast_to(output_ratio, n)
        output_size = [int(size * share) for size, share in zip(sizes, shares, strict=True)]
    kernel, counts = np.broadcast_to(kernel_size, n), np.broadcast_to(output_size, n)
    images = x.reshape(-1, *sizes)
    given = _random_samples.reshape(-1, n)
    values, where = [], []
    for image, u in zip(images, given[:, ::-1] if n == 2 else given, strict=True):
        along = [_along(*each, x.dtype) for each in zip(sizes, counts, kernel, u, strict=True)]
        value, at = greatest(image, along)
        values.append(value)
        where.append(at)
    shape = (*x.shape[:-n], *counts)
    values, where = np.reshape(values, shape), np.reshape(where, shape)
    return (values, where) if return_indices else values


def _along(size, m, k, u, dtype):
    if not 0 <= u <= 1:
        raise ValueError(f"{u} is outside of [0, 1]")
    wide = np.float64 if dtype == np.float64 else np.float32
    u, step = wide(u), wide((size - k) / max(m - 1, 1))
    starts = [int((i + u) * step) - int(u * step) for i in range(m - 1)] + [size - k]
    return [list(range(start, start + k)) for start in starts]


def plane_refusals(make: Make) -> Iterator[Refusal]:
    x = make(1, 4, 4)
    yield Refusal(call(x, 2), "`output_size` or `output_ratio` must be given", ValueError)
    yield Refusal(call(x, 2, 4), r"4 windows of 2 need at least 5 elements, got f\d+\[1,4,4\]")
    yield Refusal(call(x, 2, (1, 2, 3)), "`output_size` must be an int or 2", ValueError)
    ratios = (0.5, 0.5, 0.5)
    yield Refusal(call(x, 2, None, ratios), "`output_ratio` must be a number or 2", ValueError)
    shares = make(1, 2, 2)
    given = call(x, 2, 2, _random_samples=shares)
    yield Refusal(given, r"`_random_samples` must be \[1, 1, 2\] for")
    for share in (-0.5, INF, NAN):
        given = call(x, 2, 2, _random_samples=make.put(np.full((1, 1, 2), share)))
        yield Refusal(given, rf"`_random_samples` must lie in \[0, 1\], got {share}")
    yield Refusal(call(make(4, 4), 2, 2), "`input` must have 3 dimensions, or 4 with a batch")
    yield Refusal(call(make(1, 4, 4, dtype="int64"), 2, 2), "expected floating arrays", TypeError)


def volume_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2, 2, 2), 2, 2), "2 windows of 2 need at least 3 elements")
    yield Refusal(call(make(2, 2, 2), 1, 1), "`input` must have 4 dimensions, or 5 with a batch")


def whole_conventions(make: Make, *, n: int) -> Iterator[Convention]:
    sizes = (*[1] * (n - 1), 32)
    for dtype in ("float32", "float64"):
        x = make.delicate(32).astype(dtype).reshape(1, *sizes)
        alike = lambda y, x=x: (y == x) | (jnp.isnan(y) & jnp.isnan(x))
        yield Convention(f"windows of 1 everywhere, {dtype}", call(x, 1, sizes), holds=alike)
    x = make.small(1, *sizes)
    yield Convention("small ones", call(x, 1, sizes), value=np.asarray(x))


def conventions(make: Make, *, n: int) -> Iterator[Convention]:
    row = lambda *elements: np.reshape(elements, (1, *[1] * (n - 1), len(elements)))
    shares, pair = make.put(np.full((1, 1, n), 0.25)), (*[1] * (n - 1), 2)
    for what, elements, gradient in [
        ("ties", (0, 2, 2), (0, 1, 0)),
        ("the last of two NaN", (0, NAN, NAN), (0, 0, 1)),
        ("nothing but -inf", (-INF, -INF, -INF), (0, 1, 0)),
    ]:
        at = call(make.put(row(*elements)), pair, 1, _random_samples=shares)
        yield Convention(what, at, gradient=(row(*gradient), np.zeros((1, 1, n))), departure=FIXED)


FIXED = "PyTorch differentiates the image alone"


def departures(make: Make, n: int) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "windows are placed by numbers in [0, 1]",
        call(make(1, *[4] * n), 2, 2, _random_samples=make.put(np.full((1, 1, n), 4.5))),
        r"`_random_samples` must lie in \[0, 1\], got 4.5",
    )
    if n == 2:
        yield Departure(
            "refused",
            "no window has fewer than one element",
            call(make(1, 2, 5, 4), (1, -1), (3, 2)),
            r"`kernel_size` must be at least 1, got .*-\d",
        )
    else:
        yield Departure(
            "accepted",
            "as many windows as fit, as over two dimensions; PyTorch wants one element more",
            call(make(2, 1, 2, 5), (1, 1, 2), (1, 1, 3)),
            "pool (?:time|height|width) .* too large relative to input",
        )


OPS = [
    entry
    for n, operator, samples, refusals in [
        (2, F.fractional_max_pool2d, plane_samples, plane_refusals),
        (3, F.fractional_max_pool3d, volume_samples, volume_refusals),
    ]
    for entry in (
        OpInfo(
            operator,
            ft.partial(drawn, n=n),
            moments=ft.partial(moments, n=n),
            sampler=ft.partial(sampler, n=n),
            refusals=refusals,
            conventions=ft.partial(whole_conventions, n=n),
            departures=(ft.partial(departures, n=n),),
            kinked=True,
        ),
        OpInfo(
            operator,
            samples,
            reference=ft.partial(np_fractional_max_pool, n=n),
            conventions=ft.partial(conventions, n=n),
            variant="given",
        ),
    )
]

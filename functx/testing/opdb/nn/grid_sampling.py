from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

import functx
import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT, Tolerance

from .padding_extremes import MIRRORS, SMALL_WEIGHTS


PLACED = Tolerance(
    "coordinates are rounded, and between elements the result follows them", floor=24
)
MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def image(make: Make, *shape: int):
    """An image and points around it."""
    return make(1, 2, *shape), make(1, 2, 3, 2, low=-1.6, high=1.6)


def volume(make: Make, *shape: int):
    return make(1, 1, *shape), make(1, 1, 2, 2, 3, low=-1.6, high=1.6)


def mode_samples(mode: str) -> Callable[[Make], Iterator[Sample]]:
    def samples(make: Make) -> Iterator[Sample]:
        yield call(*image(make, 3, 4), mode)
        yield call(*image(make, 4, 3), mode, align_corners=True)
        # Cubic taps are padded, not coordinates: derivatives, which compile for long, are the same.
        padded = edge if mode == "bicubic" else call
        for padding, align_corners in itertools.product(PADDINGS[1:], (False, True)):
            yield padded(*image(make, 3, 4), mode, padding, align_corners)
        yield call(*image(make, 1, 2), mode, "reflection", True)
        far = make(1, 1, 3, 2, low=-7, high=7)
        yield call(make(1, 1, 3, 4), far, mode, "reflection", False)

    return samples


def bilinear_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3, 3, 4), make(2, 2, 3, 2, low=-1.4, high=1.4))
    yield from mode_samples("bilinear")(make)
    yield call(make(0, 1, 3, 4), make(0, 2, 3, 2))
    yield call(make(1, 0, 3, 4), make(1, 2, 3, 2))
    yield call(make(1, 1, 3, 4), make(1, 0, 3, 2))


def volume_samples(make: Make) -> Iterator[Sample]:
    for mode, padding, align_corners in itertools.product(MODES[:2], PADDINGS, (False, True)):
        yield call(*volume(make, 2, 3, 4), mode, padding, align_corners)
    yield call(*volume(make, 1, 2, 1), "bilinear", "reflection", True)
    yield edge(make(1, 1, 2, 3, 4), nowhere(make), "bilinear", "zeros", True)


def nowhere(make: Make):
    """Points outside of all volumes."""
    return make.put([[[[(np.nan, 0.0, 0.0), (0.5, np.inf, 0.0), (0.0, 0.5, -np.inf)]]]])


# Each number once: derivatives in all combinations are looked at under their names.
DIFFERENTIATED = ((0, 0, False), (0, 1, True), (0, 2, False), (1, 0, True), (2, 0, False))


def numbered_samples(ranks: tuple[int, ...]) -> Callable[[Make], Iterator[Sample]]:
    def samples(make: Make) -> Iterator[Sample]:
        for rank in ranks:
            arrays, shape = (image, (3, 4)) if rank == 4 else (volume, (2, 3, 2))
            modes = range(3 if rank == 4 else 2)
            for options in DIFFERENTIATED:
                if options[0] in modes:
                    yield call(*arrays(make, *shape), *options)
            for options in itertools.product(modes, range(3), (False, True)):
                if options not in DIFFERENTIATED:
                    yield edge(*arrays(make, *shape), *options)
            if rank == 5:
                yield edge(make(1, 1, *shape), nowhere(make), 0, 0, True)

    return samples


def shape_refusals(make: Make, *options) -> Iterator[Refusal]:
    x, grid = make(1, 2, 3, 4), make(1, 2, 3, 2)
    yield Refusal(call(x, make(1, 2, 3, 3), *options), r"`grid` must have 4 dimensions")
    yield Refusal(call(x, make(2, 2, 3, 2), *options), r"the first of size 1")
    yield Refusal(call(x, make(1, 2, 3, 3, 2), *options), r"`grid` must have 4 dimensions")
    yield Refusal(call(make(1, 2, 0, 4), grid, *options), r"`input` must not be empty except")
    yield Refusal(call(x[0], grid, *options), r"`input` must be \[N, C, H, W\]")
    single = make(1, 2, 3, 4, dtype="float32")
    yield Refusal(call(single, make(1, 2, 3, 2, dtype="float64"), *options), "dtype", TypeError)


def named_refusals(make: Make) -> Iterator[Refusal]:
    yield from shape_refusals(make)
    yield Refusal(call(*image(make, 2, 2), "cubic"), r"`mode` must be one of", ValueError)
    yield Refusal(
        call(*image(make, 2, 2), padding_mode="edge"), r"`padding_mode` must be one of", ValueError
    )
    yield Refusal(call(*volume(make, 2, 2, 2), "bicubic"), r"bicubic sampling takes images")


def numbered_refusals(rank: int | None = None) -> Callable[[Make], Iterator[Refusal]]:
    def refusals(make: Make) -> Iterator[Refusal]:
        arrays = image(make, 2, 2) if rank != 5 else volume(make, 2, 2, 2)
        if rank != 5:
            yield from shape_refusals(make, 0, 0, False)
        if rank is not None:
            other = volume(make, 2, 2, 2) if rank == 4 else image(make, 2, 2)
            yield Refusal(call(*other, 0, 0, False), r"`input` must be \[N, C, ")
        if rank != 4:
            yield Refusal(call(*volume(make, 2, 2, 2), 2, 0, True), r"takes images")
        yield Refusal(call(*arrays, 3, 0, True), r"`interpolation_mode` must be 0", ValueError)
        yield Refusal(call(*arrays, 0, -1, True), r"`padding_mode` must be 0", ValueError)

    return refusals


def _reflected(x, n, align_corners):
    """A triangular wave between the two mirrors."""
    low, span = (0, n - 1) if align_corners else (-0.5, n)
    return low + abs((x - low + span) % (2 * span) - span) if span else 0.0


def _padded(x, n, padding, align_corners, default):
    x = _reflected(x, n, align_corners) if padding == "reflection" else x
    return default if np.isnan(x) else min(max(x, 0.0), n - 1.0)


def _cubic(t, a=-0.75):
    """The cubic convolution kernel (Keys, 1981)."""
    t = abs(t)
    if t > 1:
        return a * (t - 1) * (t - 2) ** 2
    return 1 - t * t * ((a + 3) - (a + 2) * t)


def _taps(x, n, mode, padding, align_corners, volume):
    """What a coordinate reads along a dimension, and with what weights."""
    x = (x + 1) / 2 * (n - 1) if align_corners else (x + 1) / 2 * n - 0.5
    outside = ("zeros", mode == "bicubic")
    settled = lambda x: _padded(x, n, padding, align_corners, n - 1.0 if volume else 0.0)
    if not any(outside[1:]) and padding != "zeros":
        x = settled(x)
    if padding == "zeros" and volume and not np.isfinite(x):
        x = -9.0
    if mode == "nearest":
        return [(np.rint(x), 1.0)]
    left = np.floor(x)
    if mode == "bilinear":
        return [(left, 1 - (x - left)), (left + 1, x - left)]
    taps = [(left + k, _cubic(x - left - k)) for k in range(-1, 3)]
    return taps if padding == "zeros" else [(settled(at), weight) for at, weight in taps]


def np_grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Point by point, in double precision."""
    sizes, points = input.shape[2:], grid.shape[1:-1]
    out = np.zeros((*input.shape[:2], *points))
    with np.errstate(invalid="ignore", over="ignore"):
        for batch, *point in np.ndindex(grid.shape[:-1]):
            place = grid[(batch, *point)].astype(float)[::-1]
            along = [
                _taps(x, n, mode, padding_mode, align_corners, len(sizes) == 3)
                for x, n in zip(place, sizes, strict=True)
            ]
            total = np.zeros(input.shape[1])
            for taps in itertools.product(*along):
                inside = all(0 <= at < n for (at, _), n in zip(taps, sizes, strict=True))
                at = tuple(int(p) for p, _ in taps) if inside else ()
                read = input[(batch, slice(None), *at)].astype(float) if inside else 0.0
                total = total + (
                    read if mode == "nearest" else read * np.prod([w for _, w in taps])
                )
            out[(batch, slice(None), *point)] = total
    return out.astype(input.dtype)


def np_grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    mode, padding = MODES[interpolation_mode], PADDINGS[padding_mode]
    return np_grid_sample(input, grid, mode, padding, align_corners)


LOST = "PyTorch's gradient overlooks the element that its value reads"
ROW = np.array([[[[1.0, 2.0, 4.0, 8.0]]]])  # an image of one row


def _on_row(make: Make, *places: float):
    """The row, and points on it."""
    return make.put(ROW), make.put([[[(x, 0.0) for x in places]]])


def _across(*slopes: float):
    return np.array([[[(slope, 0.0) for slope in slopes]]])


def bilinear_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "on elements the slope is that of the cell behind",
        call(make.put([[[[1, 2, 8]]]]), _on_row(make, -1.0, 0.0, 1.0)[1], align_corners=True),
        value=[[[[1, 2, 8]]]],
        gradient=(np.ones((1, 1, 1, 3)), _across(1, 6, -8)),
    )
    yield Convention(
        "on elements, quarters",
        call(*_on_row(make, -0.25, 0.25), "bilinear", "border", False),
        value=[[[[2, 4]]]],
        gradient=([[[[0, 1, 1, 0]]]], _across(4, 8)),
    )
    for padding in PADDINGS[1:]:
        yield Convention(
            f"on the border, {padding}",
            call(*_on_row(make, -1.0, 1.0, -1.5), "bilinear", padding, True),
            value=[[[[1, 8, 1 if padding == "border" else 1.75]]]],
            gradient=(None, _across(0, 0, 0 if padding == "border" else -1.5)),
        )
        yield Convention(
            f"on the outermost elements and edges, {padding}",
            call(*_on_row(make, -0.75, 0.75, -1.0, 1.0), "bilinear", padding, False),
            value=[[[[1, 8, 1, 8]]]],
            gradient=([[[[2, 0, 0, 2]]]], _across(0, 0, 0, 0)),
        )
        yield Convention(  # PyTorch's gradients read memory that is not theirs
            f"no place, {padding}",
            call(*_on_row(make, np.nan, np.inf, -np.inf), "bilinear", padding, False),
            value=[[[[1, 8 if padding == "border" else 1, 1]]]],
        )
    yield Convention(
        "infinitely far from the border",
        call(*_on_row(make, np.inf, -np.inf), "bilinear", "border", False),
        value=[[[[8, 1]]]],
        gradient=([[[[1, 0, 0, 1]]]], _across(0, 0)),
    )
    yield Convention(
        "no place, zeros",
        call(*_on_row(make, np.nan, np.inf, -np.inf, 1e30), "bilinear", "zeros", False),
        value=[[[[np.nan, np.nan, np.nan, 0]]]],
        gradient=(np.zeros((1, 1, 1, 4)), None),
        modes=("reverse",),
    )
    yield Convention(
        "no place in a volume",
        call(
            make.put(ROW[None]),
            make.put([[[[(x, 0.0, 0.0) for x in (np.nan, np.inf, -np.inf, 1e30)]]]]),
            "bilinear",
            "zeros",
            False,
        ),
        value=np.zeros((1, 1, 1, 1, 4)),
        gradient=(np.zeros((1, 1, 1, 1, 4)), np.zeros((1, 1, 1, 4, 3))),
    )
    yield Convention(
        "no place in a volume, border",
        call(
            make.put(ROW[None]),
            make.put([[[[(x, 0.0, 0.0) for x in (np.nan, np.inf, -np.inf)]]]]),
            "bilinear",
            "border",
            False,
        ),
        value=[[[[[8, 8, 1]]]]],
        gradient=([[[[[1, 0, 0, 2]]]]], np.zeros((1, 1, 1, 3, 3))),
        departure=LOST,
    )


def nearest_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "of two equally near ones the even",
        call(*_on_row(make, -0.5, 0.0, 0.5), "nearest", "zeros", False),
        value=[[[[1, 4, 4]]]],
        gradient=([[[[1, 0, 2, 0]]]], _across(0, 0, 0)),
    )
    yield Convention(
        "no place",
        call(*_on_row(make, np.nan, np.inf, -np.inf), "nearest", "zeros", False),
        value=[[[[0, 0, 0]]]],
        gradient=([[[[0, 0, 0, 0]]]], _across(0, 0, 0)),
    )


def bicubic_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "no place",
        call(*_on_row(make, np.nan, np.inf), "bicubic", "border", False),
        value=[[[[np.nan, np.nan]]]],
    )
    yield Convention(
        "on an element the slope is that of its neighbours",
        call(*_on_row(make, -0.25), "bicubic", "zeros", False),
        value=[[[[2]]]],
        gradient=([[[[0, 1, 0, 0]]]], _across(0.75 * (4 - 1) * 2)),
    )


def in_the_middle(ranks: tuple[int, ...], *options) -> Callable[[Make], Iterator[Convention]]:
    """Of two elements along each dimension: coordinates that are equal, and 0."""

    def conventions(make: Make) -> Iterator[Convention]:
        for d in (rank - 2 for rank in ranks):
            elements = np.arange(2.0**d).reshape(1, 1, *(2,) * d)
            at = call(make.put(elements), make.put(np.zeros((*(1,) * (d + 1), d))), *options)
            slopes = np.reshape([2.0**k / 2 for k in range(d)], (*(1,) * (d + 1), d))
            yield Convention(
                f"in the middle of {2**d}",
                at,
                value=np.full((1,) * (d + 2), elements.mean()),
                gradient=(np.full(elements.shape, 0.5**d), slopes),
            )

    return conventions


ANY_NUMBER = "PyTorch takes any number for a mode, and computes nothing for some"


def image_departures(make: Make) -> Iterator[Departure]:
    yield Departure("refused", ANY_NUMBER, call(*image(make, 2, 2), 0, 3, True), "_mode` must be 0")


def volume_departures(make: Make) -> Iterator[Departure]:
    at = call(*volume(make, 2, 2, 2), 0, 3, True)
    yield Departure("refused", ANY_NUMBER, at, "_mode` must be 0")


OPS = [
    OpInfo(
        F.grid_sample,
        bilinear_samples,
        reference=np_grid_sample,
        refusals=named_refusals,
        conventions=bilinear_conventions,
        tolerances=(PLACED,),
        kinked=True,
    ),
    OpInfo(
        F.grid_sample,
        mode_samples("nearest"),
        reference=np_grid_sample,
        variant="nearest",
        conventions=nearest_conventions,
        tolerances=(EXACT,),
        gaps=(MIRRORS,),
    ),
    OpInfo(
        F.grid_sample,
        mode_samples("bicubic"),
        reference=np_grid_sample,
        variant="bicubic",
        conventions=bicubic_conventions,
        tolerances=(PLACED,),
    ),
    OpInfo(
        F.grid_sample,
        volume_samples,
        reference=np_grid_sample,
        variant="volumes",
        conventions=in_the_middle((5,), "bilinear", "zeros", True),
        tolerances=(PLACED,),
    ),
    OpInfo(
        functx.grid_sampler,
        numbered_samples((4, 5)),
        reference=np_grid_sampler,
        refusals=numbered_refusals(),
        conventions=in_the_middle((4, 5), 0, 0, True),
        tolerances=(PLACED,),
        departures=(image_departures,),
    ),
    OpInfo(
        functx.grid_sampler_2d,
        numbered_samples((4,)),
        reference=np_grid_sampler,
        refusals=numbered_refusals(4),
        conventions=in_the_middle((4,), 0, 0, True),
        tolerances=(PLACED,),
        departures=(image_departures,),
        gaps=(SMALL_WEIGHTS,),
    ),
    OpInfo(
        functx.grid_sampler_3d,
        numbered_samples((5,)),
        reference=np_grid_sampler,
        refusals=numbered_refusals(5),
        conventions=in_the_middle((5,), 0, 0, True),
        tolerances=(PLACED,),
        departures=(volume_departures,),
    ),
]

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import WEIGHTED


FLOATS = ("float16", "bfloat16", "float32", "float64")


def nearest_samples(make: Make) -> Iterator[Sample]:
    for mode in ("nearest", "nearest-exact"):
        yield call(make(1, 2, 4), 6, mode=mode)
        yield call(make(1, 1, 2, 3), scale_factor=(1.625, 0.6875), mode=mode)
        yield call(make(1, 1, 2, 2, 2), scale_factor=1.625, mode=mode, recompute_scale_factor=True)
    yield call(make(0, 1, 2), size=[3])


def linear_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 3), 5, mode="linear")
    yield call(make(1, 1, 4, 3), (3, 5), mode="bilinear", align_corners=True)
    yield call(make(1, 1, 2, 2, 3), scale_factor=1.5, mode="trilinear")
    yield call(make(1, 1, 5), scale_factor=0.5, mode="linear", align_corners=False)
    yield call(make(1, 1, 1, 3), size=(2, 1), mode="bilinear", align_corners=True)
    yield call(make(1, 1, 3), scale_factor=True, mode="linear")


def bicubic_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 1, 3, 4), (5, 2), mode="bicubic")
    yield call(make(1, 1, 4, 3), scale_factor=1.375, mode="bicubic", align_corners=True)


def area_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 1, 3, 4), (2, 5), mode="area")
    yield call(make(1, 1, 5), scale_factor=0.5, mode="area")
    yield call(make(1, 0, 3, 4), 2, mode="area")


def antialias_samples(make: Make) -> Iterator[Sample]:
    for mode in ("bilinear", "bicubic", "lanczos"):
        yield call(make(1, 1, 4, 5), (2, 7), mode=mode, antialias=True)
    yield call(make(1, 1, 4, 4), scale_factor=0.625, mode="bilinear", antialias=True)
    yield call(make(1, 1, 1, 40), (1, 3), mode="lanczos", antialias=True)  # many taps


def bytes_samples(make: Make) -> Iterator[Sample]:
    x = make(1, 1, 4, 5, low=0, high=255)
    yield call(x, (3, 4), mode="nearest")
    for mode in ("bilinear", "bicubic"):
        yield call(x, (2, 7), mode=mode)
        yield call(x, (2, 7), mode=mode, antialias=True)


def upsample_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 3), 5)
    yield call(make(1, 1, 2, 3), scale_factor=1.5, mode="bilinear", align_corners=True)
    yield call(make(1, 1, 3), None, 2, "linear")


def block_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 3), 5)
    yield call(make(1, 1, 2, 3), None, (1.5, 2))


def plane_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 1, 2, 3), (3, 4))
    yield call(make(1, 2, 2, 2), scale_factor=1.625)


def one_size_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 1, 4, 4)), "exactly one of `size` and `scale_factor`", ValueError)


def plane_refusals(make: Make) -> Iterator[Refusal]:
    yield from one_size_refusals(make)
    yield Refusal(call(make(1, 1, 4), 2), r"inputs \[N, C, ...\] of 4 dimensions", ValueError)


def interpolate_refusals(make: Make) -> Iterator[Refusal]:
    x, image = make(1, 1, 4), make(1, 1, 4, 4)
    yield Refusal(call(x), r"exactly one of `size` and `scale_factor`", ValueError)
    yield Refusal(call(x, 2, 2.0), r"exactly one of `size` and `scale_factor`", ValueError)
    yield Refusal(call(x, (2, 2)), r"`size` must be one number or 1", ValueError)
    yield Refusal(call(x, 2.5), r"`size` must be an int.* got 2\.5", TypeError)
    yield Refusal(call(x, True), r"`size` must be an int.* got True", TypeError)
    yield Refusal(call(x, 0), r"sizes must be positive", ValueError)
    yield Refusal(call(x, scale_factor=0.1), r"sizes must be positive")
    yield Refusal(call(x, 2, mode="cubic"), r"`mode` must be one of", ValueError)
    yield Refusal(call(x, 2, mode="bilinear"), r"inputs \[N, C, ...\] of 4 dimensions", ValueError)
    yield Refusal(call(make(3, 3), 2), r"of 3 or 4 or 5 dimensions", ValueError)
    yield Refusal(call(x, 2, align_corners=True), r"`align_corners` means nothing", ValueError)
    yield Refusal(call(image, 2, antialias=True), r"`antialias` is for modes", ValueError)
    yield Refusal(call(image, 2, mode="lanczos"), r"needs `antialias=True`", ValueError)
    yield Refusal(call(x, 2, recompute_scale_factor=True), r"needs a `scale_factor`", ValueError)
    yield Refusal(call(make(1, 1, 4, dtype="int32"), 2), r"does not take i32", TypeError)
    yield Refusal(
        call(make(1, 1, 4, dtype="uint8"), 2, mode="linear"), r"does not take u8", TypeError
    )


def _cubic(t, a):
    t = abs(t)
    if t >= 2:
        return 0.0
    return a * (t - 1) * (t - 2) ** 2 if t > 1 else 1 - t * t * ((a + 3) - (a + 2) * t)


_KERNELS = {
    "bilinear": (1, lambda t: max(0.0, 1 - abs(t))),
    "bicubic": (2, lambda t: _cubic(t, -0.5)),
    "lanczos": (3, lambda t: np.sinc(t) * np.sinc(t / 3) if abs(t) < 3 else 0.0),
}


def _taps(n, m, scale, mode, align_corners, antialias):
    """Which of `n` inputs each of `m` outputs reads, and with what weights."""
    step = n / m if scale is None else 1 / scale
    if align_corners:
        step = (n - 1) / (m - 1) if m > 1 else 0
    for i in range(m):
        centre = i * step if align_corners else (i + 0.5) * step - 0.5
        if mode in ("nearest", "nearest-exact"):
            yield [(min(int((i + 0.5 * (mode != "nearest")) * step), n - 1), 1.0)]
        elif mode == "area":
            read = range(i * n // m, -(-(i + 1) * n // m))
            yield [(j, 1 / len(read)) for j in read]
        elif antialias:
            reach, kernel = _KERNELS[mode]
            centre, stretch = (i + 0.5) * step - 0.5, max(step, 1)
            ends = (int(centre + 0.5 + side * reach * stretch + 0.5) for side in (-1, 1))
            near = range(*np.clip(list(ends), 0, n))
            weights = [kernel((j - centre) / stretch) for j in near]
            yield [(j, w / sum(weights)) for j, w in zip(near, weights, strict=True)]
        elif mode == "bicubic":
            first = int(np.floor(centre)) - 1
            near = range(first, first + 4)
            yield [(min(max(j, 0), n - 1), _cubic(centre - j, -0.75)) for j in near]
        else:
            left = min(int(max(centre, 0)), n - 1)
            share = min(max(centre, 0) - left, 1)
            yield [(left, 1 - share), (min(left + 1, n - 1), share)]


def _applied(taps, x):
    with np.errstate(invalid="ignore"):
        return np.stack([sum(w * x[..., j] for j, w in row) for row in taps], -1)


def _applied_to_bytes(taps, x):
    """By fixed-point weights of 16 bit."""
    matrix = np.zeros((len(taps), x.shape[-1]))
    for i, row in enumerate(taps):
        for j, w in row:
            matrix[i, j] += w
    one = 2.0 ** np.floor(np.log2((2**15 - 0.5) / matrix.max()))
    matrix = np.trunc(matrix * one + np.copysign(0.5, matrix))
    return np.clip(np.floor(x @ matrix.T / one + 0.5), 0, 255)


def np_interpolate(
    x,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    n, dtype = x.ndim - 2, x.dtype
    applied = _applied_to_bytes if dtype == np.uint8 else _applied
    scales = np.broadcast_to(np.nan if scale_factor is None else scale_factor, n)
    sizes = [int(s * k) for s, k in zip(x.shape[2:], scales, strict=True)] if size is None else size
    sizes = np.broadcast_to(sizes, n)
    for i in reversed(range(n)):
        scale = None if size is not None or recompute_scale_factor or mode == "area" else scales[i]
        taps = list(_taps(x.shape[2 + i], sizes[i], scale, mode, align_corners, antialias))
        x = np.moveaxis(applied(taps, np.moveaxis(x, 2 + i, -1)), -1, 2 + i)
    return x.astype(dtype)


def nearest_conventions(make: Make) -> Iterator[Convention]:
    sizes, scales = (5, 4, 3), (0.7, 1.2, 2.0)
    counts = [
        np.bincount(np.floor(np.arange(int(n * s)) / s).astype(int), minlength=n)
        for n, s in zip(sizes, scales, strict=True)
    ]
    yield Convention(
        "the gradient counts how often an element is read",
        call(make.put(np.ones((1, 1, *sizes))), scale_factor=scales),
        gradient=np.einsum("i,j,k->ijk", *counts)[None, None],
        departure="PyTorch's gradient of three sizes scaled unequally is not that of its result",
    )


def factor_conventions(make: Make) -> Iterator[Convention]:
    """What PyTorch's kernels make of a factor where a size stays or doubles."""
    row = np.array([[[1.0, 3.0, 4.0]]])
    image, kept = make.put(row[None]), row[None]
    twice = np.repeat(kept, 2, -1)
    yield Convention("a size stays", call(image, scale_factor=1.1), value=kept)
    yield Convention("a size doubles", call(image, scale_factor=(1, 2.3)), value=twice)
    longer = call(make.put(np.ones((1, 1, 45))), scale_factor=1.4)
    yield Convention("45 times 1.4 is less than 63", longer, value=np.ones((1, 1, 62)))
    scaled = call(make.put(row), scale_factor=2.3)
    yield Convention("a single size doubles", scaled, value=[[[1, 1, 1, 3, 3, 4]]])
    for mode, x in (("linear", make.put(row)), ("bilinear", image)):
        stays = call(x, scale_factor=1.1, mode=mode)
        yield Convention(f"a size stays, {mode}", stays, value=np.asarray(x))
    smooth = call(image, scale_factor=1.1, mode="bicubic", antialias=True)
    yield Convention("a size stays, antialias", smooth, value=kept)
    bytes_ = call(make.put(kept, "uint8"), scale_factor=1.1, mode="bicubic")
    yield Convention("a size stays, bytes", bytes_, value=kept)


def departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "value",
        "where a size stays nothing is resampled; PyTorch adds its neighbour, infinite, times 0",
        call(make.put([[[1.0, 2.0, np.inf]]]), 3, mode="linear"),
        r"-?inf at \[.*PyTorch -?nan",
    )
    yield Departure(
        "refused",
        "PyTorch takes bools where the result is empty",
        call(make.mask(1, 1, 5), mode="area", scale_factor=1e-5),
        r"mode='area', scale_factor.*got bool",
    )


def nearest_and_factor_conventions(make: Make) -> Iterator[Convention]:
    yield from nearest_conventions(make)
    yield from factor_conventions(make)
    flat = call(make.put(np.ones((1, 1, 1, 5))), scale_factor=0.5, mode="area")
    yield Convention("no area", flat, value=np.zeros((1, 1, 0, 2)))


OPS = [
    OpInfo(
        F.interpolate,
        nearest_samples,
        reference=np_interpolate,
        refusals=interpolate_refusals,
        dtypes=("uint8", *FLOATS),
        tolerances=(WEIGHTED,),
        conventions=nearest_and_factor_conventions,
        departures=(departures,),
    ),
    *(
        OpInfo(
            F.interpolate,
            samples,
            reference=np_interpolate,
            variant=variant,
            dtypes=dtypes,
            tolerances=(WEIGHTED,),
        )
        for variant, samples, dtypes in (
            ("linear", linear_samples, FLOATS),
            ("bicubic", bicubic_samples, FLOATS),
            ("area", area_samples, FLOATS),
            ("antialias", antialias_samples, FLOATS),
            ("bytes", bytes_samples, ("uint8",)),
        )
    ),
    OpInfo(
        F.upsample,
        upsample_samples,
        reference=np_interpolate,
        refusals=one_size_refusals,
        dtypes=FLOATS,
        tolerances=(WEIGHTED,),
    ),
    OpInfo(
        F.upsample_nearest,
        block_samples,
        reference=np_interpolate,
        refusals=one_size_refusals,
        dtypes=("uint8", *FLOATS),
        tolerances=(WEIGHTED,),
    ),
    OpInfo(
        F.upsample_bilinear,
        plane_samples,
        reference=lambda *args, **kwargs: np_interpolate(
            *args, **kwargs, mode="bilinear", align_corners=True
        ),
        refusals=plane_refusals,
        dtypes=("uint8", *FLOATS),
        tolerances=(WEIGHTED,),
    ),
]

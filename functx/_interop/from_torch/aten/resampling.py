"""Padding, pooling and resampling under ATen's signatures."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jax import Array

from functx._core import OPERATORS


def reflected(input: Array, padding: Sequence[Any]) -> Array:
    """Padding with what is mirrored."""
    return OPERATORS["nn.functional.pad"](input, tuple(padding), "reflect")


def replicated(input: Array, padding: Sequence[Any]) -> Array:
    """Padding with what is at the edge."""
    return OPERATORS["nn.functional.pad"](input, tuple(padding), "replicate")


def circular(input: Array, pad: Sequence[Any]) -> Array:
    """Padding with what is at the other end."""
    return OPERATORS["nn.functional.pad"](input, tuple(pad), "circular")


def padded_by_number(
    input: Array, pad: Sequence[Any], mode: int, value: float | None = None
) -> Array:
    """Padding of a mode that has a number."""
    name = ("constant", "reflect", "replicate", "circular")[mode]
    return OPERATORS["nn.functional.pad"](input, tuple(pad), name, value)


def greatest_and_places(
    input: Array, kernel_size: Sequence[int], stride: Sequence[int] = (), **options: Any
) -> tuple[Array, Array]:
    """Max pooling, with the positions; the rank is that of the window."""
    operator = OPERATORS[f"nn.functional.max_pool{len(kernel_size)}d"]
    return operator(input, kernel_size, stride or None, **options, return_indices=True)


def greatest_alone(
    input: Array, kernel_size: Sequence[int], stride: Sequence[int] = (), **options: Any
) -> tuple[Array]:
    """Max pooling of which the positions are not used."""
    operator = OPERATORS[f"nn.functional.max_pool{len(kernel_size)}d"]
    return (operator(input, kernel_size, stride or None, **options),)


def adaptive_greatest(input: Array, output_size: Sequence[int]) -> tuple[Array, Array]:
    """Adaptive max pooling, with the positions."""
    operator = OPERATORS[f"nn.functional.adaptive_max_pool{len(output_size)}d"]
    return operator(input, tuple(output_size), True)


def adaptive_greatest_alone(input: Array, output_size: Sequence[int]) -> tuple[Array]:
    """Adaptive max pooling of which the positions are not used."""
    operator = OPERATORS[f"nn.functional.adaptive_max_pool{len(output_size)}d"]
    return (operator(input, tuple(output_size)),)


def adaptive_mean(input: Array, output_size: Sequence[int]) -> Array:
    """Adaptive average pooling."""
    operator = OPERATORS[f"nn.functional.adaptive_avg_pool{len(output_size)}d"]
    return operator(input, tuple(output_size))


def fractional(
    input: Array, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Array
) -> tuple[Array, Array]:
    """Fractional max pooling by given samples."""
    operator = OPERATORS[f"nn.functional.fractional_max_pool{len(kernel_size)}d"]
    return operator(
        input,
        tuple(kernel_size),
        tuple(output_size),
        return_indices=True,
        _random_samples=random_samples,
    )


def unpooled(
    input: Array,
    indices: Array,
    output_size: Sequence[int],
    stride: Any = None,
    padding: Any = None,
) -> Array:
    """The inverse of max pooling, into an array of zeros of this size."""
    rank = len(output_size)
    lead, spatial = input.shape[: input.ndim - rank], 1
    for n in output_size:
        spatial = spatial * n
    flat = OPERATORS["zeros"]((*lead, spatial), dtype=input.dtype)
    places, values = indices.reshape(*lead, -1), input.reshape(*lead, -1)
    return OPERATORS["scatter"](flat, -1, places, values).reshape(*lead, *output_size)


@dataclasses.dataclass(frozen=True)
class Resampled:
    """One of PyTorch's upsampling operators, of which each has two signatures."""

    mode: str
    antialias: bool = False

    def __call__(
        self,
        input: Array,
        output_size: Sequence[Any] | None = None,
        align_corners: bool | None = None,
        scale_factors: Sequence[float] | None = None,
        **scales: float | None,
    ) -> Array:
        """`input` in this size, or by these factors."""
        by = scale_factors
        if by is None and scales and all(scale is not None for scale in scales.values()):
            by = [scale for scale in scales.values() if scale is not None]
            # The scale decides where a point lies, the size how many there are: the scale alone
            # is enough where it gives that size.
            ours = [int(n * s) for n, s in zip(input.shape[2:], by, strict=True)]
            by = by if output_size is None or ours == list(output_size) else None
        given: dict[str, Any] = {"size": tuple(output_size or ())}
        if by is not None:
            given = {"scale_factor": tuple(by)}
        if "linear" in self.mode or self.mode == "bicubic":
            given["align_corners"] = bool(align_corners)
        operator = OPERATORS["nn.functional.interpolate"]
        return operator(input, mode=self.mode, antialias=self.antialias, **given)


nearest = Resampled("nearest")
nearest_exact = Resampled("nearest-exact")
linear = Resampled("linear")
bilinear = Resampled("bilinear")
bicubic = Resampled("bicubic")
trilinear = Resampled("trilinear")
bilinear_smooth = Resampled("bilinear", antialias=True)
bicubic_smooth = Resampled("bicubic", antialias=True)

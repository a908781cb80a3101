"""Where checks apply: to which entries, and in which of their dtypes."""

from __future__ import annotations

import jax.numpy as jnp

from functx._core import available, category
from functx.testing.opinfo import no_conventions, OpInfo

from . import forward, sharding, symbolic
from .extremal import compares_precisions
from .refusals import refusals
from .sizes import has_sizes
from .spelling import spelled_in_ways
from .storage import has_promoting_arrays
from .tails import has_tails


def always(info: OpInfo, dtype: str) -> bool:
    return True


def with_reference(info: OpInfo, dtype: str) -> bool:
    return info.reference is not None


def differentiable(info: OpInfo, dtype: str) -> bool:
    return info.differentiable and category(jnp.dtype(dtype)) >= 2


def in_double(info: OpInfo, dtype: str) -> bool:
    return differentiable(info, dtype) and dtype in ("float64", "complex128")


def with_limits(info: OpInfo, dtype: str) -> bool:
    """What is determined up to a choice has derivatives beside a point, and none where it jumps."""
    return info.gauge is None and in_double(info, dtype)


def declared_in_double(info: OpInfo, dtype: str) -> bool:
    """Of functions of yours, JAX has no such rules for all that they may call."""
    return info.spec is not None and in_double(info, dtype)


def in_double_or_yours(info: OpInfo, dtype: str) -> bool:
    """Eager code is one for all dtypes, of which a function of yours may take a few."""
    return in_double(info, dtype) or (info.spec is None and differentiable(info, dtype))


def in_one_dtype(info: OpInfo, dtype: str) -> bool:
    return dtype == forward.sample_dtype(info)


def refusing(info: OpInfo, dtype: str) -> bool:
    return in_one_dtype(info, dtype) and next(refusals(info), None) is not None


def declared(info: OpInfo, dtype: str) -> bool:
    return info.spec is not None and in_one_dtype(info, dtype)


def promoting(info: OpInfo, dtype: str) -> bool:
    return in_one_dtype(info, dtype) and has_promoting_arrays(info, dtype)


def moving(info: OpInfo) -> bool:
    return info.spec is not None and info.spec.takes_storage_dtypes


def counting_sizes(info: OpInfo) -> bool:
    """Whether sizes may depend on values: eager calls count them."""
    return info.spec is None or bool(info.spec.sizes_from_values)


def reading_values(info: OpInfo) -> bool:
    """Whether eager calls look at what arguments hold, where they lie in memory."""
    return counting_sizes(info) or (info.spec is not None and info.spec.requires is not None)


def spelled(info: OpInfo, dtype: str) -> bool:
    return spelled_in_ways(info) and in_one_dtype(info, dtype)


def with_sizes(info: OpInfo, dtype: str) -> bool:
    return has_sizes(info) and in_one_dtype(info, dtype)


def with_conventions(info: OpInfo, dtype: str) -> bool:
    return info.conventions is not no_conventions and in_one_dtype(info, dtype)


def in_64_bits(info: OpInfo, dtype: str) -> bool:
    """What was recorded from PyTorch has 64 bits."""
    return available("int64").name == "int64"


def in_two_precisions(info: OpInfo, dtype: str) -> bool:
    return compares_precisions(info, dtype) and in_64_bits(info, dtype)


def with_tails(info: OpInfo, dtype: str) -> bool:
    return has_tails(info, dtype) and in_64_bits(info, dtype)


def in_single(info: OpInfo, dtype: str) -> bool:
    return dtype == "float32"


def random(info: OpInfo, dtype: str) -> bool:
    return info.random


def with_moments(info: OpInfo, dtype: str) -> bool:
    return info.moments is not None


def sampled(info: OpInfo, dtype: str) -> bool:
    return info.sampler is not None


def taking_arrays(info: OpInfo, dtype: str) -> bool:
    return info.spec is None or len(info.spec.traced) > info.spec.random


def declared_taking_arrays(info: OpInfo, dtype: str) -> bool:
    return declared(info, dtype) and taking_arrays(info, dtype)


def declared_differentiable(info: OpInfo, dtype: str) -> bool:
    return declared(info, dtype) and differentiable(info, dtype)


def not_random_taking_arrays(info: OpInfo, dtype: str) -> bool:
    return not info.random and taking_arrays(info, dtype)


def with_devices(info: OpInfo, dtype: str) -> bool:
    here = in_one_dtype(info, dtype) and taking_arrays(info, dtype)
    return here and sharding.enough_devices()


# The quick profile looks at values in these dtypes, and at derivatives in double precision.
_VALUES = ("float32", "float64", "bfloat16", "complex64", "int64", "uint8", "bool")


def some_dtypes(info: OpInfo, dtype: str) -> bool:
    return dtype in _VALUES or in_one_dtype(info, dtype)


def double(info: OpInfo, dtype: str) -> bool:
    return dtype == ("float64" if "float64" in info.accepted else info.accepted[-1])


def one_half(info: OpInfo, dtype: str) -> bool:
    return dtype == ("bfloat16" if "bfloat16" in info.accepted else "float16")


def resizable(info: OpInfo, dtype: str) -> bool:
    return in_one_dtype(info, dtype) and symbolic.takes_sizes(info)


def never(info: OpInfo) -> bool:
    return False

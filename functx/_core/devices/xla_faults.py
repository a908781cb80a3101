"""A fault of XLA's that makes values wrong, and the flag that avoids it."""

from __future__ import annotations

import os
import warnings

import jaxlib

from functx._core.jax_compat import backends_are_initialized


_OPTION = "xla_cpu_experimental_ynn_fusion_type"
_FLAG = f"--{_OPTION}=-LIBRARY_FUSION_TYPE_REDUCE"


def avoid_wrong_reductions() -> None:
    """Keeps the XLA of jaxlib 0.10 for CPUs from programs whose sums are wrong.

    There `x - (w * x).sum(-1, keepdims=True)` is wrong from 2**15 elements on where `w` has fewer
    dimensions: XLA hands it to a library that mixes up the rows. Second derivatives of `softmax`
    are such programs, and so are many of users. From 0.11 on they are right. XLA reads its flags
    when a backend is started, so that this must come before; where it is too late, a warning says
    so. A user's own setting of the option is left alone.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if not (0, 10) <= jaxlib.version.__version_info__ < (0, 11) or _OPTION in flags:
        return
    os.environ["XLA_FLAGS"] = f"{flags} {_FLAG}".strip()
    if backends_are_initialized():
        warnings.warn(
            f"jaxlib {jaxlib.__version__} computes wrong sums on CPUs in some programs, and functx "
            "was imported too late to avoid it: import functx before the first array is made, set "
            f"XLA_FLAGS={_FLAG}, or install jaxlib 0.11 or later",
            stacklevel=2,
        )

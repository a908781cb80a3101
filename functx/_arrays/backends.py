"""What `torch.backends` sets of precision: attributes of objects, over JAX's settings and flags."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Literal, TypeAlias

import jax

from functx._core.context.user_contexts import convolution_precision
from functx._core.errors import describe, fail, require_bool
from functx._core.numbers.product_precision import precision_of_convolutions, SETTING

from .determinism import are_deterministic_algorithms_enabled, use_deterministic_algorithms
from .matmul_precision import get_float32_matmul_precision


Float32Precision: TypeAlias = Literal["ieee", "tf32", "none"]

_FULL = ("highest", "float32", "F32_F32_F32")
_IN_JAX = {"ieee": "highest", "tf32": "high", "none": None}


class Matmul:
    """Products of matrices, as in `torch.backends.cuda.matmul`; set for the whole process.

    >>> functx.backends.cuda.matmul.allow_tf32
    False
    """

    __slots__ = ()

    @property
    def allow_tf32(self) -> bool:
        """Whether float32 is multiplied in TF32 or less: the precision is not "highest"."""
        return get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        require_bool("backends.cuda.matmul", "allow_tf32", allowed)
        jax.config.update(SETTING, "high" if allowed else "highest")

    @property
    def fp32_precision(self) -> Float32Precision:
        """How float32 is multiplied: "ieee" is float32, "tf32" is TF32 or less."""
        return "tf32" if self.allow_tf32 else "ieee"

    @fp32_precision.setter
    def fp32_precision(self, precision: Float32Precision) -> None:
        jax.config.update(SETTING, _in_jax("backends.cuda.matmul", precision))

    @property
    def allow_fp16_reduced_precision_reduction(self) -> bool:
        """Whether products of float16 are added up in float16. XLA adds in float32: False."""
        return False

    @allow_fp16_reduced_precision_reduction.setter
    def allow_fp16_reduced_precision_reduction(self, allowed: bool) -> None:
        _adds_in_float32("fp16", "F16_F16_F16", allowed)

    @property
    def allow_bf16_reduced_precision_reduction(self) -> bool:
        """Whether products of bfloat16 are added up in bfloat16. XLA adds in float32: False."""
        return False

    @allow_bf16_reduced_precision_reduction.setter
    def allow_bf16_reduced_precision_reduction(self, allowed: bool) -> None:
        _adds_in_float32("bf16", "BF16_BF16_BF16", allowed)


class Cuda:
    """What concerns GPUs, as in `torch.backends.cuda`: `matmul`."""

    __slots__ = ()
    matmul = Matmul()


class Convolutions:
    """Convolutions, as in `torch.backends.cudnn.conv`.

    >>> with functx.backends.cudnn.flags(allow_tf32=False):
    ...     functx.backends.cudnn.conv.fp32_precision
    'ieee'
    """

    __slots__ = ()

    @property
    def fp32_precision(self) -> Float32Precision:
        """How images of float32 are convolved: "ieee" in float32, "tf32" in TF32 or less."""
        return "ieee" if precision_of_convolutions() in _FULL else "tf32"

    @fp32_precision.setter
    def fp32_precision(self, precision: Float32Precision) -> None:
        convolution_precision.set_global(_in_jax("backends.cudnn.conv", precision))


class Cudnn:
    """Convolutions, as in `torch.backends.cudnn`; set for the whole process, but for `flags`.

    >>> with functx.backends.cudnn.flags(allow_tf32=False):
    ...     functx.backends.cudnn.allow_tf32
    False
    """

    __slots__ = ()
    conv = Convolutions()

    @property
    def allow_tf32(self) -> bool:
        """Whether images of float32 are convolved in TF32, where a GPU has it: True, as in PyTorch.

        Unless it is set, JAX's own setting decides, where that is set.
        """
        return self.conv.fp32_precision == "tf32"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        require_bool("backends.cudnn", "allow_tf32", allowed)
        self.conv.fp32_precision = "tf32" if allowed else "ieee"

    @property
    def deterministic(self) -> bool:
        """Whether results are the same bits each time; `use_deterministic_algorithms` sets it."""
        return are_deterministic_algorithms_enabled()

    @deterministic.setter
    def deterministic(self, mode: bool) -> None:
        use_deterministic_algorithms(mode)

    @property
    def benchmark(self) -> bool:
        """Whether algorithms are chosen by trying them. XLA decides: setting it has no effect."""
        return not are_deterministic_algorithms_enabled()

    @benchmark.setter
    def benchmark(self, mode: bool) -> None:
        require_bool("backends.cudnn", "benchmark", mode)

    def flags(
        self,
        enabled: bool = True,
        benchmark: bool = False,
        deterministic: bool = False,
        allow_tf32: bool = True,
    ) -> AbstractContextManager[None]:
        """A region with another precision of convolutions.

        - `enabled`, `benchmark`: without effect; XLA decides.
        - `deterministic`: True is refused unless `use_deterministic_algorithms` is on, which is of
          the whole process.
        - `allow_tf32`: whether images of float32 may be convolved in TF32.

        Errors: TypeError for what is no bool, RuntimeError for `deterministic` where it is not so.
        """
        given = {"enabled": enabled, "benchmark": benchmark, "deterministic": deterministic}
        for name, value in {**given, "allow_tf32": allow_tf32}.items():
            require_bool("backends.cudnn.flags", name, value)
        if deterministic and not are_deterministic_algorithms_enabled():
            fail(
                "backends.cudnn.flags",
                "`deterministic` cannot be set for a region",
                hint="functx.use_deterministic_algorithms(True), before anything is computed",
            )
        return convolution_precision("high" if allow_tf32 else "highest")


cuda = Cuda()
cudnn = Cudnn()


def _in_jax(who: str, precision: Any) -> Any:
    if precision not in _IN_JAX:
        got = repr(precision) if isinstance(precision, str) else describe(precision)
        what = f"`fp32_precision` must be 'ieee', 'tf32' or 'none', got {got}"
        fail(who, what, error=ValueError)
    return _IN_JAX[precision]


def _adds_in_float32(dtype: str, algorithm: str, allowed: bool) -> None:
    name = f"allow_{dtype}_reduced_precision_reduction"
    require_bool("backends.cuda.matmul", name, allowed)
    if allowed:
        fail(
            "backends.cuda.matmul",
            f"`{name}` cannot be turned on: XLA adds up products of halves in float32",
            hint=f'with jax.default_matmul_precision("{algorithm}"): where a device has it',
        )

"""PyTorch's switches of the precision in which float32 matrices are multiplied, over JAX's."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Literal, TypeAlias

import jax

from functx._core.errors import describe, fail
from functx._core.numbers.product_precision import chosen_precision, products_in, SETTING


MatmulPrecision: TypeAlias = Literal["highest", "high", "medium"]

_IN_JAX = {"highest": "highest", "high": "high", "medium": "bfloat16"}
# JAX's names, and its algorithms by what they multiply in.
_IN_PYTORCH = {
    None: "highest",  # of operators
    "highest": "highest",
    "float32": "highest",
    "F32_F32_F32": "highest",
    "F64_F64_F64": "highest",
    "BF16_BF16_F32_X6": "highest",
    "BF16_BF16_F32_X9": "highest",
    "TF32_TF32_F32_X3": "highest",
    "high": "high",
    "tensorfloat32": "high",
    "TF32_TF32_F32": "high",
    "BF16_BF16_F32_X3": "high",
}


def get_float32_matmul_precision() -> str:
    """In what precision operators multiply matrices of float32 here: "highest", "high" or "medium".

    It is "highest" where neither functx nor JAX was told otherwise.

    >>> functx.get_float32_matmul_precision()
    'highest'
    """
    return _IN_PYTORCH.get(chosen_precision(), "medium")


def set_float32_matmul_precision(precision: MatmulPrecision) -> None:
    """Sets in what precision matrices of float32 are multiplied, for the whole process.

    - `precision`: "highest" is float32. "high" is TF32 on GPUs, three products of bfloat16 on TPUs.
      "medium" is the fastest that the device has: TF32 on GPUs, bfloat16 on TPUs. CPUs multiply in
      float32 in any case.

    It is JAX's setting `jax_default_matmul_precision`, which plain `jax.numpy` obeys too, and which
    is a part of the key of every compiled program. Without it, operators of functx multiply as
    "highest" says, and `jax.numpy` as the device does. Solvers and decompositions keep to float32.

    Errors: ValueError for another word.

    >>> functx.set_float32_matmul_precision("high")
    >>> functx.get_float32_matmul_precision()
    'high'
    >>> functx.set_float32_matmul_precision("highest")
    """
    jax.config.update(SETTING, _in_jax("set_float32_matmul_precision", precision))


def float32_matmul_precision(precision: MatmulPrecision) -> AbstractContextManager[None]:
    """A region with another precision of products of float32 matrices.

    - `precision`: "highest", "high" or "medium", as `set_float32_matmul_precision` takes them.

    Operators heed the region of their own thread and asyncio task. Plain `jax.numpy`, such as
    `x @ y`, obeys JAX's setting, which the region sets, too, and which tasks of one thread share:
    where several are in regions and await inside, it is that of the region entered last. Use
    `functx.matmul` there. `jax.default_matmul_precision` inside of the region goes before it, and
    takes the names of single algorithms, too.

    Errors: ValueError for another word.

    >>> with functx.float32_matmul_precision("medium"):
    ...     functx.get_float32_matmul_precision()
    'medium'
    """
    return products_in(_in_jax("float32_matmul_precision", precision))


def _in_jax(who: str, precision: Any) -> Any:
    if precision not in _IN_JAX:
        got = repr(precision) if isinstance(precision, str) else describe(precision)
        fail(
            who,
            f"`precision` must be 'highest', 'high' or 'medium', got {got}",
            hint="jax.default_matmul_precision takes JAX's own names",
            error=ValueError,
        )
    return _IN_JAX[precision]

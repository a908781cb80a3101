"""`to_torch`: a function of arrays as a function of PyTorch's tensors."""

from __future__ import annotations

import functools as ft
import sys
from collections.abc import Callable
from typing import Any

from functx._core import explain_unknown_keywords
from functx._interop.needing_torch import module_needing_torch
from functx._transforms.arguments import require_callable


@explain_unknown_keywords()
def to_torch(func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, a function of arrays, as a function of PyTorch's tensors.

    PyTorch differentiates the result as it does its own functions, to any order: `backward`,
    `torch.autograd.grad`, forward mode, and `grad`, `jvp`, `jacrev`, `hessian` and `vmap` of
    `torch.func`.

    - `func`: a function of functx or JAX that takes and returns trees of arrays. It is compiled as
      by `functx.jit`, once for each set of shapes, dtypes and static values.

    What it returns takes tensors where `func` takes arrays, by position and by name, alone or in
    dicts, lists, tuples and other trees, and returns tensors where `func` returns arrays. NumPy's
    and JAX's arrays are taken too, as constants. What is neither, such as a number, a string or
    None, is static: `func` sees it as it is, and another value is another program.

    Shapes and dtypes: those of `func`; tensors of integers and bools have no gradients. Memory is
    shared where DLPack can. Tensors of int64 become int32 while 64 bit is off.
    Errors: ImportError without PyTorch, TypeError for tensors of float64 and complex128 while 64
    bit is off and for arguments that are not hashable, OverflowError for integers that do not fit,
    and what `func` raises.

    >>> import torch
    >>> wave = functx.interop.to_torch(lambda x: functx.sin(x) * x)
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> wave(x).backward()
    >>> x.grad
    tensor(0.0770)
    """
    require_callable("to_torch", func)
    calling = module_needing_torch("to_torch", "functx._interop.to_torch.calling")
    function = calling.TensorFunction(func)

    def on_tensors(*args: Any, **kwargs: Any) -> Any:
        # PyTorch's compiler must call it as it is, between its graphs. To say so imports the
        # compiler, which takes seconds; so it is said once somebody else has imported it.
        if "torch._dynamo" in sys.modules:
            return function.beside_the_compiler()(*args, **kwargs)
        return function(*args, **kwargs)

    return ft.update_wrapper(on_tensors, func)

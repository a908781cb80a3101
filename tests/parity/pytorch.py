"""PyTorch's operator database, and how its inputs become functx's."""

import dataclasses
import operator
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

import functx
from functx._core import REGISTRY


NOT_HERE = {"requires_grad", "layout", "memory_format", "pin_memory", "out", "device", "generator"}
NAMES = set(REGISTRY) | {alias for spec in REGISTRY.values() for alias in spec.aliases}
# Entries whose results are no facts of the operator, and why.
NO_FACTS = {
    "as_strided.partial_views": "reads storage outside of a view, which arrays do not have",
    "empty": "holds whatever was in memory",
    "empty_like": "holds whatever was in memory",
    "linalg.pinv.singular": "a function of two matrices, of whose product the operator is taken",
    "linalg.lstsq.grad_oriented": "takes a driver third, and gives the solution alone",
    "new_empty": "holds whatever was in memory",
    "nn.functional.linear_cross_entropy.chunked": "is told how PyTorch is to spare memory",
    "nn.functional.linear_cross_entropy.chunked_none": "is told how PyTorch is to spare memory",
    "nn.functional.triplet_margin_with_distance_loss": "distances are functions of tensors",
    "pca_lowrank": "a function of two matrices, of whose product the operator is taken",
    "svd_lowrank": "a function of two matrices, of whose product the operator is taken",
}
ENTRIES = [entry for entry in op_db if entry.name in NAMES and entry.full_name not in NO_FACTS]
# Entries whose gradients PyTorch has wrong, and where.
WRONG_GRADIENTS = {
    "as_strided_scatter": "the only element of an array has a gradient though it is overwritten",
    "cholesky_inverse": "the triangle that is not read has a gradient",
    "cholesky_solve": "the triangle that is not read has a gradient",
    "linalg.pinv.hermitian": "the triangle that is not read takes part in it",
    "nn.functional.max_unpool1d": "an element that another overwrites has a gradient",
    "nn.functional.max_unpool2d": "an element that another overwrites has a gradient",
    "nn.functional.max_unpool3d": "an element that another overwrites has a gradient",
    "polar": "the slope in a negative absolute value has the wrong sign",
}
# Entries whose values PyTorch has wrong, in a dtype.
WRONG_VALUES = {("matrix_exp", "bfloat16"): "polynomials in half precision overflow"}

# Entries that PyTorch computes in halves, coordinates too, of which they hold few, or sums of
# products: its answer is that of single precision, as of its kernels for GPUs.
COARSE_HALVES = {
    "grid_sampler_2d",
    "grid_sampler_3d",
    "nn.functional.conv_transpose1d",
    "nn.functional.conv_transpose2d",
    "nn.functional.conv_transpose3d",
    "nn.functional.grid_sample",
}


def lookup(entry):
    """functx's operator of a PyTorch entry."""
    return operator.attrgetter(entry.name)(functx)


def to_functx(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        x = x.detach().resolve_conj().resolve_neg()
        if x.dtype == torch.bfloat16:
            return jnp.asarray(x.float().numpy(), jnp.bfloat16)
        return jnp.asarray(x.numpy())
    if isinstance(x, torch.dtype):
        return jnp.dtype(str(x).removeprefix("torch."))
    return tuple(x) if isinstance(x, torch.Size) else x


def to_numpy(x: Any) -> np.ndarray:
    if isinstance(x, torch.Tensor):
        x = x.detach().resolve_conj().resolve_neg()
        return x.float().numpy() if x.dtype == torch.bfloat16 else x.numpy()
    x = np.asarray(x)
    return x.astype(np.float32) if x.dtype == jnp.bfloat16 else x


def dtype_name(x: Any) -> str:
    return str(x.dtype).removeprefix("torch.")


@dataclasses.dataclass(frozen=True)
class Call:
    """One of PyTorch's inputs, split into the differentiable tensors and the rest."""

    entry: Any
    dtype: torch.dtype
    args: tuple
    kwargs: dict

    def torch(self) -> Any:
        return self.entry.op(*tree_map(detached, self.args), **tree_map(detached, self.kwargs))

    def split(self, convert, dtype=None) -> tuple[list, Any]:
        """Tensors of a dtype or the differentiable ones, and how to call with others for them."""
        leaves, tree = tree_flatten((self.args, self.kwargs))
        here = lambda x: x.requires_grad if dtype is None else x.dtype == dtype
        moved = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor) and here(x)]
        rest = [None if i in moved else convert(x) for i, x in enumerate(leaves)]

        def call(op, moving):
            full = list(rest)
            for i, x in zip(moved, moving, strict=True):
                full[i] = x
            args, kwargs = tree_unflatten(full, tree)
            return op(*args, **kwargs)

        return [leaves[i] for i in moved], call


def in_single(call: Call) -> list:
    """PyTorch's results of a call's halves as float32, rounded to halves."""
    leaves, tree = tree_flatten((call.args, call.kwargs))
    halves = (torch.float16, torch.bfloat16)
    narrow = [x.dtype for x in leaves if isinstance(x, torch.Tensor) and x.dtype in halves]
    wide = lambda x: x.float() if isinstance(x, torch.Tensor) and x.dtype in halves else x
    args, kwargs = tree_unflatten(list(map(wide, leaves)), tree)
    return [y.to(narrow[0]) for y in flat(call.entry.op(*args, **kwargs))]


def detached(x: Any) -> Any:
    return x.detach() if isinstance(x, torch.Tensor) else x


def flat(out: Any) -> list:
    """The arrays or tensors of an output, in order."""
    return tree_flatten(tuple(out) if hasattr(out, "_fields") else out)[0]


def calls(entry, name: str, most: int) -> Iterator[Call]:
    """At most `most` of PyTorch's inputs in a dtype, spread evenly."""
    dtype = getattr(torch, name)
    grad = entry.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    found = list(entry.sample_inputs("cpu", dtype, requires_grad=grad))
    if len(found) > most:
        found = [found[(2 * i + 1) * len(found) // (2 * most)] for i in range(most)]
    for sample in found:
        kwargs = {k: v for k, v in sample.kwargs.items() if k not in NOT_HERE}
        yield Call(entry, dtype, (sample.input, *sample.args), kwargs)


def assert_agrees(got: Any, want: Any, what: str, tolerance: dict[str, float]) -> None:
    want = torch.tensor(want) if isinstance(want, bool) else want
    assert dtype_name(got) == dtype_name(want), f"{what}: {dtype_name(got)}, PyTorch {want.dtype}"
    assert tuple(got.shape) == tuple(want.shape), f"{what}: {got.shape}, PyTorch {want.shape}"
    near = tolerance.get(dtype_name(want), 0)
    np.testing.assert_allclose(to_numpy(got), to_numpy(want), near, near, err_msg=what)

"""What PyTorch returns in an autocast region: dtypes, for CUDA too, where there is no GPU."""

import contextlib
import logging

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map

from functx._core import category
from functx.testing.dtype_facts import in_dtype

from .record_dtypes import dtype_of, forms


LOWER = {"cuda": "float16", "cpu": "bfloat16"}


@contextlib.contextmanager
def region(device, lower=None):
    """An autocast region; `torch.autocast("cuda")` turns itself off without a GPU."""
    before = torch.get_autocast_dtype(device)
    torch.set_autocast_enabled(device, True)
    torch.set_autocast_dtype(device, getattr(torch, lower or LOWER[device]))
    try:
        yield
    finally:
        torch.set_autocast_enabled(device, False)
        torch.set_autocast_dtype(device, before)
        torch.clear_autocast_cache()


def in_float(sample, dtype, only=None):
    """`sample` with its floating arrays, or those in the places `only`, in another dtype."""
    arrays = sample.arrays()
    chosen = lambda i, x: category(x.dtype) == 2 and (only is None or i in only)
    return sample.with_arrays(
        [in_dtype(x, dtype) if chosen(i, x) else x for i, x in enumerate(arrays)]
    )


def answer(info, sample, device):
    """The dtypes of PyTorch's results of a sample in a region, or None where it cannot say."""
    for op, args, kwargs in forms(info, sample, "cpu"):
        with contextlib.suppress(TypeError), quiet():
            return called(op, args, kwargs, device)
    return None


def called(op, args, kwargs, device):
    """The dtypes of PyTorch's results of one call in a region."""
    mode = FakeTensorMode() if device == "cuda" else contextlib.nullcontext()
    with mode, torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
        if device == "cuda":
            args, kwargs = tree_map(moved, (tuple(args), kwargs))
        with region(device):
            out = op(*args, **kwargs)
        return [dtype_of(y) for y in tree_leaves(out)]


def moved(x):
    """A tensor that is on a GPU as far as dtypes tell."""
    return torch.empty(x.shape, dtype=x.dtype, device="cuda") if isinstance(x, torch.Tensor) else x


@contextlib.contextmanager
def quiet():
    """PyTorch logs what it refuses of tensors without values."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)

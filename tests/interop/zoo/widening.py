"""What a model casts to float32 by itself, and what PyTorch does, computed in double."""

import contextlib

import torch
from torch.overrides import TorchFunctionMode


class _Wide(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        elif func is torch.nn.functional.hardsigmoid:  # its slope is 1/6 in single precision
            func = _hardsigmoid
        named = {name: _wide(x) for name, x in (kwargs or {}).items()}
        return func(*map(_wide, args), **named)


def _hardsigmoid(input, inplace=False):
    return torch.nn.functional.relu6(input + 3) / 6


def _wide(x):
    return torch.float64 if x is torch.float32 else x


@contextlib.contextmanager
def widened():
    """Casts to float32, and tensors that are made without a dtype, are of float64 in the block.

    It holds for calls of PyTorch and for exports, so that both sides compute the same.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _Wide():
            yield
    finally:
        torch.set_default_dtype(before)


def casts_to_float32(model):
    """The lines of a model from which its imported programs cast to float32."""
    steps = [step for each in model._forwards.values() for step in each.program.steps]
    casting = [step for step in steps if "float32" in (*step.args, *dict(step.kwargs).values())]
    return list(dict.fromkeys(step.written.rpartition("/")[2] for step in casting))

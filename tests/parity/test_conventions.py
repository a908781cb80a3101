"""The conventions on the entries are PyTorch's own: values, and gradients in reverse mode.

Those that depart from PyTorch say why, and are found to depart.
"""

import contextlib

import numpy as np
import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

from torch.utils._pytree import tree_leaves

from functx.testing import op_db
from functx.testing.checks.conventions import convention_dtype

from .record_dtypes import forms, pytorchs


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's, of its own operators

STATED = [
    (info, convention)
    for info in op_db
    if info.spec is not None and pytorchs(info) is not None and not info.random
    for convention in info.conventions(info.make(convention_dtype(info)))
]


@pytest.mark.parametrize("info, stated", STATED, ids=[f"{i.id}-{c.what}" for i, c in STATED])
def test_convention(info, stated):
    try:
        wrong = list(differences(info, stated))
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        wrong = [f"PyTorch refuses: {error}"]
    if stated.departure:
        assert wrong, f"PyTorch has it so too: drop the departure ({stated.departure})"
    elif not stated.refused:
        assert not wrong, "; ".join(wrong)


def differences(info, stated):
    tensors, out = called(info, stated.sample)
    if stated.value is not None:
        arrays = [y for y in tree_leaves(out) if y is not None]
        for got, want in zip(arrays, several(stated.value), strict=True):
            if want is not None and not alike(got, want):
                yield f"value {got.tolist()}, stated {np.asarray(want).tolist()}"
    through = out if stated.through is None else stated.through(out)
    total = sum(y.sum() for y in tree_leaves(through) if is_tensor(y) and y.is_floating_point())
    if stated.gradient is not None and "reverse" in stated.modes:
        for got, want in zip(
            gradients(total, tensors, retain_graph=True), several(stated.gradient), strict=True
        ):
            if want is not None and not alike(got, want):
                yield f"gradient {got.tolist()}, stated {np.asarray(want).tolist()}"
    if stated.hessian is not None:
        slopes = torch.cat([g.ravel() for g in gradients(total, tensors, create_graph=True)])
        rows = [
            torch.cat([h.ravel() for h in gradients(g, tensors, retain_graph=True)]) for g in slopes
        ]
        got, want = torch.stack(rows), np.reshape(stated.hessian, (len(rows), len(rows)))
        if not alike(got, want):
            yield f"hessian {got.tolist()}, stated {want.tolist()}"


def several(x):
    return x if isinstance(x, tuple) else (x,)


def called(info, sample):
    """The differentiable tensors of a call, in the order of the sample's arrays, and the result."""
    for op, args, kwargs in forms(info, sample):
        tensors = [x for x in tree_leaves((args, dict(sorted(kwargs.items())))) if is_tensor(x)]
        moving = [x.requires_grad_() for x in tensors if x.is_floating_point() or x.is_complex()]
        with contextlib.suppress(TypeError):
            return moving, op(*args, **kwargs)
    raise TypeError("in no form")


def is_tensor(x):
    return isinstance(x, torch.Tensor)


def gradients(total, tensors, **options):
    if not total.requires_grad:
        return [torch.zeros_like(x) for x in tensors]
    return torch.autograd.grad(total, tensors, materialize_grads=True, allow_unused=True, **options)


def alike(got, want):
    near = 2e-2 if got.dtype == torch.bfloat16 else 1e-6
    got = got.detach().resolve_conj()
    got = got.double().numpy() if got.dtype == torch.bfloat16 else got.numpy()
    want = np.asarray(want).astype(got.dtype)
    return got.shape == want.shape and np.allclose(got, want, near, 1e-9, equal_nan=True)

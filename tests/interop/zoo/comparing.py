"""Results of both sides: what of them counts, its sum with weights, and errors."""

import jax.numpy as jnp
import numpy as np
import torch


NEAR = 1e-12  # beyond, what a model casts to float32 is looked for


def floating(tree):
    """The floating arrays or tensors of a result, with dicts in the order of their keys."""
    if hasattr(tree, "dtype"):
        dtype = str(tree.dtype).removeprefix("torch.")
        return [tree] if jnp.issubdtype(dtype, jnp.inexact) else []
    if hasattr(tree, "keys"):
        return [x for key in sorted(tree.keys()) for x in floating(tree[key])]
    return [x for each in tree for x in floating(each)] if isinstance(tree, (list, tuple)) else []


def objective(tree):
    """The sum of what floats in a result, of arrays or tensors, with random weights."""
    total = 0.0
    for at, x in enumerate(floating(tree)):
        drawn = weights(at, x)
        drawn = torch.from_numpy(drawn) if isinstance(x, torch.Tensor) else drawn
        total = total + (x * drawn).sum()
    return total


def weights(at, x):
    """What the entries of an array or tensor of a result count for."""
    return np.random.default_rng(at).standard_normal(tuple(x.shape))


def error(got, want):
    """The greatest difference of lists of arrays, relative to the greatest entry."""
    double = lambda x: np.asarray(x, np.result_type(x, np.float64))  # of bools and integers too
    pairs = list(zip(map(double, got), map(double, want), strict=True))
    assert all(a.shape == b.shape for a, b in pairs)
    differences = [np.abs(a - b).max() for a, b in pairs if a.size]
    greatest = np.max([np.abs(b).max() for _, b in pairs if b.size], initial=1e-300)
    return float(np.max(differences, initial=0.0) / greatest)


def errors_of_each(got, want):
    """The greatest of the errors of pairs of arrays."""
    return max((error([a], [b]) for a, b in zip(got, want, strict=True)), default=0.0)


def numbers(tensors):
    """NumPy's arrays of tensors."""
    return [x.detach().numpy() for x in tensors]


def slopes(value, tensors, **options):
    """PyTorch's gradients, zeros where there is no path."""
    tensors = list(tensors)
    return torch.autograd.grad(value, tensors, allow_unused=True, materialize_grads=True, **options)


def first_line(refusal):
    """An exception in a line."""
    return f"{type(refusal).__name__}: {str(refusal).strip().partition(chr(10))[0]}"[:300]

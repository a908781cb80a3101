"""PyTorch's results as trees of arrays, and its gradients by names."""

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.utils._pytree import tree_map


def arrays(tree):
    """The same tree with NumPy's arrays for tensors; PyTorch's named results are tuples."""
    return tree_map(lambda x: _array(x) if isinstance(x, torch.Tensor) else x, plain(tree))


def plain(tree):
    """The same tree with tuples for PyTorch's named results, which JAX takes for leaves."""
    named = lambda x: type(x).__module__.startswith("torch.return_types")
    return jax.tree.map(lambda x: tuple(x) if named(x) else x, tree, is_leaf=named)


def inputs(tree):
    """The same tree with JAX's arrays for tensors."""
    return jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, np.ndarray) else x, arrays(tree))


def _array(x):
    x = x.detach().resolve_conj()
    return x.float().numpy() if x.dtype == torch.bfloat16 else x.numpy()


def assert_same(got, want, tolerance=1e-12):
    """Holds trees against each other: structure, shapes, dtypes and values."""
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), tolerance, tolerance)


def is_inexact(x):
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.inexact)


def weighted(tree):
    """A sum of all inexact arrays and tensors of a tree, each with weights of its own."""
    total = 0.0
    leaves = jax.tree.leaves(plain(tree))
    for at, x in enumerate(leaves):
        floating = x.is_floating_point() if isinstance(x, torch.Tensor) else is_inexact(x)
        if floating:
            weights = np.cos(np.arange(int(np.prod(x.shape))) + at).reshape(tuple(x.shape))
            if isinstance(x, torch.Tensor):
                total = total + (x * torch.tensor(weights)).sum()
            else:
                total = total + jnp.sum(x * weights)
    return total


def torch_gradients(module, args, kwargs):
    """The gradients of `weighted` by all parameters, by the first of their names."""
    named = {name: p for name, p in module.named_parameters() if p.requires_grad}
    out = module(*args, **kwargs)
    found = torch.autograd.grad(weighted(out), list(named.values()), allow_unused=True)
    pairs = zip(named.items(), found, strict=True)
    return {n: np.zeros(p.shape) if g is None else g.numpy() for (n, p), g in pairs}

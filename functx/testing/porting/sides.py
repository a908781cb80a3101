"""The arguments, and results, of one call on both sides: tensors of PyTorch's, arrays of JAX's."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import available, describe, fail
from functx.testing.opchecking.target import is_inexact, Target, target_of


Torch: TypeAlias = Any
_TREES = (tuple, list)


def pytorch(who: str) -> Torch:
    """The `torch` module, which nothing else in functx needs."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        fail(
            who,
            "PyTorch, which holds the original, is not installed",
            hint="pip install torch; functx itself does not need it",
            error=ImportError,
        )


@dataclasses.dataclass(frozen=True, eq=False)
class BothFunctions:
    """Both functions, as functions of the arrays in the call; `target` is functx's."""

    torch: Torch
    f_torch: Callable[..., Any]
    target: Target

    @property
    def moving(self) -> list[int]:
        """The numbers of the arrays that are differentiated."""
        return [i for i, x in enumerate(self.target.arrays) if is_inexact(x)]

    def tensors(self) -> list[Any]:
        """The arrays as PyTorch's tensors."""
        return [as_tensor(self.torch, x) for x in self.target.arrays]

    def original(self, tensors: Sequence[Any]) -> list[Any]:
        """The tensors in what PyTorch's function returns."""
        given = iter(tensors)
        leaves = [
            next(given) if i in self.target.slots else self._theirs(x)
            for i, x in enumerate(self.target.leaves)
        ]
        args, kwargs = self.target.tree.unflatten(leaves)
        return tensors_in(self.torch, self.f_torch(*args, **kwargs))

    def _theirs(self, x: Any) -> Any:
        if isinstance(x, np.generic):
            return x.item()
        is_dtype = isinstance(x, (np.dtype, type(jnp.float32)))
        is_dtype = is_dtype or (isinstance(x, type) and issubclass(x, np.generic))
        return getattr(self.torch, jnp.dtype(x).name) if is_dtype else x


def sides_of(
    who: str, f_torch: Any, f_functx: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> BothFunctions:
    """Both sides of a call; tensors among the arguments become arrays first."""
    torch = pytorch(who)
    for name, f in (("f_torch", f_torch), ("f_functx", f_functx)):
        if not callable(f):
            fail(who, f"`{name}` must be callable, got {describe(f)}", error=TypeError)
    plain = lambda x: as_numpy(torch, x) if isinstance(x, torch.Tensor) else x
    args, named = jax.tree.map(plain, (args, dict(kwargs)))
    target = target_of(who, f_functx, args, named, None)
    ours = lambda *args, **kwargs: _by_key(f_functx(*args, **kwargs))
    return BothFunctions(torch, f_torch, dataclasses.replace(target, func=ours))


def _by_key(tree: Any) -> Any:
    """A tree with plain dicts for mappings of any kind: of these JAX has the leaves by key."""
    is_mapping = lambda x: isinstance(x, Mapping)
    plain = lambda x: {k: _by_key(x[k]) for k in x} if is_mapping(x) else x
    return jax.tree.map(plain, tree, is_leaf=is_mapping)


def as_tensor(torch: Torch, x: Any) -> Any:
    """An array as a tensor of its own. Where 32 bits stand for 64, integers have 64."""
    values = np.array(x)
    if values.dtype == jnp.bfloat16:
        return torch.from_numpy(values.astype(np.float32)).to(torch.bfloat16)
    if values.dtype == np.int32 and available("int64") == np.int32:
        values = values.astype(np.int64)
    return torch.from_numpy(values)


def as_numpy(torch: Torch, x: Any) -> np.ndarray:
    """A tensor's values, in its dtype."""
    x = x.detach().cpu().resolve_conj().resolve_neg()
    if x.dtype == torch.bfloat16:
        return x.float().numpy().astype(jnp.bfloat16)
    return np.array(x.numpy())


def as_ours(torch: Torch, x: Any) -> np.ndarray:
    """A tensor's values, in the dtype that functx has for its own: 32 bits where 64 are off."""
    values = as_numpy(torch, x)
    return values.astype(available(values.dtype))


def tensors_in(torch: Torch, tree: Any) -> list[Any]:
    """The tensors of tuples, lists and dicts, in the order in which JAX has their leaves."""
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, Mapping):
        return [x for key in sorted(tree) for x in tensors_in(torch, tree[key])]
    return [x for y in tree for x in tensors_in(torch, y)] if isinstance(tree, _TREES) else []

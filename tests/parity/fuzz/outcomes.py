"""What comes of a call: in functx, in PyTorch, and in PyTorch's double precision."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from functx._core import category
from functx.testing import OpInfo
from functx.testing.dtype_facts import annotated, dtype_named, not_pytorchs

from ..record_dtypes import pytorchs, to_torch
from .draws import Call


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The arrays that a call gave, or its error."""

    arrays: tuple[Any, ...] = ()
    error: Exception | None = None
    whole: Any = None  # the arrays as they came: alone, in a tuple, named

    @property
    def single(self) -> bool:
        return not isinstance(self.whole, (tuple, list))


def by_functx(call: Call, *, key: Any) -> Outcome:
    """Eagerly, as users call it."""
    info = call.info
    op = info.with_key(key) if info.spec.random else info.op
    try:
        sample = call.sample
        out = op(*sample.args, **sample.kwargs)
        leaves = tuple(jax.block_until_ready(jax.tree.leaves(out)))
        return Outcome(leaves, whole=out)
    except Exception as error:
        return Outcome(error=error)


def by_pytorch(call: Call) -> Outcome:
    """In the first form of the call that PyTorch parses."""
    objections: list[Exception] = []
    for op, args, kwargs in forms(call):
        try:
            out = op(*args, **kwargs)
        except TypeError as error:
            objections.append(error)
        except Exception as error:
            return Outcome(error=error)
        else:
            return Outcome(tuple(x for x in tree_leaves(out) if x is not None), whole=out)
    return Outcome(error=objections[0])


def forms(call: Call) -> Iterator[tuple[Any, list[Any], dict[str, Any]]]:
    """A call in PyTorch's terms: as written, all by position, by keywords, underneath."""
    info = call.info
    assert info.spec is not None
    op, named, hidden = pytorchs(info), annotated(info, "DType"), not_pytorchs(info)
    kwargs = {k: v for k, v in call.kwargs.items() if k not in hidden}
    found = [(op, call.args, kwargs)]
    try:
        given = info.spec.arguments(call.args, kwargs)
    except Exception:
        given = None
    if given is not None:
        given = {k: v for k, v in given.items() if k not in hidden}
        bound = inspect.BoundArguments(info.spec.signature, given)
        found.append((op, bound.args, bound.kwargs))
        several = annotated(info, "Shape") + annotated(info, "Dims")
        several = {k: (v,) for k in several if isinstance(v := given.get(k), int)}
        found.append((op, (), given | several))
        plain = {k: v for k, v in given.items() if v is not info.spec.parameters.defaults.get(k)}
        if len(plain) < len(given):
            found.append((op, (), plain))
            found.append((op, *_first_by_position(info, plain)))
    if any(x is None for item in call.args if isinstance(item, (list, tuple)) for x in item):
        inner = getattr(torch.ops.aten, info.name.rpartition(".")[2], op)
        found += [(inner, args, kwargs) for _, args, kwargs in found]
    for target, args, kwargs in found:
        dtypes = {k: _dtype(kwargs[k]) for k in named if kwargs.get(k) is not None}
        yield (
            target,
            [_named(x) for x in args],
            {k: to_torch(v, "cpu") for k, v in kwargs.items()} | dtypes,
        )


def _first_by_position(info: OpInfo, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    args, kwargs = [], dict(given)
    for name in info.spec.parameters.positional:
        if name not in kwargs or len(args) == 2:
            break
        args.append(kwargs.pop(name))
    return args, kwargs


def _named(x: Any) -> Any:
    return (
        to_torch(x, "cpu")
        if isinstance(x, (np.ndarray, list, tuple))
        else (
            _dtype(x)
            if not isinstance(x, (str, bool, int, float, complex)) and dtype_named(x)
            else x
        )
    )


def _dtype(x: Any) -> Any:
    named = dtype_named(x)
    return x if named is None else getattr(torch, named)


_DOUBLE = {2: np.dtype(np.float64), 3: np.dtype(np.complex128)}


def doubled(call: Call) -> Call | None:
    """The call in double precision, or None where it is already, or says what dtype it has."""
    if all(_wide(x) is x for x in call.arrays) or any(
        dtype_named(x) and not isinstance(x, np.ndarray)
        for x in jax.tree.leaves((call.args, call.kwargs))
    ):
        return None
    args, kwargs = jax.tree.map(_wide, (call.args, call.kwargs), is_leaf=lambda x: x is None)
    return dataclasses.replace(call, args=args, kwargs=kwargs)


def _wide(x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return x
    dtype = _DOUBLE.get(category(jnp.dtype(x.dtype)), x.dtype)
    return x if dtype == x.dtype else x.astype(dtype)


def as_numpy(x: Any) -> np.ndarray:
    """A tensor or an array; of bfloat16, NumPy's own float32."""
    if isinstance(x, torch.Tensor):
        x = x.detach().resolve_conj().resolve_neg()
        if x.dtype == torch.bfloat16:
            return x.float().numpy()
        return (x.to(torch.complex64) if x.dtype == torch.complex32 else x).numpy()
    x = np.asarray(x)
    return x.astype(np.float32) if x.dtype == jnp.bfloat16 else x


def dtype_of(x: Any) -> str:
    """Of PyTorch's dtypes that XLA lacks, the one that functx has in its place."""
    name = str(getattr(x, "dtype", type(x).__name__)).removeprefix("torch.")
    return {"complex32": "complex64"}.get(name, name)

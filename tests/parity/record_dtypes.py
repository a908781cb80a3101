"""Records PyTorch's result dtypes: `python -m tests.parity.record_dtypes [OPERATOR ...]`.

One file beside each file of the database, read by `functx.testing.dtype_facts`.
"""

import contextlib
import functools as ft
import importlib
import inspect
import json
import operator
import pkgutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from functx._core import Promote
from functx.testing import ALL_DTYPES, opdb, OpInfo, Sample
from functx.testing.dtype_facts import (
    annotated,
    answer,
    cases,
    dtype_named,
    DtypeCase,
    in_dtype,
    INFERRED,
    not_pytorchs,
    OR,
    PROMOTED,
    promoting,
    REFUSED,
    SUFFIX,
    UNASKED,
)


Answer = tuple[str, str, str, str]  # key, key with integers, dtype, PyTorch's answer


def families() -> Iterator[tuple[Path, list[OpInfo]]]:
    """The database's files, and those of their entries that declared operators stand behind."""
    for module in pkgutil.walk_packages(opdb.__path__, f"{opdb.__name__}."):
        found = importlib.import_module(module.name)
        infos = [info for info in getattr(found, "OPS", ()) if info.spec is not None]
        if infos:
            yield Path(found.__file__).with_suffix(SUFFIX), infos


def pytorchs(info: OpInfo) -> Any:
    """PyTorch's operator of an entry, or None.

    A method or a property, where it is no function, or the operator underneath.
    """
    with contextlib.suppress(AttributeError):
        return operator.attrgetter(info.name)(torch)
    found = getattr(torch.Tensor, info.name, None) or getattr(torch.ops.aten, info.name, None)
    return found.__get__ if inspect.isgetsetdescriptor(found) else found


def table(infos: Iterable[OpInfo]) -> dict[str, dict[str, str]]:
    """By operator and case, a row of answers. Integers are told apart where that matters."""
    found: dict[str, list[Answer]] = {}
    for info in infos:
        if pytorchs(info) is not None:
            found.setdefault(info.name, []).extend(record(info))
    return {name: dict(sorted(rows(answers).items())) for name, answers in found.items()}


def record(info: OpInfo, dtypes: Iterable[str] | None = None) -> Iterator[Answer]:
    """PyTorch's answer to each of an entry's cases."""
    for dtype in info.accepted if dtypes is None else dtypes:
        for case in cases(info, dtype):
            keys = [case.key(info, dtype, values=values) for values in (False, True)]
            yield *keys, dtype, asked(info, case)


def rows(answers: list[Answer], told_apart: Set[str] = frozenset()) -> dict[str, str]:
    """The answers of each kind of call in all dtypes.

    By values, too, where an answer depends on them, and of the kinds `told_apart`.
    """
    coarse: dict[str, dict[str, str]] = {}
    for key, _, dtype, got in answers:
        merge(coarse.setdefault(key, {}), dtype, got)
    split = {key for key, row in coarse.items() if any(OR in got for got in row.values())}
    split |= told_apart
    whole = {key: row for key, row in coarse.items() if key not in split}
    for key, with_values, dtype, got in answers:
        if key in split:
            merge(whole.setdefault(with_values, {}), dtype, got)
    return {
        key: " ".join(row.get(dtype, UNASKED) for dtype in ALL_DTYPES) for key, row in whole.items()
    }


def merge(row: dict[str, str], dtype: str, got: str) -> None:
    """Enters an answer; of two that differ by what PyTorch could run, the better one stays."""
    old = row.setdefault(dtype, got)
    if bare(old) != bare(got) and REFUSED not in (old, got):
        row[dtype] = OR.join(sorted({*old.split(OR), got}))
    elif rank(got) > rank(old):
        row[dtype] = got


def asked(info: OpInfo, case: DtypeCase) -> str:
    """PyTorch's answer to one case, as the table writes it."""
    itself = lambda info, case: case.sample
    attempts = [("", itself, "cpu"), (INFERRED, itself, "meta")]
    if case.plain is not None and info.spec.promote is not Promote.NONE:
        attempts += [(PROMOTED, promoted, "cpu"), (PROMOTED, promoted, "meta")]
    for mark, sample, device in attempts:
        with contextlib.suppress(Exception):  # PyTorch refuses in many ways, assertions included
            return mark + called(info, sample(info, case), device)
    return REFUSED


def promoted(info: OpInfo, case: DtypeCase) -> Sample:
    """A mixture with its arrays already in the dtype that PyTorch's promotion gives them."""
    where = promoting(info, case.plain)
    operands = [tensor(x) if hasattr(x, "dtype") else x for x in case.operands]
    dtype = str(ft.reduce(result_type, sorted(operands, key=standing))).removeprefix("torch.")
    arrays = case.plain.arrays()
    dtype = "complex64" if dtype == "complex32" else dtype  # NumPy has none
    cast = [in_dtype(x, dtype) if i in where else x for i, x in enumerate(arrays)]
    return case.plain.with_arrays(cast)


def standing(x: Any) -> int:
    """Arrays with dimensions first, then 0-d ones, then numbers."""
    return 2 if not isinstance(x, torch.Tensor) else int(x.ndim == 0)


def result_type(x: Any, y: Any) -> torch.dtype:
    """PyTorch's promotion of a result so far and one more operand, of no higher standing."""
    return torch.result_type(torch.empty(1, dtype=x) if isinstance(x, torch.dtype) else x, y)


def called(info: OpInfo, sample: Sample, device: str) -> str:
    """The dtypes of PyTorch's outputs.

    oneDNN is off: which mixtures of dtypes it refuses depends on what the processor can compute.
    """
    for op, args, kwargs in forms(info, sample, device):
        with contextlib.suppress(TypeError), torch.backends.mkldnn.flags(enabled=False):
            out = op(*args, **kwargs)
            return answer(map(dtype_of, tree_leaves(out)))
    raise TypeError("in no form")


def dtype_of(y: Any) -> str:
    """That of a tensor, or of a bool that PyTorch returns in place of one."""
    return "bool" if isinstance(y, bool) else str(y.dtype).removeprefix("torch.")


def forms(info: OpInfo, sample: Sample, device: str = "cpu") -> Iterator[tuple[Any, list, dict]]:
    """A call in PyTorch's terms: as it is written, by keywords, to the operator underneath.

    That one takes None among tensors, and also bools for ints, which PyTorch's functions refuse.
    """
    op, dtypes = pytorchs(info), annotated(info, "DType")
    found = [(op, as_written), (op, by_keywords)]
    if any(x is None for x in tree_leaves(sample.args)):
        found += [(getattr(torch.ops.aten, info.name.rpartition(".")[2], None), as_written)]
    if any(map(dtype_named, sample.args)):  # elsewhere than PyTorch's function may have it
        found = [*found[1:], found[0]]
    for call, form in found:
        args, kwargs = form(info, sample)
        named = {k: kwargs[k] for k in dtypes if kwargs.get(k) is not None}
        kwargs = {k: to_torch(v, device) for k, v in kwargs.items()}
        kwargs |= {k: getattr(torch, dtype_named(v)) for k, v in named.items()}
        yield call, [to_torch(x, device) for x in args], kwargs


def as_written(info: OpInfo, sample: Sample) -> tuple[tuple, dict[str, Any]]:
    return sample.args, {k: v for k, v in sample.kwargs.items() if k not in not_pytorchs(info)}


def by_keywords(info: OpInfo, sample: Sample) -> tuple[tuple, dict[str, Any]]:
    """With sizes and dimensions as tuples, and nothing that PyTorch does not have."""
    given = info.spec.arguments(sample.args, sample.kwargs)
    given = {k: v for k, v in given.items() if k not in not_pytorchs(info)}
    several = annotated(info, "Shape") + annotated(info, "Dims")
    return (), given | {k: (v,) for k in several if isinstance(v := given.get(k), int)}


def to_torch(x: Any, device: str) -> Any:
    if isinstance(x, (jax.Array, np.ndarray)):
        return tensor(x).to(device)
    if isinstance(x, (list, tuple)):
        return type(x)(to_torch(item, device) for item in x)
    named = dtype_named(x)
    return getattr(torch, named) if named is not None and not isinstance(x, str) else x


def tensor(x: Any) -> torch.Tensor:
    if x.dtype == jnp.bfloat16:
        return torch.from_numpy(np.asarray(x).astype(np.float32)).bfloat16()
    found = torch.from_numpy(np.array(x))
    return torch.empty(found.shape, dtype=found.dtype).copy_(
        found
    )  # NumPy's empty ones stride by 0


_ORDER = (REFUSED, PROMOTED, INFERRED)


def bare(got: str) -> str:
    return got.lstrip(INFERRED + PROMOTED)


def rank(got: str) -> int:
    return _ORDER.index(got[0]) if got[0] in _ORDER else len(_ORDER)


def main(names: list[str]) -> None:
    """Records the operators named, or all of them."""
    for path, infos in families():
        if names and not {info.name for info in infos} & set(names):
            continue
        path.write_text(json.dumps(table(infos), indent=1) + "\n")


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_numpy_dtype_promotion", "standard")
    warnings.simplefilter("ignore")
    main(sys.argv[1:])

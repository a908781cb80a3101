"""Result dtypes as facts: PyTorch's, recorded per kind of call beside the database's files.

A case is a call without its values and shapes, such as `(*, i64[], alpha=int)`: `*` is the dtype
that a sample was drawn in, and brackets mark a 0-d array. For every case a row has one
answer for each of `ALL_DTYPES`: the outputs' dtypes joined by `+`, runs of the same one once.

- `f32`: PyTorch answers so.
- `~f32`: PyTorch has no CPU kernel, and its inference of shapes answers so.
- `^f32`: PyTorch refuses to mix, and answers so after its own promotion of the arguments.
- `f32/i64`: it depends on shapes.
- `-`: PyTorch refuses. `.`: nobody asked.

`python -m tests.parity.record_dtypes [OPERATOR ...]` records them.
"""

from __future__ import annotations

import dataclasses
import functools as ft
import importlib.resources
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import category, Promote

from .dtypes import ALL_DTYPES
from .opinfo import OpInfo, Sample


CODES = {
    **{name: name.replace("uint", "u").replace("int", "i") for name in ALL_DTYPES},
    **{f"float{n}": f"f{n}" for n in (16, 32, 64)},
    **{f"complex{n}": f"c{n}" for n in (32, 64, 128)},
    "bfloat16": "bf16",
}
REFUSED, UNASKED, INFERRED, PROMOTED, OR = "-", ".", "~", "^", "/"
SUFFIX = ".dtypes.json"

# What a promoting array is replaced by in mixtures: of each kind, and narrow against wide.
OTHERS = ("bool", "uint8", "int64", "float16", "bfloat16", "float64", "complex64")
SCALAR_OTHERS = ("int64", "float64", "complex64")
NUMBERS = (True, 2, 2.5, 2j)


@dataclasses.dataclass(frozen=True)
class DtypeCase:
    """A call and what it is called in the table.

    A mixture knows the call it came from and what promotes in it, arrays and numbers.
    """

    sample: Sample
    plain: Sample | None = None
    operands: tuple[Any, ...] = ()
    varied: bool = False  # not one of the entry's samples: an operator may refuse it

    def key(self, info: OpInfo, dtype: str, *, values: bool = False) -> str:
        """The call without values and shapes; with `values`, integers are told apart."""
        unnamed = [_word(x, dtype, values) for x in self.sample.args]
        named = [
            f"{name}={_word(x, dtype, values)}"
            for name, x in self.sample.kwargs.items()
            if name not in not_pytorchs(info)
        ]
        return f"({', '.join(unnamed + named)})"


def not_pytorchs(info: OpInfo) -> set[str]:
    """The parameters that PyTorch's operator does not have: keys, places, sizes."""
    assert info.spec is not None
    key = {info.spec.key_parameter} if info.spec.random else set()
    filling = {"fill_value"} if info.spec.sizes_from_values else set()
    return {"device", *info.spec.sizes_from_values, *key, *filling}


def _word(x: Any, dtype: str, values: bool) -> str:
    if isinstance(x, (jax.Array, np.ndarray)):
        code = "*" if x.dtype.name == dtype else CODES.get(x.dtype.name, "key")
        return code if x.ndim else f"{code}[]"
    if (named := dtype_named(x)) is not None:
        return "*" if named == dtype else CODES[named]
    if isinstance(x, (bool, str)) or x is None:
        return repr(x)
    if isinstance(x, int):
        return str(x) if values else "int"
    if isinstance(x, (tuple, list)):
        words = [_word(item, dtype, values) for item in x]
        alike = len(set(words)) == 1 and len(words) > 1
        return f"[{words[0]}, ...]" if alike else f"[{', '.join(words)}]"
    return type(x).__name__


def dtype_named(x: Any) -> str | None:
    """The dtype that an argument names, if it is one."""
    if isinstance(x, np.dtype) or hasattr(x, "dtype") and not hasattr(x, "shape"):
        return jnp.dtype(x).name
    return x if isinstance(x, str) and x in ALL_DTYPES else None


def cases(info: OpInfo, dtype: str) -> Iterator[DtypeCase]:
    """An entry's calls in one dtype: one of each kind among its samples, and their mixtures."""
    found: set[str] = set()
    mixed: set[str] = set()
    for sample in info.samples(info.make(dtype)):
        case = DtypeCase(sample)
        key = case.key(info, dtype, values=True)
        if key not in found:
            found.add(key)
            yield case
        yield from _of_other_dtypes(info, sample, mixed)
        yield from _mixtures(info, sample, dtype, mixed)


def _of_other_dtypes(info: OpInfo, sample: Sample, done: set[str]) -> Iterator[DtypeCase]:
    """The first call without a `dtype=`, with each."""
    assert info.spec is not None
    given = info.spec.arguments(sample.args, sample.kwargs)
    for name in annotated(info, "DType"):
        if given.get(name) is None and name not in done:
            done.add(name)
            for other in OTHERS:
                kwargs = {**sample.kwargs, name: other}
                yield DtypeCase(dataclasses.replace(sample, kwargs=kwargs), varied=True)


def _mixtures(info: OpInfo, sample: Sample, dtype: str, done: set[str]) -> Iterator[DtypeCase]:
    """The first call with given promoting arrays, with each of them in other dtypes."""
    assert info.spec is not None
    where, arrays = promoting(info, sample), sample.arrays()
    bound = info.spec.arguments(sample.args, sample.kwargs)
    given = " ".join(name for name in info.spec.promoting if bound.get(name) is not None)
    plain = all(arrays[i].ndim > 0 and arrays[i].dtype.name == dtype for i in where)
    if len(where) < 2 or not plain or given in done:
        return
    done.add(given)
    alone = len(arrays) == len(where)  # positions and masks beside them ask for ranks of their own
    ranks = info.spec.promote is not Promote.SAME
    ranks &= alone or info.spec.promote is not Promote.NONE
    accepted = info.spec.accepts.value
    for i in where:
        x = arrays[i]
        mixed: list[Any] = [in_dtype(x, other) for other in OTHERS if other in accepted]
        if ranks and x.size:
            first = np.asarray(x).flat[0]
            mixed += [in_dtype(first, other) for other in SCALAR_OTHERS if other in accepted]
            mixed += NUMBERS
        for new in mixed:
            operands = tuple(new if j == i else arrays[j] for j in where)
            varied = [new if j == i else y for j, y in enumerate(arrays)]
            yield DtypeCase(sample.with_arrays(varied), sample, operands, varied=True)


def annotated(info: OpInfo, note: str) -> list[str]:
    """The parameters that wear an annotation, optional or not."""
    assert info.spec is not None
    parameters = info.spec.signature.parameters.values()
    return [p.name for p in parameters if p.annotation.partition(" ")[0] == note]


def in_dtype(x: Any, dtype: str) -> jax.Array:
    """An array cast by NumPy, which compiles nothing; of a complex one, the real part."""
    values = np.asarray(x)
    with np.errstate(invalid="ignore", over="ignore"):
        if category(jnp.dtype(dtype)) < 3:
            values = np.real(values)
        return jax.device_put(values.astype(jnp.dtype(dtype)))


def promoting(info: OpInfo, sample: Sample) -> list[int]:
    """Which arrays of a sample decide the dtype of the result."""
    assert info.spec is not None
    given = info.spec.arguments(sample.args, sample.kwargs)
    leaves = jax.tree.leaves([given.get(name) for name in info.spec.promoting])
    return [i for i, x in enumerate(sample.arrays()) if any(x is y for y in leaves)]


def answer(dtypes: Iterable[str]) -> str:
    """How the table writes the dtypes of outputs."""
    codes = [CODES.get(name, name) for name in dtypes]
    return "+".join(c for i, c in enumerate(codes) if i == 0 or c != codes[i - 1])


@ft.cache
def recorded() -> dict[str, dict[str, dict[str, str]]]:
    """By operator, case and dtype, PyTorch's answer."""
    root = importlib.resources.files("functx.testing") / "opdb"
    assert isinstance(root, Path)
    table: dict[str, dict[str, dict[str, str]]] = {}
    for path in sorted(root.rglob(f"*{SUFFIX}")):
        for name, rows in json.loads(path.read_text()).items():
            table[name] = {
                key: dict(zip(ALL_DTYPES, row.split(), strict=True)) for key, row in rows.items()
            }
    return table


def known(info: OpInfo, case: DtypeCase, dtype: str) -> str | None:
    """PyTorch's answer to a case, or None if it was not recorded."""
    rows = recorded().get(info.name, {})
    for values in (True, False):
        found = rows.get(case.key(info, dtype, values=values), {}).get(dtype, UNASKED)
        if found != UNASKED:
            return found
    return None

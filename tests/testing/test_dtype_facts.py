"""The table of result dtypes lies beside the database, and belongs to it."""

import dataclasses
import json
import re
from pathlib import Path

import jax.numpy as jnp
import pytest

import functx
from functx._core import category, REGISTRY
from functx.testing import dtype_facts, op_db, opdb, run_cell
from functx.testing.dtype_facts import recorded, SUFFIX


FILES = sorted(Path(opdb.__path__[0]).rglob(f"*{SUFFIX}"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_table_has_a_twin(path):
    twin = path.with_name(path.name.removesuffix(SUFFIX) + ".py").relative_to(opdb.__path__[0])
    module = ".".join(("functx", "_ops", *twin.with_suffix("").parts))
    for name in json.loads(path.read_text()):
        assert REGISTRY[name].rule.__module__ == module


def test_every_operator_has_facts_or_says_why_not():
    for info in op_db:
        if info.spec is not None and info.name not in recorded():
            assert any(not own.match and not own.dtypes for own in info.dtype_departures), info.id


def test_departures_of_dtypes_have_reasons():
    for info in op_db:
        for own in info.dtype_departures:
            assert len(own.reason) > 20, f"{info.id}: {own}"


def entry(op):
    return next(info for info in op_db if info.op is op)


def mistaken(op, wrong):
    """The entry of `op` with a mistake planted in its result."""

    def f(*args, **kwargs):
        return wrong(op(*args, **kwargs))

    f.spec = op.spec
    return dataclasses.replace(entry(op), op=f)


@pytest.mark.parametrize(
    "op, dtype, wrong",
    [
        (functx.argsort, "float32", lambda y: y.astype("int32")),
        (functx.count_nonzero, "float32", lambda y: y.astype("int32")),
        (functx.trace, "uint8", lambda y: y.astype("int32")),
        (functx.matmul, "float16", lambda y: y.astype("float32")),
        (functx.max, "bool", lambda y: (y.values, y.indices.astype(bool))),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_wrong_dtype_fails(op, dtype, wrong):
    run_cell(entry(op), dtype, "dtypes")
    with pytest.raises(AssertionError, match="PyTorch"):
        run_cell(mistaken(op, wrong), dtype, "dtypes")


def test_wrong_promotion_fails():
    """Right for equal dtypes, wrong for mixtures: the narrower one wins."""

    def narrow(x, y):
        x, y = jnp.asarray(x), jnp.asarray(y)
        kinds = category(x.dtype), category(y.dtype)
        same = kinds[0] == kinds[1] and x.dtype.itemsize != y.dtype.itemsize
        narrowest = min(x.dtype, y.dtype, key=lambda dtype: dtype.itemsize)
        return functx.mul(x, y).astype(narrowest) if same else functx.mul(x, y)

    narrow.spec = functx.mul.spec
    with pytest.raises(AssertionError, match=r"\(\*, f64\): f32, PyTorch f64"):
        run_cell(dataclasses.replace(entry(functx.mul), op=narrow), "float32", "dtypes")


def test_unrecorded_case_fails_with_the_command_that_records_it():
    samples = lambda make: iter([functx.testing.call(make(2), dim=0, keepdim="new")])
    info = dataclasses.replace(entry(functx.any), samples=samples)
    with pytest.raises(AssertionError, match=r"python -m tests\.parity\.record_dtypes any"):
        run_cell(info, "float32", "dtypes")


def test_what_is_not_recorded_is_said_in_the_same_words_in_all_dtypes(monkeypatch):
    monkeypatch.setattr(dtype_facts, "recorded", lambda: {})
    said = (
        "PyTorch's answer is not recorded; `python -m tests.parity.record_dtypes sin` records it; "
        'where PyTorch has no such operator, departures=(Departure("dtype", reason, answer="^"),) '
        "in the entry says so"
    )
    for dtype in ("bool", "float32"):
        with pytest.raises(AssertionError, match=f"^{re.escape(said)}"):
            run_cell(entry(functx.sin), dtype, "dtypes")

"""What an error says where a device runs out: here of more memory than there is on earth."""

from __future__ import annotations

import pickle
import re

import jax
import jax.numpy as jnp
import pytest

import functx
from functx.memory import explain_out_of_memory, OutOfMemoryError


X = jnp.ones(4, "float32")


def failing(f, *args):
    with pytest.raises(OutOfMemoryError) as caught:
        explain_out_of_memory(f)(*args)
    return caught.value


def outer(x):
    long = functx.expand_copy(x[:1], (2**23,))
    return functx.sum(functx.matmul(functx.outer(long, long), long))


@pytest.mark.parametrize(
    "wrap", [jax.jit, functx.jit, lambda f: jax.jit(functx.grad(f))], ids=["jit", "functx", "grad"]
)
def test_the_largest_buffers_are_named_with_operator_and_line(wrap):
    error = failing(wrap(outer), X)
    assert str(error).startswith("memory.explain_out_of_memory: the device ran out of memory (")
    row = re.search(r"^281,474,976,710,656  f32\[8388608,8388608\] +(\w+) .*", str(error), re.M)
    assert row and row[0].endswith(f"memory.py:{outer.__code__.co_firstlineno + 2}")
    assert error.report.largest[0].operator == row[1] in ("outer", "matmul")
    assert "in `outer`, which needs 281,475," in str(error)


def test_the_cause_is_the_error_of_the_device():
    error = failing(jax.jit(outer), X)
    assert isinstance(error.__cause__, jax.errors.JaxRuntimeError)
    assert isinstance(error, MemoryError) and isinstance(error, RuntimeError)


def test_eager_operators_are_explained_too():
    error = failing(lambda x: functx.zeros(2**46) + x[0], X)
    assert isinstance(error.__cause__, MemoryError)
    assert "zeros: the result would be f32[70368744177664]" in str(error)


def test_all_is_usable_afterwards():
    failing(jax.jit(outer), X)
    assert float(functx.sum(X)) == 4
    assert explain_out_of_memory(jax.jit(lambda x: x + 1))(X).tolist() == [2, 2, 2, 2]


def test_other_errors_pass():
    def wrong(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="^mine$"):
        explain_out_of_memory(wrong)(X)


def test_what_cannot_be_recorded_is_explained_without_a_table():
    def f(x):
        n = int(x[0])  # asks for a value
        return jax.jit(outer)(x) * n

    error = failing(f, X)
    assert error.report is None and "the device ran out of memory" in str(error)


def test_within_another_it_is_explained_once_and_is_pickled():
    error = failing(explain_out_of_memory(jax.jit(outer)), X)
    assert isinstance(error.__cause__, jax.errors.JaxRuntimeError)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.report == error.report


def test_inside_of_jit_the_outermost_explains():
    inner = explain_out_of_memory(outer)
    error = failing(jax.jit(inner), X)
    assert error.report.largest[0].operator == "outer"


def test_errors_name_it():
    with pytest.raises(TypeError, match="^memory.explain_out_of_memory: `func` must be callable"):
        explain_out_of_memory(3)

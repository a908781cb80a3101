"""An array has its dtype, whether JAX types it weakly or not; Python numbers alone have none."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx._core.numbers.weak_types import (
    found_among,
    INTEGERS,
    is_weak,
    PLAIN,
    strong,
    strong_sequence,
    strong_tree,
    TO_CONVERT,
)


M = jnp.asarray([True, False, True])


def full(value, shape=3):
    """As `jnp.full`, weakly typed."""
    x = jnp.full(shape, value)
    assert x.weak_type
    return x


@pytest.mark.parametrize(
    "call, dtype, value",
    [
        (lambda: functx.mul(full(300), jnp.ones(3, "int8")), "int64", 300),
        (lambda: functx.add(jnp.where(M, 1000, 1000), jnp.ones(3, "uint8")), "int64", 1001),
        (lambda: functx.mul(full(2.5), jnp.ones(3, "bfloat16")), "float64", 2.5),
        (lambda: functx.mul(jnp.asarray(2.5), jnp.ones(3, "bfloat16")), "bfloat16", 2.5),
        (lambda: functx.mul(jnp.asarray(2.5), jnp.ones((), "bfloat16")), "float64", 2.5),
        (lambda: functx.mul(jnp.asarray(0.1), 3), "float64", 0.1 * 3),
        (lambda: functx.mul(0.5, 3), "float32", 1.5),
        (lambda: functx.erf(jnp.asarray(5.0)), "float64", 0.9999999999984626),
        (lambda: functx.mean(jnp.where(M, 0.125, 0.125)), "float64", 0.125),
        (lambda: functx.reshape(full(0.1), (3, 1)), "float64", 0.1),
        (lambda: functx.cat([full(0.1), full(0.1)]), "float64", 0.1),
        (lambda: functx.stack((full(0.1), full(0.1))), "float64", 0.1),
        (lambda: functx.where(M, full(0.1), jnp.asarray(0.1)), "float64", 0.1),
        (lambda: functx.where(M, 0.5, 0.5), "float32", 0.5),
        (lambda: functx.add(jnp.zeros(3, "float16"), 1, alpha=jnp.asarray(2)), "float16", 2),
        (lambda: functx.einsum("i,i->i", full(0.1), full(1.0)), "float64", 0.1),
        (lambda: functx.full((3,), jnp.asarray(0.5)), "float32", 0.5),
        (lambda: functx.asarray(full(0.1)), "float64", 0.1),
        (lambda: functx.tensor([jnp.asarray(0.1), 0.1]), "float64", 0.1),
    ],
)
def test_values_and_dtypes_are_those_of_other_arrays(call, dtype, value):
    got = call()
    assert got.dtype == dtype and not got.weak_type
    np.testing.assert_array_equal(got, np.broadcast_to(np.asarray(value, got.dtype), got.shape))


def test_so_they_are_with_64_bit_off():
    with functx.x64(False):
        got = functx.mul(full(300), jnp.ones(3, "int8"))
        assert got.dtype == "int32" and got.tolist() == [300] * 3
        assert functx.mul(full(2.5), jnp.ones(3, "bfloat16")).dtype == "float32"


def test_results_do_not_depend_on_who_traces():
    x, y = jnp.asarray(0.1), jnp.ones((), "bfloat16")
    want = functx.mul(x, y)
    assert want.dtype == "float64"
    for transform in (jax.jit, functx.jit, functx.checkpoint, lambda f: lambda *xs: f(*xs)):
        got = transform(functx.mul)(x, y)
        assert got.dtype == want.dtype and got == want
    lanes = functx.vmap(functx.mul)(full(0.1), jnp.ones(3, "bfloat16"))
    assert lanes.dtype == "float64" and lanes.tolist() == [0.1] * 3


def test_a_loop_whose_carry_starts_as_a_number_keeps_its_digits():
    def newton(a):
        residual = lambda x: functx.sub(functx.mul(x, x), a)
        unfinished = lambda x: functx.gt(functx.abs(residual(x)), 1e-14)
        return lax.while_loop(
            unfinished, lambda x: functx.sub(x, functx.div(residual(x), functx.mul(2.0, x))), 1.0
        )

    root = newton(2.0)
    assert root.dtype == "float64" and abs(root - 2**0.5) < 1e-15
    last, _ = lax.scan(lambda c, x: (functx.add(c, x), None), 0.0, jnp.asarray([0.1, 0.2]))
    assert last.dtype == "float64" and last == 0.1 + 0.2


def test_constants_of_a_program_are_still_judged():
    far = full(7)
    with pytest.raises(IndexError, match="must lie in"):
        jax.jit(lambda x: functx.index_select(x, 0, far))(jnp.zeros(3))


def test_numbers_beside_arrays_stay_numbers():
    assert functx.add(jnp.zeros(3, "int8"), 2).dtype == "int8"
    assert functx.add(jnp.zeros((), "float16"), 2.5).dtype == "float16"
    assert functx.add(jnp.zeros(3, "int8"), jnp.asarray(2)).dtype == "int8"


def test_questions_of_dtypes():
    assert functx.result_type(full(0.1), jnp.ones(3, "bfloat16")) == "float64"
    assert functx.result_type(jnp.asarray(0.1), jnp.ones((), "int8")) == "float64"
    assert functx.result_type(0.1, jnp.ones((), "int8")) == "float32"


def test_a_weakly_typed_array_is_not_another_without_a_copy():
    with pytest.raises(ValueError, match=r"without a copy, got weakly typed f64\[3\]"):
        functx.asarray(full(0.1), copy=False)
    assert not functx.from_dlpack(full(0.1)).weak_type


def test_what_is_looked_for():
    weak, plain = full(0.1), jnp.ones(3)
    assert found_among([plain, 2.0, None, "mean", (plain, 1), np.ones(3)]) == PLAIN
    assert found_among([plain, 2, True]) == INTEGERS
    assert found_among([plain, 2, weak]) == found_among([[plain, (weak,)]]) == TO_CONVERT
    assert is_weak(weak) and not is_weak(plain) and not is_weak(0.1) and not is_weak(np.ones(3))
    assert strong(plain) is plain and strong(0.1) == 0.1 and not is_weak(strong(weak))
    pair = functx.linalg.slogdet(jnp.eye(2))
    assert strong_sequence(pair)._fields == pair._fields
    tree = {"a": plain, "b": "text", "c": None}
    assert strong_tree(tree) is tree
    assert not is_weak(strong_tree({"a": weak, "b": None})["a"])


def test_references_are_no_arrays():
    ref = jax.new_ref(jnp.ones(3))
    with pytest.raises(TypeError):
        jax.jit(lambda: functx.add(ref, 1.0))()


def test_sharding_stays():
    device = jax.devices()[-1]
    x = jax.device_put(full(0.1), device)
    assert x.weak_type and operator.eq(strong(x).devices(), {device})

"""What functions say of dtypes."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


DTYPES = ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64"]
DTYPES += ["complex64", "complex128"]
KINDS = {
    name: i
    for i, group in enumerate(["bool", "int", "float", "complex"])
    for name in (d for d in DTYPES if group in d)
}


@pytest.mark.parametrize("first, second", list(itertools.product(DTYPES, DTYPES)))
def test_casts_keep_the_kind_or_widen_it(first, second):
    assert functx.can_cast(first, second) is (KINDS[first] <= KINDS[second])


@pytest.mark.parametrize(
    "first, second, common",
    [
        ("int8", "uint8", "int16"),
        ("int64", "float16", "float16"),
        ("float16", "bfloat16", "float32"),
        ("float64", "complex64", "complex128"),
        ("bool", "bool", "bool"),
    ],
)
def test_promotion_of_two(first, second, common):
    with jax.enable_x64(True):
        assert functx.promote_types(first, second) == common
        assert functx.result_type(jnp.ones(1, first), np.ones(2, jnp.dtype(second))) == common


def test_numbers_and_arrays_without_dimensions_give_way():
    assert functx.result_type(jnp.ones(2, "int8"), 3) == "int8"
    assert functx.result_type(jnp.ones(2, "int8"), 3.5) == "float32"
    assert functx.result_type(jnp.ones(2, "float16"), jnp.float32(1)) == "float16"
    assert functx.result_type(1, 2.0) == "float32"
    assert functx.result_type(True, 1j) == "complex64"


@pytest.mark.parametrize("dtype", DTYPES)
def test_kinds_of_dtypes(dtype):
    with jax.enable_x64(True):
        x = jnp.ones(2, dtype)
        assert functx.is_complex(x) is (KINDS[dtype] == 3)
        assert functx.is_floating_point(x) is (KINDS[dtype] == 2)
        assert functx.is_signed(x) is (dtype not in ("bool", "uint8"))


def test_sizes():
    assert functx.numel(np.ones((2, 0, 3))) == 0 and functx.numel(jnp.float32(1)) == 1
    assert functx.is_same_size(jnp.ones(2), np.zeros(2))
    assert not functx.is_same_size(jnp.ones(2), jnp.ones((2, 1)))
    assert functx.is_tensor(jnp.ones(2)) and not functx.is_tensor(np.ones(2))
    assert jax.jit(lambda x: x + 1.0 if functx.is_tensor(x) else x)(jnp.float32(3)) == 4


def test_limits():
    assert functx.finfo().bits == 32 and functx.finfo("complex64").bits == 32
    assert functx.finfo(functx.bfloat16).eps == 0.0078125
    assert (functx.iinfo("int8").min, functx.iinfo("int8").max) == (-128, 127)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: functx.finfo("int8"), "finfo: `type` must be a floating dtype, got int8"),
        (lambda: functx.iinfo("float32"), "iinfo: `type` must be an integer dtype, got float32"),
        (lambda: functx.can_cast("moon", "int8"), "can_cast: `from_` must be a dtype, got 'moon'"),
        (lambda: functx.is_complex(1.0), "is_complex: `input` must be an array, got 1.0"),
        (lambda: functx.is_same_size(jnp.ones(1), 1), "`other` must be an array, got 1"),
        (lambda: functx.result_type("a", 1), "result_type: `tensor1` must be an array, got 'a'"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("value, answer", [(0.0, False), (-0.0, False), (1e-45, True)])
def test_is_nonzero_looks_at_the_only_element(value, answer):
    for shape in ((), (1,), (1, 1)):
        assert functx.is_nonzero(np.full(shape, value, "float32")) is answer
        assert functx.is_nonzero(jnp.full(shape, np.float32(value))) is answer
    assert functx.is_nonzero(jnp.asarray([np.nan])) is True


def test_is_nonzero_knows_values_behind_grad():
    assert functx.grad(lambda x: 2 * x if functx.is_nonzero(x) else x)(1.0) == 2


def test_is_nonzero_refuses():
    with pytest.raises(
        RuntimeError, match=r"is_nonzero: `input` must have one element, got f32\[2"
    ):
        functx.is_nonzero(jnp.ones(2, "float32"))
    for traced in (jax.jit(functx.is_nonzero), functx.vmap(functx.is_nonzero)):
        with pytest.raises(TypeError, match="is_nonzero: `input` must be known"):
            traced(jnp.ones((1,), "float32"))

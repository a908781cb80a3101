"""Integers of Python that no dtype holds are refused by operator and argument, with a remedy."""

import jax.numpy as jnp
import pytest

import functx


X = jnp.ones((3, 3), "float32")
HUGE = 10**400


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: functx.add(jnp.arange(3, dtype="int8"), HUGE), "add: `other` must fit int64"),
        (lambda: functx.full((2,), HUGE), "full: `fill_value` must fit int64"),
        (lambda: functx.nn.functional.elu(X, HUGE), "nn.functional.elu: `alpha` must fit int64"),
        (lambda: functx.tensor([HUGE]), "tensor: `data` must fit int64"),
        (lambda: functx.tensor([0.5, HUGE]), "tensor: `data` must fit float64"),
        (lambda: functx.result_type(X, HUGE), "result_type: `tensor2` must fit int64"),
        (lambda: functx.jit(functx.add)(X, HUGE), r"jit: `args\[1\]` must fit int64"),
        (lambda: functx.arange(HUGE), "arange: `end` must fit 64 bits"),
        (lambda: functx.norm(X, HUGE), "norm: `p` must fit 64 bits"),
        (lambda: functx.cdist(X, X, HUGE), "cdist: `p` must fit 64 bits"),
    ],
)
def test_an_integer_that_no_dtype_holds_is_refused_by_argument(call, said):
    with pytest.raises(OverflowError, match=f"^{said}.*, got .*an integer of 1329 bits"):
        call()


def test_an_integer_that_python_does_not_write_is_refused_alike():
    with pytest.raises(OverflowError, match="^add: `other` must fit int64, .* of 16610 bits"):
        functx.add(X, 10**5000)
    with pytest.raises(IndexError, match="^sum: `dim` must lie in .* of 16610 bits"):
        functx.sum(X, 10**5000)


@pytest.mark.parametrize(
    "number, remedy", [(2**40, "functx.enable_x64"), (2**70, "where a float will do")]
)
def test_the_remedy_for_a_wide_integer_is_one_that_helps(number, remedy):
    with functx.x64(False), pytest.raises(OverflowError, match=f"must fit int32.*\n.*{remedy}"):
        functx.add(X, number)


def test_a_size_that_32_bits_do_not_count_is_named():
    with functx.x64(False), pytest.raises(OverflowError, match="^histc: `bins` must fit int32"):
        functx.histc(X, 2**40)


def test_an_overflow_inside_of_a_jitted_function_is_its_own():
    with pytest.raises(OverflowError, match="^too large$"):
        functx.jit(_overflowing, static_argnums=0)(HUGE)


def _overflowing(n):
    raise OverflowError("too large")

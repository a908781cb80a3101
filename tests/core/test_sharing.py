"""Copies, pickles and threads."""

import copy
import pickle
import threading

import jax
import jax.numpy as jnp
import pytest

import functx
from functx._core import OPERATORS


X = jnp.arange(4, dtype="float32")


def again(x):
    return pickle.loads(pickle.dumps(x))


def test_operators_survive_pickling_and_copying():
    for operator in OPERATORS.values():
        assert again(operator) is operator and copy.deepcopy(operator) is operator


@pytest.mark.parametrize("transform", ["grad", "vmap", "jacrev", "jit", "functional_call"])
def test_transforms_survive_pickling(transform):
    assert again(getattr(functx, transform)) is getattr(functx, transform)


def test_dtypes_and_results_survive_pickling():
    assert again(functx.float32) is functx.float32
    values, indices = again(functx.max(X, 0))
    assert (values, indices) == (3, 3) and again(functx.max(X, 0)).indices == 3


def test_the_pullback_is_a_pytree_that_can_be_copied():
    _, pull = functx.vjp(functx.sin, X)
    assert (copy.copy(pull)(X)[0] == pull(X)[0]).all()


def test_threads_call_operators_and_transforms_at_once():
    step = functx.jit(functx.grad(lambda x, n: functx.sum(x**n)), static_argnums=1)
    wrong, start = [], threading.Barrier(4)

    def work(i):
        start.wait()
        for n in (2, 3, 4):
            with functx.x64(i % 2 == 0):
                x = jnp.arange(3.0, dtype="float64" if i % 2 == 0 else "float32")
                got = functx.vmap(functx.sin)(functx.add(x, i)), step(x, n)
                want = jnp.sin(x + i), n * x ** (n - 1)
                same = jax.tree.map(
                    lambda a, b: a.dtype == b.dtype and jnp.allclose(a, b), got, want
                )
                if not all(same):
                    wrong.append((i, n, got))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

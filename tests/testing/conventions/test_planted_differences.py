"""Gradients whose values in both conventions are known: `conventions` finds each, of both worlds.

Each function is written in functx's operators and in JAX's functions. PyTorch's gradient is that
which functx gives of the first, JAX's that which JAX gives of the second.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing import conventions


F = functx.nn.functional
INF, NAN = float("inf"), float("nan")


def weighted(x):
    """A sum in which each element counts otherwise."""
    return (x * jnp.arange(1, x.size + 1, dtype=x.dtype).reshape(x.shape)).sum()


# name: in functx's operators, in JAX's functions, the point, PyTorch's gradient and JAX's
PARTED = {
    "abs at 0": (
        lambda x: functx.abs(x).sum(),
        lambda x: jnp.abs(x).sum(),
        [0.0, -1.0],
        [0.0, -1.0],
        [1.0, -1.0],
    ),
    "clamp at its bound": (
        lambda x: functx.clamp(x, 1.0, 2.0).sum(),
        lambda x: jnp.clip(x, 1.0, 2.0).sum(),
        [1.0, 1.5, 2.0, 3.0],
        [1.0, 1.0, 1.0, 0.0],
        [0.5, 1.0, 0.5, 0.0],
    ),
    "clamp from below": (
        lambda x: functx.clamp(x, min=1.0).sum(),
        lambda x: jnp.clip(x, min=1.0).sum(),
        [1.0, 2.0],
        [1.0, 1.0],
        [0.5, 1.0],
    ),
    "norm at 0": (functx.linalg.vector_norm, jnp.linalg.norm, [0.0, 0.0], [0.0, 0.0], [NAN, NAN]),
    "norm of rows": (
        lambda x: functx.linalg.vector_norm(x, dim=1).sum(),
        lambda x: jnp.linalg.norm(x, axis=1).sum(),
        [[0.0, 0.0], [3.0, 4.0]],
        [[0.0, 0.0], [0.6, 0.8]],
        [[NAN, NAN], [0.6, 0.8]],
    ),
    "deviation of equal numbers": (
        functx.std,
        lambda x: jnp.std(x, ddof=1),
        [2.0, 2.0],
        [0.0, 0.0],
        [NAN, NAN],
    ),
    "leaky relu at 0": (
        lambda x: F.leaky_relu(x, 0.1).sum(),
        lambda x: jax.nn.leaky_relu(x, 0.1).sum(),
        [0.0, 1.0],
        [0.1, 1.0],
        [1.0, 1.0],
    ),
    "hardtanh at its bounds": (
        lambda x: F.hardtanh(x).sum(),
        lambda x: jax.nn.hard_tanh(x).sum(),
        [-1.0, 0.0, 1.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 1.0],
    ),
    "power of 0": (
        lambda x: functx.pow(x, x).sum(),
        lambda x: jnp.power(x, x).sum(),
        [0.0],
        None,
        None,
    ),
}
AGREEING = {
    "amax shares": (lambda x: functx.amax(x, 0), jnp.max, [2.0, 2.0, 1.0], [0.5, 0.5, 0.0]),
    "maximum halves": (
        lambda x: functx.maximum(x, jnp.zeros_like(x)).sum(),
        lambda x: jnp.maximum(x, 0).sum(),
        [0.0, 1.0],
        [0.5, 1.0],
    ),
    "relu at 0": (
        lambda x: F.relu(x).sum(),
        lambda x: jax.nn.relu(x).sum(),
        [0.0, 1.0],
        [0.0, 1.0],
    ),
    "sqrt at 0": (
        lambda x: functx.sqrt(x).sum(),
        lambda x: jnp.sqrt(x).sum(),
        [0.0, 1.0],
        [INF, 0.5],
    ),
    "sort of ties": (
        lambda x: weighted(functx.sort(x, stable=True).values),
        lambda x: weighted(jnp.sort(x)),
        [2.0, 1.0, 2.0],
        [2.0, 1.0, 3.0],
    ),
    "eigenvalues that coincide": (
        lambda A: weighted(functx.linalg.eigvalsh(A)),
        lambda A: weighted(jnp.linalg.eigvalsh(A)),
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [0.0, 2.0]],
    ),
    "eigenvectors that are not determined": (
        lambda A: weighted(functx.linalg.eigh(A).eigenvectors),
        lambda A: weighted(jnp.linalg.eigh(A)[1]),
        [[1.0, 0.0], [0.0, 1.0]],
        [[NAN, NAN], [NAN, NAN]],
    ),
    "singular values that coincide": (
        lambda A: weighted(functx.linalg.svdvals(A)),
        lambda A: weighted(jnp.linalg.svd(A, compute_uv=False)),
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [0.0, 2.0]],
    ),
    "a smooth function": (
        lambda x: functx.sin(x).sum(),
        lambda x: jnp.sin(x).sum(),
        [0.0, 1.0],
        None,
    ),
}


def same(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("world", ["functx", "jax"])
@pytest.mark.parametrize("name", PARTED)
def test_gradients_that_part_are_told(name, world):
    ours, theirs, point, in_pytorch, in_jax = PARTED[name]
    f, point = ours if world == "functx" else theirs, jnp.asarray(point)
    report = conventions(f, point, made_points=False)
    [line] = report.lines
    assert line.point == "as given" and line.what == "args[0]"
    same(line.pytorch, functx.grad(ours)(point))
    same(line.jax, jax.grad(theirs)(point))
    if in_pytorch is not None:
        same(line.pytorch, in_pytorch)
        same(line.jax, in_jax)
    [call] = line.calls
    assert call.name.startswith(world)


@pytest.mark.parametrize("world", ["functx", "jax"])
@pytest.mark.parametrize("name", AGREEING)
def test_gradients_that_agree_are_not_told(name, world):
    ours, theirs, point, both = AGREEING[name]
    f, point = ours if world == "functx" else theirs, jnp.asarray(point)
    report = conventions(f, point, made_points=False)
    assert not report and report.lines == () and report.points == ("as given",)
    same(functx.grad(ours)(point), jax.grad(theirs)(point))
    if both is not None:
        same(jax.grad(theirs)(point), both)


@pytest.mark.parametrize("absolute", [functx.abs, jnp.abs])
def test_complex_gradients_are_conjugates(absolute):
    z = jnp.asarray([3 + 4j, 0j])
    report = conventions(lambda z: absolute(z).sum(), z, made_points=False)
    [line] = report.lines
    same(line.pytorch, [0.6 + 0.8j, 0])
    same(line.jax, [0.6 - 0.8j, 0])
    assert [call.name for call in line.calls] == ["complex gradients"]
    assert line.difference == pytest.approx(1.6) and line.index == (0,)


def test_the_maximum_along_a_dim_picks_one():
    """JAX's own maximum, which gives no positions, is taken for `amax`."""
    tied = jnp.asarray([2.0, 2.0, 1.0])
    [line] = conventions(lambda x: functx.max(x, 0).values, tied, made_points=False).lines
    same(line.pytorch, [1, 0, 0])
    same(line.jax, [0.5, 0.5, 0])
    assert not conventions(lambda x: jnp.max(x, 0), tied)


def test_forward_mode_of_complex_numbers_is_the_same():
    z = jnp.asarray([3 + 4j, 1j])
    assert conventions(jnp.exp, z, made_points=False)
    assert not conventions(jnp.exp, z, made_points=False, mode="forward")


def test_forward_mode_parts_at_kinks():
    report = conventions(functx.abs, jnp.zeros(2), made_points=False, mode="forward")
    [line] = report.lines
    assert line.what == "output 0"
    same(line.pytorch, [0, 0])
    same(line.jax, [1, 2])


def test_each_call_is_switched_alone():
    def f(x, y):
        first = functx.abs(x)
        return (first + jnp.sin(y) * jnp.abs(y)).sum() + functx.amax(x, 0)

    report = conventions(f, jnp.zeros(2), jnp.zeros(2), made_points=False)
    [line] = report.lines  # sin(0) hides the other
    assert line.what == "args[0]" and [call.name for call in line.calls] == ["functx.abs"]
    here = f.__code__.co_firstlineno
    [call] = line.calls
    assert (call.file, call.line) == (__file__, here + 1)


def test_calls_that_hide_each_other_are_both_told():
    """One slope of 0 makes the product 0, whatever the other is."""
    report = conventions(lambda x: functx.abs(jnp.abs(x)).sum(), jnp.zeros(1), made_points=False)
    [line] = report.lines
    same(line.pytorch, [0])
    same(line.jax, [1])
    assert {call.name for call in line.calls} == {"jax abs", "functx.abs"}

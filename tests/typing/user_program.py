# pyright: strict
"""A user's program, typed: pyright (strict) and mypy (strict) have nothing to say of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_type

import jax
import numpy as np
from jax import Array

import functx
from functx.autograd import Context, Function, once_differentiable
from functx.nn import functional as F


@dataclass(frozen=True)
class Options:
    """What a training run may choose."""

    rate: float = 0.1
    smoothing: float = 0.0


Parameters = dict[str, Array]


def initial(key: Array) -> Parameters:
    """Two layers' weights."""
    first, second = jax.random.split(key)
    return {
        "w1": functx.randn(4, 8, key=first) / 2,
        "b1": functx.zeros(8),
        "w2": functx.randn((8, 3), dtype=functx.float32, key=second) / 2,
        "b2": functx.full((3,), 0.5, device="cpu"),
    }


def logits(parameters: Parameters, x: Array) -> Array:
    """The net."""
    hidden = F.relu(functx.matmul(x, parameters["w1"]) + parameters["b1"])
    hidden = F.dropout(hidden, 0.5, training=False)
    return functx.matmul(hidden, parameters["w2"]) + parameters["b2"]


def loss(parameters: Parameters, x: Array, target: Array, smoothing: float = 0.0) -> Array:
    """Cross entropy."""
    return F.cross_entropy(logits(parameters, x), target, label_smoothing=smoothing)


def loss_and_accuracy(parameters: Parameters, x: Array, target: Array) -> tuple[Array, float]:
    """With something beside it."""
    right = functx.eq(functx.argmax(logits(parameters, x), dim=-1), target)
    return loss(parameters, x, target), float(functx.sum(right)) / right.size


@functx.jit
def step(parameters: Parameters, x: Array, target: Array, options: Options) -> Parameters:
    """One step of gradient descent."""
    gradient = functx.grad(loss)(parameters, x, target, options.smoothing)
    return {name: p - options.rate * gradient[name] for name, p in parameters.items()}


@functx.jit(static_argnames="power")
def raised(x: Array, *, power: int) -> Array:
    """Options of `jit`."""
    return functx.pow(x, power)


def energy(x: Array) -> Array:
    """A scalar."""
    return functx.sum(functx.square(x))


def transforms(parameters: Parameters, x: Array, target: Array) -> None:
    """Each keeps what it can of a function's type."""
    assert_type(functx.grad(loss)(parameters, x, target), Parameters)
    assert_type(functx.value_and_grad(loss)(parameters, x, target), tuple[Array, Parameters])
    gradient, accuracy = functx.grad(loss_and_accuracy, has_aux=True)(parameters, x, target)
    assert_type(gradient, Parameters)
    assert_type(accuracy, float)
    assert_type(functx.grad(loss, argnums=(0, 1))(parameters, x, target), tuple[Parameters, Array])
    assert_type(functx.grad(loss, argnums=1)(parameters, x, target), Array)
    assert_type(functx.grad(loss, (0,))(parameters, x, target), tuple[Parameters])
    three = functx.value_and_grad(loss, (0, 1, 2), allow_int=True)(parameters, x, target)
    assert_type(three, tuple[Array, tuple[Parameters, Array, Array]])
    with_aux = functx.grad_and_value(loss_and_accuracy, argnums=(0, 1), has_aux=True)
    gradients, (value, accuracy) = with_aux(parameters, x, target)
    assert_type(gradients, tuple[Parameters, Array])
    assert_type(value, Array)
    assert_type(accuracy, float)
    assert_type(functx.grad(loss, allow_int=True)(parameters, x, target), Parameters)
    functx.value_and_grad(loss, argnums=(0, 2), allow_int=True)(parameters, x, target)
    assert_type(functx.vmap(logits, in_dims=(None, 0))(parameters, x), Array)
    named = functx.vmap(logits, (None, 0), axis_name="batch", axis_size=5, spmd_axis_name="data")
    assert_type(named(parameters, x), Array)
    output, pullback = functx.vjp(logits, parameters, x)
    assert_type(output, Array)
    cotangents = pullback(functx.ones_like(output))
    assert_type(functx.jvp(functx.sin, (x,), (x,)), tuple[Array, Array])
    value, push = functx.linearize(logits, parameters, x)
    assert_type(push(*cotangents), Array)

    def at(p: Parameters) -> Array:
        return loss(p, x, target)

    assert_type(functx.hvp(at, parameters, parameters)[1], Parameters)
    jacobian = functx.jacrev(functx.softmax, chunk_size=2)(x, 1)
    assert_type(functx.hessian(energy)(x), Array)
    derivatives: Array = functx.vmap(functx.jacfwd(functx.tanh))(x)
    slopes: Array = functx.grad(functx.sum)(x)
    print(derivatives.shape, slopes * 2)
    print(value.shape, jacobian)
    jacobians(parameters, x)
    ensemble = functx.stack_trees([parameters, parameters])
    assert_type(functx.unstack_tree(ensemble), list[Parameters])
    assert_type(functx.functional_call(logits, parameters, (x,)), Array)
    functx.debug.checked(functx.index_select)(x, 0, np.asarray([0]))


def jacobians(parameters: Parameters, x: Array) -> None:
    """Outputs are the outer tree, arguments the inner one."""
    takes: Callable[[Array, Parameters], Array] = lambda x, p: logits(p, x)
    both: Callable[[Array], tuple[Array, Array]] = lambda x: (functx.sin(x), x)
    named: Callable[[Array], dict[str, Array]] = lambda x: {"sin": functx.sin(x)}
    counted: Callable[[Array], tuple[Array, int]] = lambda x: (functx.sin(x), 3)
    product: Callable[[Array, Array], Array] = lambda x, y: functx.sum(x * y)
    assert_type(functx.jacrev(logits)(parameters, x), Parameters)
    assert_type(functx.jacrev(takes, 1)(x, parameters), Parameters)
    assert_type(functx.jacfwd(takes, (0, 1))(x, parameters), tuple[Array, Parameters])
    assert_type(functx.jacrev(takes, (0, 1))(x, parameters), tuple[Array, Parameters])
    assert_type(functx.jacrev(both)(x), tuple[Array, ...])
    assert_type(functx.jacfwd(named)(x), dict[str, Array])
    assert_type(functx.jacrev(counted, has_aux=True)(x), tuple[Array, int])
    assert_type(
        functx.hessian(product, (0, 1))(x, x), tuple[tuple[Array, Array], tuple[Array, Array]]
    )


def uniques(x: Array) -> None:
    """What comes beside the values."""
    assert_type(functx.unique(x), Array)
    assert_type(functx.unique(x, return_counts=True), tuple[Array, Array])
    assert_type(functx.unique(x, True, True), tuple[Array, Array])
    both = functx.unique(x, return_inverse=True, return_counts=True)
    assert_type(both, tuple[Array, Array, Array])
    assert_type(functx.unique_consecutive(x, return_counts=True, dim=0), tuple[Array, Array])
    assert_type(functx.unique_consecutive(x, True, True), tuple[Array, Array, Array])


def inputs(x: Array, host: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    """Arrays of JAX and NumPy and Python numbers are taken."""
    print(functx.sin(host), functx.sin(1), functx.sin(True), functx.add(2.0, np.float32(1)))
    print(functx.add(x, host), functx.mul(x, 1j), functx.add(np.bool_(True), 1))
    print(functx.cat([x, x]), functx.cat((host, host)), functx.stack((x, x), 1))
    print(functx.atleast_1d(x), functx.atleast_1d([x, x]), functx.atleast_2d(x, x))
    print(functx.sum(host), functx.ne(x, x), functx.index_select(x, 0, np.asarray([0])))


def operators(x: Array) -> None:
    """PyTorch's several signatures, and results with names."""
    assert_type(functx.max(x), Array)
    assert_type(functx.max(x, dim=1).values, Array)
    assert_type(functx.max(x, 1, keepdim=True).indices, Array)
    assert_type(functx.max(x, x), Array)
    assert_type(functx.median(x), Array)
    values, indices = functx.sort(x, descending=True)
    assert_type(functx.topk(x, 2).indices, Array)
    shapes = functx.permute(x, (1, 0)), functx.reshape(x, (-1, 2)), functx.expand(x, (2, -1, -1))
    print(functx.std(x, 1), functx.var(x, unbiased=False), functx.std(x, (0, 1), correction=0))
    print(functx.zeros(2, 3), functx.zeros((2, 3)), functx.ones([2], dtype="int32"), shapes)
    print(functx.arange(3), functx.arange(0, 1, 0.25), functx.randint(9, (2,)), functx.rand(2))
    print(functx.sum(x, 1), functx.mean(x, [0, 1]), values[0], indices[0])
    print(functx.split(x, 2)[0], functx.tensor_split(x, (1, 2)), functx.transpose(x, 0, 1))
    print(functx.where(x > 0), functx.where(x > 0, x, 0.0), functx.clamp(x, min=0))
    print(functx.linalg.svd(x).S, functx.linalg.solve(x @ x.T, x), functx.fft.rfft(x))
    print(functx.einsum("ij,ij->i", x, x), functx.tensordot(x, x, dims=2), functx.arctan2(x, x))
    print(F.softmax(x, dim=-1), F.pad(x, (1, 1)), F.one_hot(indices, 5), functx.special.expit(x))


def draws(x: Array, generator: functx.Generator, none: functx.Generator | None = None) -> None:
    """Generators are taken by all that draws."""
    assert_type(functx.rand(3, generator=generator), Array)
    assert_type(functx.rand((3, 2), generator=none), Array)
    print(functx.randn(2, 3, generator=generator), functx.randint(9, (2,), generator=generator))
    print(functx.normal(0.0, 1.0, (3,), generator=generator), functx.normal(x, generator=generator))
    print(functx.rand_like(x, generator=generator), functx.randperm(5, generator=generator))
    print(functx.bernoulli(functx.sigmoid(x), generator=generator))
    print(functx.multinomial(functx.square(x), 2, generator=generator))
    print(F.dropout(x, 0.5, generator=generator), F.gumbel_softmax(x, generator=generator))
    print(F.fractional_max_pool2d(x[None], 2, 1, generator=generator).shape)
    print(functx.svd_lowrank(x, 2, generator=generator).S)


class Cube(Function):
    """A function with rules of its own."""

    @staticmethod
    def forward(x: Array, scale: float = 1.0) -> Array:
        """The value."""
        return scale * x**3

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[Array, float], output: Array) -> None:
        """What is kept."""
        x, ctx.scale = inputs
        ctx.save_for_backward(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Context, grad_output: Array) -> tuple[Array, None]:
        """The reverse rule."""
        x: Array
        (x,) = ctx.saved_tensors
        return 3 * ctx.scale * x**2 * grad_output, None

    @classmethod
    def jvp(cls, ctx: Context, tangent: Array, _: None) -> Array:
        """The forward rule."""
        scale: float = ctx.scale
        return scale * tangent


def main() -> None:
    """All of it."""
    functx.manual_seed(0)
    with functx.random.scope(jax.random.key(0)), functx.x64(False):
        x = functx.randn(5, 4)
    parameters = initial(jax.random.key(1))
    target = functx.arange(5) % 3
    transforms(parameters, x, target)
    operators(x)
    uniques(x)
    draws(x, functx.Generator().manual_seed(0))
    inputs(x, np.ones((5, 4), np.float32))
    print(functx.vjp(Cube.apply, x, has_aux=False)[0], Cube.apply(x=x, scale=2.0))
    print(functx.testing.gradcheck(energy, x[:2, :2], eps=1e-2, atol=1e-2, rtol=1e-2))


if __name__ == "__main__":
    main()

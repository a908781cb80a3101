"""Imported models with `autograd.Function`s, whose backward passes are PyTorch's."""

import pickle

import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.interop import from_torch


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from .comparing import assert_same, inputs, torch_gradients, weighted  # noqa: E402
from .modules import seeded, tensor  # noqa: E402


class Rounded(torch.autograd.Function):
    """The identity as the derivative of a step."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, cotangent):
        return cotangent


class Reversed(torch.autograd.Function):
    """A number among the arguments, in `ctx`; the result is the argument itself."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x

    @staticmethod
    def backward(ctx, cotangent):
        return -ctx.factor * cotangent, None


class Swish(torch.autograd.Function):
    """A saved argument; it can be differentiated again."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, cotangent):
        (x,) = ctx.saved_tensors
        s = x.sigmoid()
        return cotangent * s * (1 + x * (1 - s))


class Twice(torch.autograd.Function):
    """`setup_context`; saved results and attributes; what forward computes besides is fixed."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, power):
        first = x.exp() * y
        return first, x.argmax(), (x.detach() ** power, "a")[0]

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.power = inputs
        first, where, powers = output
        ctx.mark_non_differentiable(where, powers)
        ctx.save_for_backward(first, None, y)
        ctx.held = {"sine": y.sin(), "where": where}

    @staticmethod
    def backward(ctx, cotangent, of_where, of_powers):
        first, nothing, y = ctx.saved_tensors
        assert nothing is None and not ctx.needs_input_grad[2]
        slope = cotangent * first + of_where + of_powers
        held = ctx.held["sine"] + (torch.arange(4) == ctx.held["where"])
        return slope * held, (cotangent * first * y)[None], None


class Careful(torch.autograd.Function):
    """Cotangents that may be None, and a gradient that is."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(signs := y.sign())
        return x * y, signs

    @staticmethod
    def backward(ctx, cotangent, of_signs):
        assert of_signs is None
        return cotangent.clamp(-0.25, 0.25), None


class Outer(torch.autograd.Function):
    """A backward pass that calls another function."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, cotangent):
        return Swish.apply(ctx.saved_tensors[0]) * Reversed.apply(cotangent, 0.5) + torch.tensor(
            1.5
        )


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, cotangent):
        return 2 * ctx.saved_tensors[0] ** 2 * cotangent


class Calling(torch.nn.Module):
    def __init__(self, function, *numbers, inputs=1):
        super().__init__()
        self.function, self.numbers = function, numbers
        self.weights = torch.nn.ParameterList(torch.randn(4) for _ in range(inputs))

    def forward(self, x):
        return self.function.apply(*(x * w for w in self.weights), *self.numbers)


MODULES = {
    "rounded": lambda: seeded(Calling, Rounded),
    "reversed": lambda: seeded(Calling, Reversed, 2.5),
    "swish": lambda: seeded(Calling, Swish),
    "twice": lambda: seeded(Calling, Twice, 3, inputs=2),
    "careful": lambda: seeded(Calling, Careful, inputs=2),
    "outer": lambda: seeded(Calling, Outer),
    "once": lambda: seeded(Calling, Once),
}
X = tensor(3, 4)


@pytest.mark.parametrize("name", MODULES)
def test_gradients_are_those_of_the_backward_pass(name):
    module = MODULES[name]()
    model = from_torch(module)
    run = lambda params, x: weighted(model(params, x))
    want = torch_gradients(module, (X,), {})
    x = X.clone().requires_grad_()
    [by_x] = torch.autograd.grad(weighted(module(x)), [x])
    got, got_by_x = functx.jit(functx.grad(run, (0, 1)))(model.params, inputs(X))
    assert_same(got, want)
    assert_same(got_by_x, by_x.numpy())
    kept = pickle.loads(pickle.dumps(model))
    assert_same(functx.grad(lambda params: weighted(kept(params, inputs(X))))(model.params), want)


@pytest.mark.parametrize("name", ["swish", "twice", "outer"])
def test_a_backward_pass_is_differentiated_as_pytorch_does(name):
    module = MODULES[name]()
    model = from_torch(module)
    params = list(module.parameters())
    first = torch.autograd.grad(weighted(module(X)), params, create_graph=True)
    want = torch.autograd.grad(sum((g**2).sum() for g in first), params, allow_unused=True)

    def squares(params):
        slopes = functx.grad(lambda params: weighted(model(params, inputs(X))))(params)
        return sum(jnp.sum(g**2) for g in slopes.values())

    got = functx.grad(squares)(model.params)
    for g, w in zip(got.values(), want, strict=True):
        assert_same(g, np.zeros(4) if w is None else w.numpy())


def test_each_sample_and_forward_mode_follow_the_backward_pass():
    model = from_torch(MODULES["rounded"]())
    run = lambda params, x: model(params, x)
    samples = functx.vmap(functx.grad(lambda params, x: run(params, x).sum()), (None, 0))
    assert_same(samples(model.params, inputs(X))["weights.0"], X.numpy())
    _, tangent = functx.jvp(lambda x: run(model.params, x), (inputs(X),), (jnp.ones((3, 4)),))
    assert_same(tangent, np.broadcast_to(model.params["weights.0"], (3, 4)))


def test_what_is_differentiable_once_refuses_a_second_derivative():
    model = from_torch(MODULES["once"]())
    slope = functx.grad(lambda x: functx.sum(model(model.params, x)))
    with pytest.raises(RuntimeError, match="differentiate twice"):
        functx.grad(lambda x: functx.sum(slope(x)))(inputs(X))


def test_equal_calls_share_a_backward_pass():
    class Many(torch.nn.Module):
        def forward(self, x):
            for factor in (2.0, 2.0, 3.0):
                x = Reversed.apply(x, factor)
            return x

    model = from_torch(Many())
    assert (functx.grad(lambda x: functx.sum(model({}, x)))(inputs(X)) == -12).all()
    [forward] = model._forwards.values()
    own = [step.function for step in forward.program.steps if "own_backward" in step.target]
    assert own[0] is own[1] and own[1] is not own[2]


class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, cotangent):
        return 3 * cotangent


class Short(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, cotangent):
        return cotangent


class Reading(torch.autograd.Function):
    """A parameter through `ctx`; its forward pass is not recorded."""

    @staticmethod
    def forward(ctx, x, weights):
        ctx.weights = weights
        with torch.no_grad():
            return x * weights[1]

    @staticmethod
    def backward(ctx, cotangent):
        return cotangent * ctx.weights[1], None


class ReadingItself(Calling):
    def forward(self, x):
        return self.function.apply(x * self.weights[0], self.weights)  # self.function.apply


@pytest.mark.parametrize(
    "function, count, why",
    [
        (Dirty, 1, "NotImplementedError: its forward pass writes into its arguments"),
        (Short, 2, "RuntimeError: it returned 1 gradients for 2 arguments"),
        (Reading, 2, "NotImplementedError: its backward pass reads a parameter or a buffer that "),
    ],
)
def test_a_backward_pass_that_is_lost_is_named(function, count, why):
    module = seeded(ReadingItself if function is Reading else Calling, function, inputs=count)
    model = from_torch(module)
    wanted = (
        rf"of {function.__name__} is lost, .*, from .*self\.function\.apply.*: {why}.*\n.*register"
    )
    with pytest.warns(UserWarning, match=wanted) as met:
        model(model.params, inputs(X))
    assert met[0].filename == __file__
    slope = functx.grad(lambda x: functx.sum(model(model.params, x)))(inputs(X))
    w = [np.asarray(p) for p in model.params.values()]
    want = {Dirty: 2 * w[0], Short: 2 * X.numpy() * w[0] * w[-1], Reading: w[0] * w[-1]}[function]
    assert_same(slope, np.broadcast_to(want, (3, 4)))


def test_a_checkpoint_of_pytorchs_has_the_derivative_of_what_it_runs():
    class Checkpointed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)

        def forward(self, x):
            run = lambda x: torch.tanh(self.layer(x))
            return torch.utils.checkpoint.checkpoint(run, x, use_reentrant=True)

    module = seeded(Checkpointed)
    model = from_torch(module)
    got = functx.grad(lambda params: weighted(model(params, inputs(X))))(model.params)
    weighted(module(X.clone().requires_grad_())).backward()
    assert_same(got, {name: p.grad.numpy() for name, p in module.named_parameters()})


def test_pytorch_is_left_as_it_was():
    apply = torch.autograd.Function.__dict__["apply"]
    model = from_torch(MODULES["outer"]())
    model(model.params, inputs(X))
    assert torch.autograd.Function.__dict__["apply"] is apply

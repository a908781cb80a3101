"""Checks of gradients come to PyTorch's verdicts, with its key phrases."""

import re
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from functx.testing import gradcheck, GradcheckError, gradgradcheck


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")
TorchError = pytest.importorskip("torch.autograd.gradcheck").GradcheckError

X = np.array([0.7, -0.4])
Y = np.array([1.1, 0.6])
Z = X + 1j * Y
FORWARD = {"check_forward_ad": True}


def shifted(x, by=1e-2):
    """`x`, whose gradient is off by `by`, in either library."""
    if isinstance(x, torch.Tensor):
        y = x.clone()
        y.register_hook(lambda g: g + by)
        return y
    function = jax.custom_vjp(lambda x: x)
    function.defvjp(lambda x: (x, None), lambda _, ct: (ct + jnp.asarray(by, ct.dtype),))
    return function(x)


class Twice(torch.autograd.Function):
    """Twice its argument; the rules say three times where `wrong` names them."""

    @staticmethod
    def forward(x, wrong):
        return 2 * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.wrong = inputs[1]

    @staticmethod
    def backward(ctx, grad):
        return (3 if "backward" in ctx.wrong else 2) * grad, None

    @staticmethod
    def jvp(ctx, tangent, _):
        return (3 if "forward" in ctx.wrong else 2) * tangent


def twice(wrong):
    from functx._core.rules.custom_derivatives import derivative_rules

    factor = lambda mode: 3 if mode in wrong else 2
    ours = derivative_rules(
        lambda x: 2 * x,
        jvp=lambda xs, _, ts: factor("forward") * ts[0],
        vjp=lambda xs, _, ct: (factor("backward") * ct,),
    )
    return lambda x: Twice.apply(x, wrong) if isinstance(x, torch.Tensor) else ours(x)


def either(ours, theirs):
    return lambda *xs: (theirs if isinstance(xs[0], torch.Tensor) else ours)(*xs)


def longer(x):
    return torch.cat([x, x]) if isinstance(x, torch.Tensor) else jnp.concatenate([x, x])


SIN = either(jnp.sin, torch.sin)
CONJ = either(jnp.conj, torch.conj_physical)
CUT = either(jax.lax.stop_gradient, lambda x: x.detach())
COMPLEX = either(jax.lax.complex, torch.complex)
NOTHING = {"check_backward_ad": False}

# Function, inputs, options, and what both libraries say of it: None where it passes.
CASES = {
    "sin": (SIN, (X,), FORWARD, None),
    "conj": (CONJ, (Z,), FORWARD, None),
    "complex": (lambda z: z * z, (Z,), {"check_batched_grad": True, **FORWARD}, None),
    "real parts": (lambda z: (z, z.real, z.imag), (Z,), {}, None),
    "mixed": (lambda x, y: (COMPLEX(x, y), x + 1), (X, Y), FORWARD, None),
    "no outputs": (lambda x: (), (X,), {}, None),
    "shifted": (shifted, (X,), {}, "Jacobian mismatch for output 0 with respect to input 0"),
    "shifted complex": (
        shifted,
        (Z,),
        {},
        "While considering the imaginary part of complex outputs only",
    ),
    "second of second": (
        lambda x, y: (x, x * twice("backward")(y)),
        (X, Y),
        {},
        "Jacobian mismatch for output 1 with respect to input 1",
    ),
    "shifted by little": (lambda x: shifted(x, 1e-7), (X,), {}, "not multiplied by grad_output"),
    "cut": (CUT, (X,), {}, "Numerical gradient for function expected to be zero"),
    "cut in part": (lambda x: x + CUT(x) / 100, (X,), {}, "Jacobian mismatch for output 0"),
    "cut input": (
        lambda x, y: x + CUT(y),
        (X, Y),
        {},
        "Jacobian mismatch for output 0 with respect to input 1",
    ),
    "backward": (twice("backward"), (X,), FORWARD, "gradcheck: Jacobian mismatch for output 0"),
    "backward unseen": (twice("backward"), (X,), {**FORWARD, **NOTHING}, None),
    "forward": (twice("forward"), (X,), FORWARD, "Jacobian computed with forward mode mismatch"),
    "forward of complex": (
        twice("forward"),
        (Z,),
        FORWARD,
        "imaginary part of complex inputs only, Jacobian computed with forward mode mismatch",
    ),
    "forward unseen": (twice("forward"), (X,), {}, None),
    "nothing to check": (SIN, (X,), NOTHING, "Expected at least one of"),
    "shape": (
        lambda x: longer(x) if bool((x >= 1).all()) else x,
        (np.ones(1),),
        {},
        "return outputs with the same shape when inputs are perturbed",
    ),
    "integers": (SIN, (np.arange(3),), {}, "at least one input tensor to require gradient"),
}


def theirs(x):
    tensor = torch.tensor(x)
    return tensor.requires_grad_(tensor.is_floating_point() or tensor.is_complex())


def verdict(check, *args, **options):
    """True, or what was raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return check(*args, **options)
    except (GradcheckError, TorchError) as failure:
        return failure
    except (AssertionError, ValueError) as refusal:
        return refusal


def said(outcome):
    return outcome is not True and f"gradcheck: {outcome}".replace(
        "gradcheck: gradcheck:", "gradcheck:"
    )


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_verdicts_and_phrases(name, fast_mode):
    function, inputs, options, phrase = CASES[name]
    options = {**options, "fast_mode": fast_mode}
    ours = verdict(gradcheck, function, inputs, **options)
    torchs = verdict(torch.autograd.gradcheck, function, tuple(map(theirs, inputs)), **options)
    if phrase is None:
        assert ours is True and torchs is True
        return
    assert re.search(phrase, said(torchs)), torchs
    assert re.search(phrase, said(ours)), ours
    assert (type(ours), type(torchs)) in (
        (GradcheckError, TorchError),
        (type(torchs), type(torchs)),
    )


def test_an_output_that_is_cut_off_beside_others_is_left_out():
    function = lambda x: (CUT(x), x * x)
    assert verdict(torch.autograd.gradcheck, function, (theirs(X),)) is True
    assert verdict(gradcheck, function, (X,)) is True
    assert verdict(gradcheck, function, (X,), fast_mode=True) is True  # where PyTorch breaks down


SECOND = {
    "product": (lambda x, y: x * y * y, (X, Y), None),
    "complex": (lambda z: z * z * CONJ(z), (Z,), None),
    "cut": (
        lambda x: x * x * CUT(x),
        (X,),
        "Jacobian mismatch for output 0 with respect to input 0",
    ),
}


@pytest.mark.parametrize("options", [{}, {"fast_mode": True}, {"check_fwd_over_rev": True}])
@pytest.mark.parametrize("name", SECOND)
def test_verdicts_at_second_order(name, options):
    function, inputs, phrase = SECOND[name]
    ours = verdict(gradgradcheck, function, inputs, **options)
    torchs = verdict(torch.autograd.gradgradcheck, function, tuple(map(theirs, inputs)), **options)
    if phrase is None:
        assert ours is True and torchs is True
    else:
        assert phrase in said(ours) and phrase in said(torchs)


@pytest.mark.parametrize("x", [X, Z], ids=["real", "complex"])
def test_numerical_jacobians_are_theirs(x):
    """Theirs are transposed, and complex where the input is."""
    from torch.autograd.gradcheck import _get_numerical_jacobian

    from functx.testing import numerical_jacobian

    function = lambda x: (x * x.conj()).real * x.real
    [[want]] = _get_numerical_jacobian(function, (theirs(x),), eps=1e-6)
    got = numerical_jacobian(function, x)
    got = got[..., 0] + 1j * got[..., 1] if np.iscomplexobj(x) else got
    np.testing.assert_allclose(got.T, want.numpy(), atol=1e-8)

"""`functx.testing.compare` finds where a port and its original part, and names the operator."""

import sys
from collections import OrderedDict, UserDict

import jax
import jax.numpy as jnp
import numpy as np
import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import compare, ComparisonError
from functx.testing.porting.names import key_of_call, key_of_step


F, G = torch.nn.functional, functx.nn.functional
X = np.linspace(-2, 2, 6, dtype="float32").reshape(2, 3)
W = (np.eye(3) + 0.3).astype("float32")
GELU = "torch.nn.functional.gelu"


def original(x, w):
    hidden = F.gelu(F.linear(x, w)) + x
    return {"y": (hidden @ w).sum(-1), "p": torch.softmax(hidden, -1)}


def port(gelu=G.gelu, between=lambda hidden: hidden):
    def ported(x, w):
        hidden = between(gelu(G.linear(x, w)) + x)
        return {"y": (hidden @ w).sum(-1), "p": jax.nn.softmax(hidden, -1)}

    return ported


def pushed(factor):
    return lambda primals, output, tangents: factor * jax.jvp(G.gelu, primals, tangents)[1]


def pulled(factor):
    return lambda primals, output, ct: (factor * jax.vjp(G.gelu, *primals)[1](ct)[0],)


def failure(comparison):
    [line] = comparison.failures
    with pytest.raises(ComparisonError, match=line.what):
        comparison.raise_if_failed()
    return line


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_right_port_agrees_in_everything(dtype):
    comparison = compare(original, port(), X.astype(dtype), W.astype(dtype))
    comparison.raise_if_failed()
    assert [line.what for line in comparison.lines] == [
        "call",
        "dtypes",
        "values",
        "gradients",
        "tangents",
    ]
    assert {line.verdict for line in comparison.lines} == {"passed"}
    assert comparison.operator == ""
    assert "agrees with PyTorch" in str(comparison)


def test_a_wrong_default_is_named_with_its_line():
    line = failure(compare(original, port(lambda x: G.gelu(x, approximate="tanh")), X, W))
    assert line.what == "values" and line.operator == GELU
    assert "what goes in agrees" in line.parting and "test_compare.py:" in line.parting
    assert "PyTorch's" in line.said


def test_a_wrong_gradient_is_named():
    wrong = derivative_rules(lambda x: G.gelu(x), jvp=pushed(1.0), vjp=pulled(2.0), name="mine")
    line = failure(compare(original, port(wrong), X, W))
    assert line.what == "gradients" and line.operator == GELU
    assert "the gradient of args[0]" in line.said and "functx: mine(f32[2,3])" in line.parting


def test_a_wrong_gradient_at_an_argument_is_named():
    wrong = derivative_rules(lambda x: G.gelu(x), jvp=pushed(1.0), vjp=pulled(2.0))
    line = failure(compare(lambda x: F.gelu(x) * 2, lambda x: wrong(x) * 2, X))
    assert line.operator == GELU


def test_a_wrong_tangent_is_named():
    wrong = derivative_rules(lambda x: G.gelu(x), jvp=pushed(2.0), vjp=pulled(1.0))
    line = failure(compare(original, port(wrong), X, W))
    assert line.what == "tangents" and line.operator == GELU
    assert "tangents agree up to torch.nn.functional.linear" in line.parting


def test_another_dtype_is_named():
    def wide(x):
        return functx.cumsum(G.gelu(x), -1, dtype="float64")

    line = failure(compare(lambda x: torch.cumsum(F.gelu(x), -1), wide, X))
    assert line.what == "dtypes" and line.operator == "torch.cumsum"
    assert line.said == "output 0 is f64[2,3], PyTorch's f32[2,3]"


def test_an_operator_too_many_is_named():
    line = failure(compare(original, port(between=G.relu), X, W))
    assert line.operator == "nn.functional.relu"
    assert "values agree up to torch.Tensor.add" in line.parting
    assert "which PyTorch's does not" in line.parting


def test_an_operator_that_is_missing_is_named():
    line = failure(compare(lambda x: F.relu(F.gelu(x)) * 2, lambda x: G.gelu(x) * 2, X))
    assert line.operator == "torch.nn.functional.relu"
    assert "which functx's does not" in line.parting


def test_different_operators_are_said_to_be_different():
    def normalised(x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-3)

    line = failure(compare(lambda x: F.layer_norm(F.gelu(x), (3,)), lambda x: normalised(G.gelu(x)),
                           X))  # fmt: skip
    assert "values agree up to torch.nn.functional.gelu" in line.parting
    assert "different operators: PyTorch's torch.nn.functional.layer_norm" in line.parting
    assert "at test_compare.py:" in line.parting


def test_a_port_in_other_operators_agrees():
    comparison = compare(F.silu, lambda x: x * jax.nn.sigmoid(x), X)
    assert comparison.passed, comparison


def test_tensors_dtypes_integers_and_numbers_are_converted():
    def theirs(tree, i, dtype, *, scale):
        return (tree["x"][i] * scale).to(dtype), tree["x"].shape[0]

    def ours(tree, i, dtype, *, scale):
        return (tree["x"][i] * scale).astype(dtype), tree["x"].shape[0]

    tree, i = {"x": torch.from_numpy(X)}, np.asarray([1, 0])
    for x64 in (True, False):
        with functx.x64(x64):
            comparison = compare(theirs, ours, tree, i, jnp.float16, kwargs={"scale": 2})
            assert comparison.passed, comparison


@pytest.mark.parametrize("theirs", [dict, OrderedDict])
@pytest.mark.parametrize("ours", [dict, OrderedDict, UserDict])
def test_dicts_are_compared_by_key_in_whatever_order_they_are_made(theirs, ours):
    def of(module, made, names):
        return lambda x: [made({name: [getattr(module, name)(x)] for name in names})]

    right = compare(of(torch, theirs, ["sin", "cos"]), of(functx, ours, ["sin", "cos"]), X)
    turned = compare(of(torch, theirs, ["sin", "cos"]), of(functx, ours, ["cos", "sin"]), X)
    assert right.passed and turned.passed, turned
    wrong = lambda x: ours(sin=functx.cos(x), cos=functx.sin(x))
    assert not compare(of(torch, theirs, ["sin", "cos"]), wrong, X).passed


def test_whole_numbers_of_numpy_are_numbers_on_both_sides():
    def theirs(x, dim, keepdim):
        return x.reshape(dim + 1, -1).sum(dim, keepdim=keepdim)

    comparison = compare(theirs, lambda *a: functx.sum(a[0].reshape(a[1] + 1, -1), *a[1:]), X,
                         np.int64(1), np.bool_(True))  # fmt: skip
    assert comparison.passed, comparison


def test_integers_in_32_bits_stand_for_those_in_64():
    with functx.x64(False):
        comparison = compare(torch.argmax, jnp.argmax, X)
        assert comparison.passed, comparison
        assert comparison.lines[-1].verdict == "left out"


def test_complex_gradients_are_held_in_pytorchs_convention():
    z = (X + 1j * X[::-1]).astype("complex128")
    assert compare(lambda z: torch.sin(z) * z, lambda z: functx.sin(z) * z, z).passed
    verdicts = []
    for turned in (jnp.conj, lambda x: x):
        ported = derivative_rules(
            jnp.sin,
            jvp=lambda primals, output, tangents: jnp.cos(primals[0]) * tangents[0],
            vjp=lambda primals, output, ct, turned=turned: (turned(jnp.cos(primals[0])) * ct,),
        )
        verdicts.append(compare(torch.sin, ported, z).passed)
    assert sorted(verdicts) == [False, True]


def test_what_is_done_in_place_is_seen():
    def theirs(x):
        y = x * 2
        y += 1
        return y.relu_().mean()

    assert compare(theirs, lambda x: G.relu(functx.add(x * 2, 1)).mean(), X).passed
    line = failure(compare(theirs, lambda x: G.relu(functx.add(x * 2, 2)).mean(), X))
    assert line.operator == "torch.Tensor.add_"


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x)

    @staticmethod
    def backward(ctx, grad_output):
        return torch.cos(ctx.saved_tensors[0]) * grad_output


def test_what_pytorch_does_not_differentiate_is_left_out():
    comparison = compare(Sine.apply, functx.sin, X)
    verdicts = [line.verdict for line in comparison.lines]
    assert verdicts == ["passed"] * 4 + ["left out"]
    assert comparison.passed and "PyTorch's raises" in comparison.lines[-1].said


@pytest.mark.parametrize(
    "theirs, ours, said",
    [
        (lambda x: x.reshape(5), lambda x: x, "PyTorch's raises RuntimeError: shape"),
        (lambda x: x, lambda x: x.reshape(5), "functx's raises TypeError: cannot reshape"),
        (lambda x: (x, x), lambda x: x, "functx's returns 1 arrays, PyTorch's 2"),
    ],
)
def test_calls_that_cannot_be_compared(theirs, ours, said):
    line = failure(compare(theirs, ours, X))
    assert line.what == "call" and line.said.startswith(said)


def test_a_port_that_cannot_be_traced_is_compared_in_values():
    comparison = compare(torch.tanh, lambda x: jnp.asarray(np.sin(np.asarray(x))), X)
    line = failure(comparison)
    assert "where they part cannot be told" in line.parting and "NumPy array" in line.parting


def test_names_of_one_operator_are_one():
    for name in ("torch.special.expit", "torch.Tensor.sigmoid_", "torch.sigmoid"):
        assert key_of_call(name) == key_of_step("logistic", "primitive") == "sigmoid"
    assert key_of_call("torch.Tensor.__rsub__") == key_of_step("sub", "primitive")
    assert key_of_call("torch.matmul") == key_of_step("dot_general", "primitive")


def test_without_pytorch_the_remedy_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"compare: PyTorch.* not installed\n.*pip install torch"):
        compare(original, port(), X, W)


def test_what_is_no_function_and_no_array_is_refused():
    with pytest.raises(TypeError, match="`f_torch` must be callable, got 1"):
        compare(1, functx.sin, X)
    with pytest.raises(TypeError, match="`f_functx` must be callable, got 1"):
        compare(torch.sin, 1, X)
    with pytest.raises(ValueError, match="expected an array among the arguments"):
        compare(torch.sin, functx.sin, 1.0)


def test_a_large_mask_hides_no_difference():
    mask = np.where(np.eye(3, dtype=bool)[:2], -1e9, 0).astype("float32")
    theirs = lambda x, mask: torch.softmax(x + mask, -1)
    ours = lambda x, mask: functx.softmax(x + mask, -1) * 1.01
    line = failure(compare(theirs, ours, X, mask))
    assert line.what == "values"


def test_digits_that_larger_arguments_take_with_them_are_no_difference():
    theirs = lambda x: (x + 1e4) - 1e4
    ours = lambda x: x + (1e4 - 1e4)
    large = (X + 1e4).astype("float32")
    compare(lambda x: theirs(x) - 1e4, lambda x: ours(x) - 1e4, large).raise_if_failed()

    with pytest.raises(ValueError, match="compare: `ulps` must be finite and not negative, got -1"):
        compare(torch.sin, functx.sin, X, ulps=-1)
    with pytest.raises(TypeError, match=r"compare: `dim` does not exist here\n.*kwargs="):
        compare(torch.sum, functx.sum, X, dim=0)
    with pytest.raises(TypeError, match="compare: `kwargs` must be a dict from names to arguments"):
        compare(torch.sin, functx.sin, X, kwargs=[1])

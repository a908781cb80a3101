"""Exported programs: dynamic sizes, their ranges, and files that need JAX alone."""

import pickle
import re
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.interop import from_torch


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from .comparing import arrays, assert_same, inputs, torch_gradients, weighted  # noqa: E402
from .modules import CALLS, seeded, Silent, tensor  # noqa: E402


class Sized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)

    def forward(self, x):
        y = torch.nn.functional.gelu(self.layer(x)).view(x.shape[0] // 2, -1)
        steps = torch.arange(x.shape[0] * 2, dtype=x.dtype)
        return y.sum(1), steps * x.shape[0], x.reshape(-1)[: x.shape[0] + 1]


def program(least=2, most=50):
    module = seeded(Sized).eval()
    even = 2 * torch.export.Dim("half", min=least, max=most)
    shapes = {"x": {0: even}}
    return module, torch.export.export(module, (tensor(8, 4),), dynamic_shapes=shapes)


def test_sizes_within_the_range():
    module, exported = program()
    model = from_torch(exported)
    for n in (4, 10):
        assert_same(model(model.params, inputs(tensor(n, 4))), arrays(module(tensor(n, 4))))
        got = functx.grad(lambda p, n=n: weighted(model(p, inputs(tensor(n, 4)))))(model.params)
        assert_same(got, torch_gradients(module, (tensor(n, 4),), {}))


def test_sizes_out_of_the_range_are_refused():
    _, exported = program()
    model = from_torch(exported)
    with pytest.raises(ValueError, match=r"`x` was exported as float64\[2\*\w+,4\], got \[102,4\]"):
        model(model.params, jnp.ones((102, 4)))
    with pytest.raises(ValueError, match=r"exported for 2 to 50, and would be 1"):
        model(model.params, jnp.ones((2, 4)))
    with pytest.raises(ValueError, match=r"got \[5,4\]"):
        model(model.params, jnp.ones((5, 4)))
    with pytest.raises(ValueError, match=r"got \[4,5\]\n.*dynamic_shapes"):
        model(model.params, jnp.ones((4, 5)))
    with pytest.raises(TypeError, match=r"exported as float64.*got f32\[4,4\]"):
        model(model.params, jnp.ones((4, 4), "float32"))
    with pytest.raises(TypeError, match="exported for arguments"):
        model(model.params, jnp.ones((4, 4)), 3)
    halves = {name: p.astype("float16") for name, p in model.params.items()}
    with pytest.raises(TypeError, match=r"'layer.weight' was exported as float64, got float16"):
        model(halves, jnp.ones((4, 4)))


def test_sizes_of_one_name_agree():
    class Adding(torch.nn.Module):
        def forward(self, x, y):
            return x + y

    shapes = {name: {0: torch.export.Dim("n", min=2)} for name in ("x", "y")}
    exported = torch.export.export(Adding(), (torch.ones(3), torch.ones(3)), dynamic_shapes=shapes)
    model = from_torch(exported)
    x = jnp.ones(6, "float32")
    assert model({}, x, x).tolist() == [2] * 6
    with pytest.raises(ValueError, match=r"`y` .*got \[5\]\n.* is 6 in `x`"):
        model({}, x, x[:5])


def test_structure_and_fixed_arguments():
    module, args, kwargs = CALLS["structured"]()
    model = from_torch(torch.export.export(module, args, kwargs))
    ours, named = inputs(args), inputs(kwargs)
    assert_same(model(model.params, *ours, **named), arrays(module(*args, **kwargs)))
    with pytest.raises(ValueError, match=r"exported for the value 0.5, got 0.25"):
        model(model.params, *ours, **{**named, "scale": 0.25})
    with pytest.raises(TypeError, match="exported for arguments"):
        model(model.params, *ours, mask=named["mask"])


@pytest.mark.filterwarnings("ignore:The tensor attributes")  # of torch.export about LSTM's weights
@pytest.mark.parametrize("name", ["convolutional", "recurrent", "buffers", "silent"])
def test_programs_of_modules(name):
    module, args, kwargs = CALLS[name]()
    exported = torch.export.export(module.eval(), args, kwargs)
    model, whole = from_torch(exported), from_torch(module)
    assert model.params.keys() == whole.params.keys()
    assert model.buffers.keys() == whole.buffers.keys()
    given = inputs(args)
    assert_same(model(model.params, *given), jax.tree.map(np.asarray, whole(whole.params, *given)))
    gradients = [
        functx.jit(functx.grad(lambda p, m=m: weighted(m(p, *given))))(m.params)
        for m in (model, whole)
    ]
    assert_same(gradients[0], {n: np.asarray(g) for n, g in gradients[1].items()})


def test_an_exported_program_stays_as_it_was():
    module = seeded(Silent)
    exported = torch.export.export(module, (tensor(3),))
    before = str(exported)
    from_torch(exported)
    assert str(exported) == before


def test_forward_passes_hold_nothing_of_pytorch():
    module, args, kwargs = CALLS["branching"]()
    model = from_torch(module)
    want = model(model.params, *inputs(args))
    [forward] = model._forwards.values()
    again = pickle.loads(pickle.dumps(forward))
    got, _ = again(model.params, model.buffers, jax.tree.leaves(inputs(args)))
    assert_same(got, jax.tree.map(np.asarray, want))
    named = set(re.findall(rb"c([\w.]+)\n", pickle.dumps(forward, 0)))  # modules of classes
    assert named and not any(name.split(b".")[0] == b"torch" for name in named)


SAVED = """
    import sys
    sys.modules["torch"] = None  # any import of it fails
    import jax, numpy as np
    jax.config.update("jax_enable_x64", True)
    given = np.load("given.npz")
    program = jax.export.deserialize(bytearray(open("program.bin", "rb").read()))
    params = {name: given[name] for name in ("layer.weight", "layer.bias")}
    loss = lambda p: program.call(p, given["x"])[0].sum()
    np.savez("got.npz", y=program.call(params, given["x"])[0], **jax.grad(loss)(params))
"""


def test_a_saved_program_needs_jax_alone(tmp_path):
    pytest.importorskip("flatbuffers", reason="jax.export writes files with flatbuffers")
    module, exported = program()
    model = from_torch(exported)
    size = jax.export.symbolic_shape("2*half, 4", constraints=["half >= 2", "half <= 50"])
    spec = jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, p.dtype), model.params)
    x = jax.ShapeDtypeStruct(size, "float64")
    saved = jax.export.export(jax.jit(model))(spec, x)
    (tmp_path / "program.bin").write_bytes(saved.serialize(vjp_order=1))
    x = tensor(6, 4)
    np.savez(tmp_path / "given.npz", x=x.numpy(), **model.params)
    source = textwrap.dedent(SAVED)
    options = {"cwd": tmp_path, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", source], **options)
    assert done.returncode == 0, done.stderr
    got = dict(np.load(tmp_path / "got.npz"))
    first = module(x)[0]
    assert_same(got.pop("y"), first.detach().numpy())
    first.sum().backward()
    assert_same(got, {name: p.grad.numpy() for name, p in module.named_parameters()})

"""What is wrong with a call, a model or its parameters is said by name."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.interop import from_torch, register


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")


@pytest.fixture
def model():
    return from_torch(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)))


X = jnp.ones((4, 3), "float32")


def test_parameters_that_do_not_fit(model):
    params = dict(model.params)
    with pytest.raises(ValueError, match=r"`params` lacks '0.weight'\n.*it has '0.weigth'"):
        model({"0.weigth" if n == "0.weight" else n: p for n, p in params.items()}, X)
    with pytest.raises(ValueError, match=r"`params` lacks '0.bias', and 2 more"):
        model({"0.weight": params["0.weight"]}, X)
    with pytest.raises(ValueError, match=r"`params` has no '0.biass'\n.*mean '0.bias'"):
        model({**params, "0.biass": params["0.bias"]}, X)
    with pytest.raises(
        ValueError, match=r"`params\['0.weight'\]` must have the shape \[2,3\], got"
    ):
        model({**params, "0.weight": jnp.ones((3, 2), "float32")}, X)
    stacked = {**params, "0.weight": jnp.ones((5, 2, 3), "float32")}
    with pytest.raises(ValueError, match=r"got f32\[5,2,3\]\n.*functx.vmap"):
        model(stacked, X)
    with pytest.raises(TypeError, match=r"`params` must be a dict .*got f32\[4,3\]"):
        model(X, X)
    with pytest.raises(TypeError, match=r"`params\['0.bias'\]` must be an array, got torch.Tensor"):
        model({**params, "0.bias": torch.ones(2)}, X)
    with pytest.raises(ValueError, match=r"`buffers` lacks '1.running_var'"):
        buffers = {n: b for n, b in model.buffers.items() if n != "1.running_var"}
        model.apply(params, buffers, X)


def test_arguments_that_do_not_fit(model):
    with pytest.raises(TypeError, match=r"got torch.Tensor\[4,3\]\n.*functx.from_dlpack"):
        model(model.params, torch.ones(4, 3))
    with pytest.raises(TypeError, match=r"hashable values, got set"):
        model(model.params, {1, 2})
    with pytest.raises(TypeError, match=r"`key` must be a PRNG key, got f32\[4,3\]\n.*by position"):
        model.apply(model.params, model.buffers, X, key=X)
    with pytest.raises(TypeError, match=r"`train` must be a bool"):
        model.apply(model.params, model.buffers, X, train=1)
    for wrong in (len, {"0.weight": X}, "model.pt"):
        with pytest.raises(
            TypeError, match=r"must be a torch.nn.Module or an ExportedProgram, got"
        ):
            from_torch(wrong)
    with pytest.raises(ValueError, match="meta"):
        from_torch(torch.nn.Linear(2, 2, device="meta"))


def test_symbolic_sizes_need_an_exported_program(model):
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 3"), "float32")
    with pytest.raises(ValueError, match="torch.export.export"):
        jax.export.export(functx.jit(lambda x: model(model.params, x)))(spec)


def test_a_module_whose_tensors_changed_is_imported_again():
    """Some modules make a buffer for the sizes of their first call."""

    class Caching(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("places", torch.zeros(1))

        def forward(self, x):
            if len(self.places) != len(x):
                self.places = torch.arange(len(x), dtype=x.dtype)
            return x + self.places

    module = Caching()
    early = from_torch(module)
    module(torch.zeros(3))
    message = r"'places' of Caching was f32\[1\] when .* imported, and is f32\[3\] now"
    with pytest.raises(ValueError, match=message) as raised:
        early({}, np.zeros(3, "float32"))
    assert "import the module again" in str(raised.value)
    later = from_torch(module)
    np.testing.assert_array_equal(later({}, np.zeros(3, "float32")), [0, 1, 2])
    module.register_buffer("scale", torch.ones(()))
    with pytest.raises(ValueError, match=r"'scale' .* not there when .* is f32\[\] now"):
        later({}, np.zeros(2, "float32"))


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # by torch.export itself
def test_a_tensor_that_an_earlier_call_computed_is_refused():
    class Keeping(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3))
            self.kept = {}

        def forward(self, x):
            if "doubled" not in self.kept:
                self.kept["doubled"] = self.weight * 2
            return x * self.kept["doubled"]

    module, x = Keeping(), np.ones(3, "float32")
    slope = lambda model: functx.grad(lambda params: model(params, x).sum())(model.params)["weight"]
    assert slope(from_torch(module)).tolist() == [2, 2, 2]
    module(torch.ones(3))
    with pytest.raises(ValueError, match=r"Keeping keeps a tensor f32\[3\] that") as raised:
        slope(from_torch(module))
    assert "torch.no_grad()" in str(raised.value)
    with pytest.raises(ValueError, match="ExportedProgram keeps a tensor"):
        from_torch(torch.export.export(module, (torch.ones(3),)))
    module.kept.clear()
    with torch.no_grad():
        module(torch.ones(3))
    assert slope(from_torch(module)).tolist() == [0, 0, 0]


def test_errors_of_operators_name_the_line_of_the_model():
    class Picking(torch.nn.Module):
        def forward(self, i):
            return torch.nn.functional.one_hot(i, 3)  # the line

    model = from_torch(Picking())
    with pytest.raises(Exception, match="one_hot") as raised:
        model({}, jnp.asarray([5]))
    [note] = [n for n in raised.value.__notes__ if n.startswith("from_torch")]
    assert "aten.one_hot.default" in note and "test_errors.py" in note and "# the line" in note


def test_errors_of_exports_name_the_line_of_the_model():
    class Choosing(torch.nn.Module):
        def forward(self, x, scale):
            return x * scale if x.sum() > 0 else -x  # the branch

    with pytest.raises(Exception, match="data-dependent") as raised:
        from_torch(Choosing())({}, X, 2.0)
    [note] = raised.value.__notes__
    assert note.startswith("from_torch: in the export of Choosing for f32[4,3], 2.0, from ")
    assert "test_errors.py" in note and "# the branch\n  hint: an export knows no values" in note

    class Detached(torch.nn.Module):
        def forward(self, x):
            y = x * 2
            y.detach().mul_(x)  # the write
            return y

    with pytest.raises(NotImplementedError, match="# the write writes values .*\n.*clone"):
        from_torch(Detached())({}, X)
    model = from_torch(torch.nn.Linear(3, 2))
    with pytest.raises(RuntimeError, match="reduction dim") as raised:
        model(model.params, X.T)
    assert raised.value.__notes__ == ["from_torch: in the export of Linear for f32[3,4]"]


def test_an_export_leaves_pytorch_as_it_was():
    layers, law = torch.nn.modules.transformer, torch.distributions.Distribution
    before = layers._detect_is_causal_mask, law._validate_args
    module = torch.nn.Linear(3, 2)
    from_torch(module)({name: functx.asarray(p) for name, p in module.state_dict().items()}, X)
    with pytest.raises(RuntimeError):
        from_torch(module)(from_torch(module).params, X.T)
    assert before == (layers._detect_is_causal_mask, law._validate_args)


@pytest.fixture(scope="module")
def library():
    """An operator of a library, such as users write for a kernel of their own."""

    @torch.library.custom_op("functx_tests::scale", mutates_args=())
    def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
        return x * factor

    scale.register_fake(lambda x, factor: torch.empty_like(x))
    return scale


class Scaling(torch.nn.Module):
    def forward(self, x):
        return torch.ops.functx_tests.scale(x, 3.0) + 1


def test_operators_of_libraries_are_registered(library):
    model = from_torch(Scaling())
    with pytest.raises(NotImplementedError) as raised:
        model({}, jnp.ones(2, "float32"))
    message = str(raised.value)
    assert "functx_tests::scale" in message and "test_errors.py" in message
    assert "torch.ops.functx_tests.scale(x, 3.0)" in message
    assert 'functx.interop.register("functx_tests::scale")(f)' in message
    try:

        @register("functx_tests::scale")
        def scale(x, factor):
            return functx.mul(x, factor)

        assert model({}, jnp.ones(2, "float32")).tolist() == [4, 4]
        slope = functx.grad(lambda x: functx.sum(model({}, x)))(jnp.ones(2, "float32"))
        assert slope.tolist() == [3, 3]
    finally:
        registry()._registered.pop("functx_tests::scale", None)


def registry():
    from functx._interop.from_torch import registered

    return registered


def test_what_is_registered_goes_before_functx():
    try:
        register("aten::sin")(lambda x: functx.cos(x))

        class Sine(torch.nn.Module):
            def forward(self, x):
                return torch.sin(x)

        assert from_torch(Sine())({}, jnp.zeros(1, "float32")).tolist() == [1]
    finally:
        registry()._registered.pop("aten::sin")
    for wrong in ("sin", "aten:sin", "aten::a.b.c"):
        with pytest.raises(ValueError, match="a namespace and a name"):
            register(wrong)
    with pytest.raises(TypeError, match="must be a string"):
        register(torch.sin)
    with pytest.raises(TypeError, match="must be given a function"):
        register("aten::sin")(3)


def test_families_that_are_left_out_say_what_to_do():
    class Packing(torch.nn.Module):
        def forward(self, x):
            return torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)

    with pytest.raises(NotImplementedError, match="before it is quantised"):
        from_torch(Packing())({}, X)

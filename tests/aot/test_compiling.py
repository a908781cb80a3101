"""`aot_function` and `aot_module`: which compiler gets which graph when, and transforms of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.aot import aot_function, aot_module, default_partition, interpret_graph, xla


X, W = jnp.linspace(-1, 1, 6, dtype="float32").reshape(2, 3), jnp.ones((3, 2), "float32") * 0.3


def loss(x, w):
    return functx.sum(functx.sin(x @ w) ** 2)


def noting(calls, name):
    def compiler(graph):
        calls.append(name)
        return interpret_graph(graph)

    return compiler


class TestWhatIsCompiled:
    def test_each_pass_when_it_first_runs(self):
        calls = []
        f = aot_function(
            loss, noting(calls, "fw"), noting(calls, "bw"), inference_compiler=noting(calls, "inf")
        )
        assert calls == []
        f(X, W)
        f(X + 1, W)
        assert calls == ["inf"]
        _, pull = functx.vjp(f, X, W)
        assert calls == ["inf", "fw"]
        pull(jnp.float32(1))
        pull(jnp.float32(2))
        assert calls == ["inf", "fw", "bw"]
        assert [c.kind for c in f.compilations] == ["inference", "forward", "backward"]

    def test_reasons(self):
        f = aot_function(lambda x, scale: functx.sum(x * scale), interpret_graph)
        f(X, 2)
        f(X[:1], 2)
        f(X[:1], 3)
        f(X[:1].astype("bfloat16"), 3)
        f({"x": X}["x"], 2)
        assert [c.reason for c in f.compilations] == [
            "the first",
            "args[0]: f32[2,3] -> f32[1,3]",
            "the constants: 2 -> 3",
            "args[0]: f32[1,3] -> bf16[1,3]",
        ]
        assert "inference, " in str(f.compilations[0])

    def test_trees(self):
        f = aot_function(lambda tree: functx.sum(jax.tree.leaves(tree)[0]), interpret_graph)
        f([X])
        f({"x": X})
        assert "the tree: " in f.compilations[1].reason

    def test_other_inputs_are_differentiated(self):
        f = aot_function(loss, interpret_graph)
        functx.grad(f)(X, W)
        functx.grad(f, argnums=1)(X, W)
        assert [c.reason for c in f.compilations][2:] == ["other inputs are differentiated"] * 2

    def test_it_is_told(self, capsys):
        aot_function(loss, interpret_graph, explain=True)(X, W)
        assert capsys.readouterr().out.startswith("loss: inference, ")


class TestValues:
    @pytest.mark.parametrize("compiler", [xla, interpret_graph])
    @pytest.mark.parametrize("partition_fn", [default_partition, functx.aot.min_cut_partition])
    def test_gradients(self, compiler, partition_fn):
        f = aot_function(loss, compiler, partition_fn=partition_fn)
        np.testing.assert_allclose(f(X, W), loss(X, W), rtol=1e-5)
        for argnums in (0, 1):
            got, want = (functx.grad(g, argnums=argnums)(X, W) for g in (f, loss))
            np.testing.assert_allclose(got, want, rtol=1e-5)
        assert isinstance(f.last_partition, functx.aot.GraphPartition)

    @pytest.mark.parametrize(
        "transform",
        [
            lambda f: functx.jvp(f, (X, W), (X, W))[1],
            lambda f: functx.hessian(f, argnums=1)(X, W),
            lambda f: jax.jit(functx.grad(f))(X, W),
            lambda f: functx.vmap(functx.grad(f), (0, None))(X[:, None], W),
            lambda f: functx.jacfwd(functx.grad(f))(X, W),
            lambda f: functx.jacrev(functx.jacrev(f))(X, W),
            lambda f: jax.jvp(jax.grad(f), (X, W), (X, W))[1],
            lambda f: functx.grad(lambda x: functx.sum(functx.grad(f)(x, W) ** 2))(X),
        ],
    )
    def test_transforms(self, transform):
        np.testing.assert_allclose(
            transform(aot_function(loss)), transform(loss), rtol=1e-4, atol=1e-6
        )

    def test_numpy_compiles(self):
        """A compiler that hands the work to another library."""

        def by_numpy(graph):
            run = graph.code.function(primitives=NumPys())
            return lambda *xs: run(*map(np.asarray, xs))

        f = aot_function(lambda x: jnp.sum(jnp.sin(x) * x), by_numpy)
        np.testing.assert_allclose(f(X), np.sum(np.sin(X) * X), rtol=1e-5)
        np.testing.assert_allclose(functx.grad(f)(X), np.sin(X) + X * np.cos(X), rtol=1e-4)

    def test_trees_integers_keys_and_several_outputs(self):
        def function(tree, n):
            y = functx.mul(functx.sin(tree["x"]), n)
            return {"y": y, "index": functx.argmax(y), "text": "as it is", "x": tree["x"]}

        f, tree, n = aot_function(function), {"x": X}, jnp.int32(2)
        got, want = f(tree, n), function(tree, n)
        assert got["text"] == "as it is" and int(got["index"]) == int(want["index"])
        g = functx.grad(lambda tree: functx.sum(f(tree, n)["y"] * f(tree, n)["x"]))(tree)
        h = functx.grad(lambda tree: functx.sum(function(tree, n)["y"] * tree["x"]))(tree)
        np.testing.assert_allclose(g["x"], h["x"], rtol=1e-5)


class NumPys:
    """Primitives of JAX by NumPy's functions."""

    def __getattr__(self, name):
        return Bound(name)


class Bound:
    def __init__(self, name):
        self.name = name

    def bind(self, *xs, **params):
        rules = {
            "sin": np.sin,
            "cos": np.cos,
            "mul": np.multiply,
            "add": np.add,
            "add_any": np.add,
            "reduce_sum": lambda x: np.sum(x, params["axes"]),
            "broadcast_in_dim": lambda x: np.broadcast_to(x, params["shape"]),
            "convert_element_type": lambda x: np.asarray(x).astype(params["new_dtype"]),
        }
        return rules[self.name](*xs)


class TestModules:
    def test_parameters_and_buffers(self):
        def model(parameters, x):
            return functx.sum(functx.tanh(x @ parameters["w"]) + parameters["shift"])

        f = aot_module(model)
        parameters = {"w": W, "shift": jnp.ones(2, "float32")}
        got, want = functx.grad(f)(parameters, X), functx.grad(model)(parameters, X)
        for name in parameters:
            np.testing.assert_allclose(got[name], want[name], rtol=1e-5)


class TestErrors:
    def test_arguments(self):
        with pytest.raises(TypeError, match="aot_function: `func` must be callable"):
            aot_function(1)
        with pytest.raises(TypeError, match="`fw_compiler` must be callable, got 'xla'"):
            aot_function(loss, "xla")
        with pytest.raises(TypeError, match="`partition_fn` must be callable"):
            aot_function(loss, partition_fn=1)
        with pytest.raises(TypeError, match="`explain` must be a bool"):
            aot_function(loss, explain=1)
        with pytest.raises(TypeError, match="aot_module: `fw_compiler` must be callable"):
            aot_module(loss, 1)
        with pytest.raises(TypeError, match="aot_module: the compiler of the inference pass"):
            aot_module(lambda parameters: parameters, lambda graph: 1)({"w": X})

    def test_what_compilers_return(self):
        with pytest.raises(
            TypeError, match="the compiler of the inference pass must return a function"
        ):
            aot_function(loss, lambda graph: 1)(X, W)
        with pytest.raises(TypeError, match="`inference_compiler` returns must give f32.*, got"):
            aot_function(loss, lambda graph: lambda *xs: [np.ones(3)])(X, W)
        with pytest.raises(TypeError, match="must give a sequence of arrays"):
            aot_function(loss, lambda graph: lambda *xs: 1.0)(X, W)
        with pytest.raises(TypeError, match="`partition_fn` must return a partition"):
            functx.grad(aot_function(loss, partition_fn=lambda joint: joint))(X, W)

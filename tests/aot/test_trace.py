"""Graphs: traced, called, transformed, costed, written as code."""

import functools as ft
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.aot import Graph, trace
from functx.testing.checks.programs import compiled


X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
PARAMETERS = {
    "w": jnp.asarray(np.cos(np.arange(12.0)).reshape(3, 4), "float32"),
    "b": jnp.ones(4, "float32"),
}


def network(parameters, x):
    """An affine map, a user's compiled function, a loop, a branch."""
    h = functx.tanh(x @ parameters["w"] + parameters["b"])
    h = jax.jit(lambda h: functx.nn.functional.layer_norm(h, (4,)))(h)
    h, _ = jax.lax.scan(lambda c, _: (functx.sin(c) * c, None), h, None, length=3)
    h = jax.lax.cond(functx.sum(h) > 0, lambda h: functx.exp(h), lambda h: -h, h)
    return {"loss": functx.sum(functx.softmax(h, dim=1) ** 2), "mean": functx.mean(h)}


def close(a, b, rtol=1e-5):
    jax.tree.map(ft.partial(np.testing.assert_allclose, rtol=rtol, atol=1e-6), a, b)


@pytest.mark.parametrize("level", ["operator", "primitive"])
def test_a_graph_is_called_like_its_function(level):
    graph = trace(network, PARAMETERS, X, level=level)
    close(graph(PARAMETERS, X), network(PARAMETERS, X))
    other = jax.tree.map(lambda p: p * 0.5, PARAMETERS)
    close(graph(other, -X), network(other, -X))


@pytest.mark.parametrize(
    "transform",
    [
        functx.grad,
        lambda f: lambda p: functx.jvp(f, (p,), (p,))[1],
        functx.hessian,
        lambda f: (
            lambda p: functx.vmap(functx.grad(f))(jax.tree.map(lambda p: jnp.stack([p, -p]), p))
        ),
        lambda f: functx.jacfwd(functx.grad(f)),
    ],
)
def test_a_graph_is_transformed_like_its_function(transform):
    function = lambda p: network(p, X)["loss"]
    got, want = (
        compiled(transform(f))(PARAMETERS) for f in (trace(function, PARAMETERS), function)
    )
    close(got, want, rtol=1e-4)


def test_a_graph_is_differentiated_without_jit():
    function = lambda p: network(p, X)["loss"]
    got = functx.grad(trace(function, PARAMETERS))(PARAMETERS)
    close(got, compiled(functx.grad(function))(PARAMETERS), rtol=1e-4)


def test_operators_are_nodes_and_calls_are_opened():
    graph = trace(network, PARAMETERS, X)
    names = [node.name for node in graph.nodes]
    assert "nn.functional.layer_norm" in names and "scan" in names and "cond" in names
    assert {node.kind for node in graph.nodes if node.name == "tanh"} == {"operator"}
    scan = next(node for node in graph.nodes if node.name == "scan")
    assert [node.name for node in scan.programs[0]] == ["sin", "mul"]
    assert all(node.line is not None and node.line.file == __file__ for node in graph.nodes)


def test_primitives_open_operators_but_not_rules():
    graph = trace(network, PARAMETERS, X, level="primitive")
    kinds = {node.kind for node in graph.nodes}
    assert "operator" not in kinds and "rule" in kinds
    assert graph.counts["rsqrt"] == 1
    assert all(node.line is not None and node.line.file == __file__ for node in graph.nodes)


def test_a_function_called_twice_has_separate_values():
    twice = jax.jit(lambda x: functx.sin(x) * 2)
    graph = trace(lambda x: twice(x) - twice(x + 1), X)
    close(graph(X), np.sin(X) * 2 - np.sin(X + 1) * 2)
    lines = {node.line.line for node in graph.nodes if node.name == "sin"}
    assert len(lines) == 1


def test_a_graph_takes_specs_and_numbers():
    spec = jax.ShapeDtypeStruct((2, 3), jnp.float32)
    graph = trace(lambda x, power, *, scale: scale * x**power, spec, 2, scale=3)
    close(graph(X, 2, scale=3), 3 * X**2)
    with pytest.raises(TypeError, match=r"graph: a constant of the graph must be 2, got 3"):
        graph(X, 3, scale=3)


def test_symbolic_sizes():
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 3"), jnp.float32)
    graph = trace(lambda p, x: network(p, x)["loss"], PARAMETERS, spec)
    assert graph.inputs["args[1]"] == "f32[b,3]"
    rows = jnp.asarray(np.sin(np.arange(15.0)).reshape(5, 3), "float32")
    close(graph(PARAMETERS, rows), network(PARAMETERS, rows)["loss"])
    close(
        functx.grad(graph)(PARAMETERS, rows),
        functx.grad(lambda p: network(p, rows)["loss"])(PARAMETERS),
        rtol=1e-4,
    )
    opened = graph.decompose(["nn.functional.layer_norm"])
    close(opened(PARAMETERS, rows), graph(PARAMETERS, rows))
    with pytest.raises(TypeError, match=r"`args\[1\]` must be f32\[b,3\]"):
        graph(PARAMETERS, rows.T)


def test_calls_with_other_arguments_are_refused():
    graph = trace(network, PARAMETERS, X)
    with pytest.raises(
        TypeError, match=r"`args\[1\]` must be f32\[2,3\], as it was traced, got f32\[5,3\]"
    ):
        graph(PARAMETERS, jnp.ones((5, 3), "float32"))
    with pytest.raises(TypeError, match="must be f32.*got i32"):
        graph(PARAMETERS, jnp.ones((2, 3), "int32"))
    with pytest.raises(TypeError, match="the arguments must form the tree"):
        graph(PARAMETERS)
    with pytest.raises(TypeError, match=r"must have arrays at .*args\[1\]"):
        graph(PARAMETERS, 2.0)


def test_bad_arguments_of_trace():
    with pytest.raises(TypeError, match="trace: `func` must be callable"):
        trace(1)
    with pytest.raises(ValueError, match="`level` must be 'operator' or 'primitive', got 'aten'"):
        trace(functx.sin, X, level="aten")
    with pytest.raises(TypeError, match="`level`"):
        trace(functx.sin, X, level=1)
    with pytest.raises(jax.errors.ConcretizationTypeError, match="trace: `func` asks"):
        trace(lambda x: 1 if x[0, 0] > 0 else 2, X)


def test_results_are_not_weakly_typed_and_numbers_pass_through():
    graph = trace(lambda x: (jnp.where(x > 0, 1.0, 2.0), 7, None, "text"), X)
    array, number, nothing, text = graph(X)
    assert not array.weak_type and (number, nothing, text) == (7, None, "text")


def test_constants_and_effects():
    weights = jnp.arange(3, dtype="float32")

    def noisy(x):
        jax.debug.print("x is {}", x)
        return x @ weights

    graph = trace(noisy, X)
    assert [c.shape for c in graph.constants] == [(3,)]
    assert graph.effects and "debug" in graph.effects[0].lower()
    assert trace(functx.sin, X).effects == ()


def test_graphs_are_their_own_copies_and_are_not_pickled():
    import copy
    import pickle

    graph = trace(functx.sin, X)
    assert copy.deepcopy(graph) is graph
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(graph)


class TestCost:
    def test_products_and_elements(self):
        graph = trace(lambda x, w: functx.sin(x @ w), X, jnp.ones((3, 4), "float32"))
        cost = graph.cost()
        by_name = {row.name: row for row in cost.by_name}
        assert by_name["dot_general"].flops == 2 * 2 * 3 * 4
        assert by_name["dot_general"].bytes == 4 * (6 + 12 + 8)
        assert cost.flops == sum(row.flops for row in cost.by_name)
        assert cost.peak_bytes == 4 * (6 + 12 + 8 + 8)

    def test_loops_count_as_often_as_they_run(self):
        step = lambda c, _: (c @ jnp.ones((3, 3), "float32"), None)
        graph = trace(lambda x: jax.lax.scan(step, x, None, length=7)[0], X)
        assert graph.cost().flops >= 7 * 2 * 2 * 3 * 3

    def test_convolutions(self):
        x, w = jnp.ones((2, 3, 8, 8), "float32"), jnp.ones((5, 3, 3, 3), "float32")
        graph = trace(functx.nn.functional.conv2d, x, w, level="primitive")
        want = 2 * (2 * 5 * 6 * 6) * 3 * 3 * 3
        assert graph.cost().flops == pytest.approx(want, rel=0.1)

    def test_a_table_with_all_names(self):
        text = str(trace(network, PARAMETERS, X).cost())
        assert "dot_general" in text and "in all" in text and "bytes are alive at once" in text

    def test_symbolic_sizes_count_as_64(self):
        spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 3"), jnp.float32)
        assert trace(lambda x: -x, spec).cost().flops == 64 * 3


class TestCode:
    def test_it_runs(self):
        graph = trace(network, PARAMETERS, X)
        got = graph.code.function()(*jax.tree.leaves((PARAMETERS, X)))
        close(got, jax.tree.leaves(network(PARAMETERS, X)))

    def test_it_runs_for_derivatives(self):
        function = functx.grad(lambda p, x: network(p, x)["loss"])
        graph = trace(function, PARAMETERS, X, level="primitive")
        got = graph.code.function()(*jax.tree.leaves((PARAMETERS, X)))
        close(got, jax.tree.leaves(function(PARAMETERS, X)), rtol=1e-4)

    def test_while_loops(self):
        newton = lambda x: jax.lax.while_loop(
            lambda s: jnp.abs(s[1]) > 1e-6,
            lambda s: (s[0] - (s[0] ** 2 - x) / (2 * s[0]), s[0] ** 2 - x),
            (x, jnp.ones_like(x)),
        )[0]
        graph = trace(newton, jnp.float32(2))
        close(graph.code.function()(jnp.float32(2)), [np.float32(math.sqrt(2))])

    def test_it_says_lines_and_types(self):
        text = str(trace(lambda x: functx.sin(x) * 2, X).code)
        assert "# f32[2,3]  test_trace.py:" in text and text.startswith("def sin_1(a):")

    def test_another_library_runs_it(self):
        class NumPys:
            def __getattr__(self, name):
                functions = {"mul": np.multiply, "sin": np.sin, "add": np.add}
                return type(
                    "Bound", (), {"bind": staticmethod(lambda *xs, **_: functions[name](*xs))}
                )

        graph = trace(lambda x: jnp.sin(x) * x + x, X, level="primitive")
        run = graph.code.function(primitives=NumPys())
        [got] = run(X)
        assert type(got) is np.ndarray
        close(got, np.sin(X) * X + X)


def test_make_graph_is_trace():
    graph = functx.autograd.graph.make_graph(network)(PARAMETERS, X)
    assert isinstance(graph, Graph) and not graph.difference(trace(network, PARAMETERS, X))

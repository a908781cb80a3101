"""The graph of a function: what it computes, from what, and what its derivative goes through."""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import functx
from functx._core.rules.custom_derivatives import derivative_rules


X, Y = jnp.array([0.5, 2.0]), jnp.array([1.0, 3.0])
MINE = derivative_rules(jnp.sin, jvp=lambda primals, output, tangents: tangents[0] * output)


def model(p, y, n):
    h = p["w"] * y
    h = jax.jit(lambda h: functx.exp(h) + lax.stop_gradient(h))(h)
    h = lax.scan(lambda c, _: (functx.tanh(c), c), h, None, length=3)[0]
    return {
        "loss": functx.sum(MINE(h) * jnp.var(y)),
        "floor": functx.floor(y),
        "count": n + 1,
        "c": 3,
    }


LINE = model.__code__.co_firstlineno


@pytest.fixture(scope="module")
def graph():
    return functx.autograd.graph.make_graph(model)({"w": X}, Y, n=jnp.arange(2))


def named(nodes):
    return [node.name for node in nodes]


def test_nodes_are_the_steps_in_their_order(graph):
    names = [
        "mul",
        "exp",
        "stop_gradient",
        "add",
        "scan",
        "sin",
        "var",
        "mul",
        "sum",
        "floor",
        "add",
    ]
    assert named(graph.nodes) == names
    assert [node.index for node in graph.nodes] == list(range(len(names)))
    kinds = {node.name: node.kind for node in graph.nodes}
    assert (kinds["exp"], kinds["sin"], kinds["scan"]) == ("operator", "rule", "program")
    assert kinds["mul"] == kinds["var"] == "primitive"


def test_edges_say_which_output_of_which_node_or_which_input(graph):
    mul, exp, *_ = graph.nodes
    assert [tuple(edge) for edge in mul.inputs] == [("args[0]['w']", 0), ("args[1]", 0)]
    assert [tuple(edge) for edge in exp.inputs] == [(0, 0)]
    assert graph.nodes[10].inputs[0].source == "kwargs['n']"
    assert graph.nodes[10].inputs[1] is None  # a constant
    both = functx.autograd.graph.make_graph(lambda x: functx.aminmax(x).max * 2.0)(X)
    assert tuple(both.nodes[1].inputs[0]) == (0, 1)
    twice = functx.autograd.graph.make_graph(lambda x: x + x)(X)
    assert [tuple(edge) for edge in twice.nodes[0].inputs] == [("args[0]", 0)] * 2


def test_inputs_and_outputs_go_by_their_paths(graph):
    assert dict(graph.inputs) == {
        "args[0]['w']": "f64[2]",
        "args[1]": "f64[2]",
        "kwargs['n']": "i64[2]",
    }
    sources = {path: edge.source for path, edge in graph.outputs.items()}
    assert sources == {"output['count']": 10, "output['floor']": 9, "output['loss']": 8}
    closed = functx.autograd.graph.make_graph(lambda: X)()
    assert dict(closed.outputs) == {"output": None}


def test_nodes_know_the_line_of_the_user(graph):
    assert {node.line.file for node in graph.nodes} == {__file__}
    assert [node.line.line - LINE for node in graph.nodes] == [1, 2, 2, 2, 3, 5, 5, 5, 5, 6, 7]
    assert graph.nodes[1].line.function == "model.<locals>.<lambda>"


def test_nodes_bear_the_names_of_scopes_and_transforms():
    def scoped(x):
        with jax.named_scope("head"):
            return functx.sin(x)

    assert functx.autograd.graph.make_graph(scoped)(X).nodes[0].scope == "head"
    backward = functx.autograd.graph.make_graph(functx.grad(lambda x: functx.sum(functx.exp(x))))(X)
    assert backward.nodes[-1].scope == "transpose(jvp())"


def test_the_programs_of_a_loop_are_inside_its_node(graph):
    (body,) = graph.nodes[4].programs
    assert named(body) == ["tanh"]
    assert str(body[0].inputs[0]) == "in[0]"
    cond = functx.autograd.graph.make_graph(
        lambda x: lax.cond(x[0] > 0, functx.sin, functx.cos, x)
    )(X)
    assert [named(branch) for branch in cond.nodes[-1].programs] == [["cos"], ["sin"]]


def test_the_nodes_needed_for_an_input_are_those_its_gradient_goes_through(graph):
    through = ["mul", "exp", "add", "scan", "sin", "mul", "sum"]
    assert named(graph.needed_for("args[0]")) == through
    assert named(graph.needed_for("args[0]['w']")) == named(graph.needed_for(0)) == through
    with_var = ["mul", "exp", "add", "scan", "sin", "var", "mul", "sum"]
    assert named(graph.needed_for(1)) == named(graph.needed_for((0, 1))) == with_var
    assert graph.needed_for(1)[0] is graph.nodes[0]


def test_what_has_no_derivative_is_not_needed():
    def f(a, b):
        c = a * b
        d = functx.cos(c)  # not a part of the output
        return functx.sum(c) + functx.sum(functx.sign(d) * functx.round(b))

    both = functx.autograd.graph.make_graph(f)(X, Y)
    assert named(both.needed_for(0)) == ["mul", "sum", "add"]
    assert (
        named(functx.autograd.graph.make_graph(lambda x: functx.argmax(x))(X).needed_for(0)) == []
    )


def test_each_step_of_the_backward_pass_has_its_forward_node(graph):
    steps = graph.backward_order()
    assert steps[0].name == "sum" and steps[0].node is graph.nodes[8]
    order = [step.node.index for step in steps if step.node is not None]
    assert order == sorted(order, reverse=True)  # the last forward is the first backward
    assert set(order) == {0, 1, 4, 5, 6, 7, 8}  # an addition hands its cotangent on
    assert {step.node.index for step in graph.backward_order("args[0]")} == {0, 1, 4, 5, 7, 8}
    scan = next(step for step in steps if step.name == "scan")
    assert str(scan) == f"scan f64[2] from within the backward of 4: scan, {graph.nodes[4].line}"


def test_residuals_depend_on_the_rule():
    def f(x, y):
        return functx.sum(MINE(x)) + functx.sum(functx.exp(x * y) + 1.0)

    graph = functx.autograd.graph.make_graph(f)(X, Y)
    at = {node.name: node for node in graph.nodes if node.name != "sum"}
    assert [r.source for r in graph.residuals(at["mul"])] in (
        ["args[0]", "args[1]"],
        ["args[1]", "args[0]"],
    )
    assert [tuple(r) for r in graph.residuals(at["exp"])] == [("f64[2]", at["exp"].index)]
    assert graph.residuals(at["add"]) == ()  # sums keep nothing
    assert [r.source for r in graph.residuals(at["sin"])] == [at["sin"].index]  # the rule reads it
    assert [r.source for r in graph.residuals(at["mul"], "args[0]")] == ["args[1]"]


def test_a_pullback_is_described_by_its_own_graph():
    _, pullback = functx.vjp(lambda x: functx.sum(functx.exp(x)), X)
    graph = functx.autograd.graph.make_graph(pullback)(jnp.float64(1))
    assert named(graph.nodes) == ["sum", "exp"]
    assert {node.scope for node in graph.nodes} == {"transpose(jvp())"}
    assert {node.line.file for node in graph.nodes} == {__file__}  # of the forward pass
    assert None in graph.nodes[1].inputs  # the residual


def test_it_prints_as_a_table(graph):
    rows = str(graph).splitlines()
    assert rows[0].split() == ["args[0]['w']", "f64[2]", "input"]
    assert rows[3].split() == [
        "0",
        "mul",
        "f64[2]",
        "primitive",
        "args[0]['w'],",
        "args[1]",
        f"test_graph.py:{LINE + 1}",
    ]
    assert any(row.startswith("  0    tanh") for row in rows)  # inside of the loop
    assert len({row.index("test_graph.py") for row in rows if "test_graph.py" in row}) == 1
    assert repr(graph) == "<graph of 11 nodes>"
    assert repr(graph.nodes[1]) == "<operator 1: exp>"


def test_it_is_drawn_in_graphviz_language(graph, monkeypatch):
    text = graph.to_dot()
    assert text.startswith("digraph {") and text.endswith("}\n")
    assert '1 [shape=box, label="exp\\nf64[2]"' in text
    assert "\"args[0]['w']\" -> 0;" in text and "8 -> \"output['loss']\";" in text

    class Source:
        def __init__(self, text):
            self.text = text

    package = type("graphviz", (), {"Source": Source})
    monkeypatch.setitem(sys.modules, "graphviz", package)
    assert graph.to_graphviz().text == text
    monkeypatch.setitem(sys.modules, "graphviz", None)
    assert graph.to_graphviz() == text


def test_it_cannot_be_written_to(graph):
    with pytest.raises(AttributeError):
        graph.nodes = ()
    with pytest.raises(AttributeError):
        graph.nodes[0].index = 7
    with pytest.raises(TypeError):
        graph.inputs["args[0]"] = "f32[2]"


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ("args[7]", ValueError, r"names 'args\[7\]', which is no input; there are: args\[0\]"),
        (5, ValueError, r"names 'args\[5\]'"),
        ("kwargs['n']", TypeError, r"`kwargs\['n'\]` has no derivative, it is i64\[2\]"),
        ((), ValueError, "must not be empty"),
        (1.5, TypeError, "must be paths or positions of arguments, got 1.5"),
        (True, TypeError, "got True"),
    ],
)
def test_wrong_inputs_are_refused(graph, inputs, error, message):
    for query in (graph.needed_for, graph.backward_order):
        with pytest.raises(error, match=message):
            query(inputs)


def test_wrong_nodes_are_refused(graph):
    with pytest.raises(IndexError, match="an index below 11, got 11"):
        graph.residuals(11)
    with pytest.raises(TypeError, match="`node` must be a node"):
        graph.residuals("sum")
    with pytest.raises(ValueError, match="one of this graph's"):
        graph.residuals(functx.autograd.graph.make_graph(functx.sin)(X).nodes[0])
    with pytest.raises(TypeError, match="`func` must be callable"):
        functx.autograd.graph.make_graph(3)


def test_what_asks_for_values_is_refused():
    with pytest.raises(jax.errors.TracerBoolConversionError, match="graph: `func` asks whether"):
        functx.autograd.graph.make_graph(lambda x: x if x[0] > 0 else -x)(X)

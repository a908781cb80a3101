"""Graphs changed: pruned, decomposed, rewritten, matched, compared."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.aot import trace


X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


def names(graph):
    return [node.name for node in graph.nodes]


class TestDce:
    def test_what_no_output_needs_goes(self):
        table = jnp.ones((2, 3), "float32")

        def function(x, y):
            functx.exp(x + table)
            return functx.sin(x)

        graph = trace(function, X, X)
        assert "exp" in names(graph) and len(graph.constants) == 1
        pruned = graph.dce()
        assert names(pruned) == ["sin"] and pruned.constants == ()
        np.testing.assert_allclose(pruned(X, X), np.sin(X), rtol=1e-6)
        assert "exp" in names(graph)

    def test_what_a_loop_does_not_need_goes(self):
        def step(carry, _):
            return (carry[0] * 2, functx.exp(carry[1])), None

        graph = trace(lambda x: jax.lax.scan(step, (x, x), None, length=3)[0][0], X).dce()
        assert graph.counts["exp"] == 0
        np.testing.assert_allclose(graph(X), X * 8)

    def test_effects_stay(self):
        graph = trace(lambda x: (jax.debug.print("{}", x), x * 2)[1], X).dce()
        assert graph.effects


class TestDecompose:
    def test_an_operator_is_opened(self):
        softmax = lambda x: functx.softmax(x, dim=1)
        graph = trace(softmax, X).decompose(["nn.functional.softmax"])
        assert "nn.functional.softmax" not in graph.counts and len(graph.nodes) > 1
        np.testing.assert_allclose(graph(X), softmax(X), rtol=1e-6)

    @pytest.mark.parametrize("key", ["tanh", functx.tanh])
    def test_an_operator_is_replaced(self, key):
        graph = trace(
            lambda x: functx.tanh(x) + 1, X, decompositions={key: lambda x: functx.sin(x)}
        )
        assert names(graph) == ["sin", "add"]
        np.testing.assert_allclose(graph(X), np.sin(X) + 1, rtol=1e-6)
        np.testing.assert_allclose(functx.grad(lambda x: graph(x).sum())(X), np.cos(X), rtol=1e-6)

    @pytest.mark.parametrize("key", ["reduce_sum", jax.lax.reduce_sum_p])
    def test_a_primitive_is_replaced_with_its_parameters(self, key):
        axes = []

        def maximum(x, **params):
            axes.append(params["axes"])
            return jnp.max(x, params["axes"])

        graph = trace(lambda x: jnp.sum(x, 1), X, level="primitive").decompose({key: maximum})
        np.testing.assert_allclose(graph(X), X.max(1))
        assert set(axes) == {(1,)}

    def test_a_replacement_may_use_what_it_replaces(self):
        graph = trace(functx.sin, X).decompose({"sin": lambda x: functx.sin(x) * 2})
        np.testing.assert_allclose(graph(X), np.sin(X) * 2, rtol=1e-6)

    def test_inside_of_loops_and_branches(self):
        def function(x):
            x, _ = jax.lax.scan(lambda c, _: (functx.tanh(c), None), x, None, length=2)
            return jax.lax.cond(x[0, 0] > 0, functx.tanh, lambda x: x, x)

        graph = trace(function, X).decompose({"tanh": functx.sin})
        assert graph.counts["tanh"] == 0 and graph.counts["sin"] == 2
        np.testing.assert_allclose(graph(X), np.sin(np.sin(X)), rtol=1e-6)

    def test_a_function_with_rules_is_opened(self):
        graph = trace(functx.sin, X, level="primitive")
        assert [node.kind for node in graph.nodes] == ["rule"]
        opened = graph.decompose(["sin"])
        assert "rule" not in {node.kind for node in opened.nodes}
        np.testing.assert_allclose(opened(X), np.sin(X), rtol=1e-6)

    def test_lines_stay(self):
        graph = trace(lambda x: functx.tanh(x) * 2, X).decompose({"tanh": lambda x: functx.sin(x)})
        assert all(node.line is not None for node in graph.nodes)

    def test_errors(self):
        graph = trace(lambda x: functx.softmax(functx.tanh(x), dim=1), X)
        with pytest.raises(KeyError, match=r"no 'softmax'.*did you mean 'nn.functional.softmax'"):
            graph.decompose(["softmax"])
        with pytest.raises(TypeError, match=r"'tanh' must return f32\[2,3\], got f32\[2\]"):
            graph.decompose({"tanh": lambda x: x[:, 0]})
        with pytest.raises(TypeError, match="`table` must have names"):
            graph.decompose({3: functx.sin})
        with pytest.raises(ValueError, match="runs no equations"):
            trace(lambda x: x + x, X).decompose(["add"])


class TestRewrite:
    def test_some_nodes_are_changed(self):
        graph = trace(lambda x: functx.sin(x) * functx.sin(x + 1), X)
        seen = []

        def change(node, *operands):
            seen.append(node.index)
            return functx.cos(operands[0]) if node.index == 0 else None

        changed = graph.rewrite(change)
        assert seen == [node.index for node in graph.nodes]
        np.testing.assert_allclose(changed(X), np.cos(X) * np.sin(X + 1), rtol=1e-6)

    def test_errors(self):
        graph = trace(functx.sin, X)
        with pytest.raises(TypeError, match="rewrite: `change` must be callable, got 3"):
            graph.rewrite(3)
        with pytest.raises(TypeError, match=r"must return f32\[2,3\], got f32\[\]"):
            graph.rewrite(lambda node, x: x.sum())


class TestReplace:
    def test_every_place(self):
        function = lambda x: functx.exp(functx.sin(x) * 2) + functx.exp(x * 2)
        graph = trace(function, X).replace(
            lambda x: functx.exp(x * 2), lambda x: functx.cos(x), np.float32([1, 2])
        )
        assert graph.counts["exp"] == 0 and graph.counts["cos"] == 2 and graph.counts["mul"] == 0
        np.testing.assert_allclose(graph(X), np.cos(np.sin(X)) + np.cos(X), rtol=1e-6)

    def test_options_and_constants_must_agree(self):
        graph = trace(lambda x: functx.sum(x, dim=0) + functx.sum(x, dim=1)[0], X)
        changed = graph.replace(lambda x: functx.sum(x, dim=0), lambda x: x[0], X)
        np.testing.assert_allclose(changed(X), X[0] + X.sum(1)[0], rtol=1e-6)
        kept = trace(lambda x: x * 3, X).replace(lambda x: x * 2, lambda x: x, X)
        np.testing.assert_allclose(kept(X), X * 3)

    def test_an_input_that_comes_twice_must_be_one(self):
        square = lambda x: x * x
        graph = trace(lambda x, y: square(x) + x * y, X, X).replace(square, jnp.abs, X)
        np.testing.assert_allclose(graph(X, X + 1), np.abs(X) + X * (X + 1), rtol=1e-6)

    def test_what_is_between_stays_where_it_is_needed(self):
        def function(x):
            doubled = x * 2
            return functx.exp(doubled), doubled

        graph = trace(function, X).replace(lambda x: functx.exp(x * 2), functx.cos, X)
        first, second = graph(X)
        np.testing.assert_allclose(first, np.cos(X), rtol=1e-6)
        np.testing.assert_allclose(second, X * 2)

    def test_errors(self):
        graph, table = trace(lambda x: functx.exp(x * 2), X), jnp.ones(3, "float32")
        with pytest.raises(TypeError, match="`pattern` must be callable"):
            graph.replace(1, functx.sin, X)
        with pytest.raises(ValueError, match="`pattern` must compute one array"):
            graph.replace(lambda x: x, functx.sin, X)
        with pytest.raises(ValueError, match="must not close over arrays"):
            graph.replace(lambda x: x * table, functx.sin, X)
        with pytest.raises(TypeError, match=r"must return f32\[2,3\]"):
            graph.replace(lambda x: functx.exp(x * 2), lambda x: x[0], X)


class TestDifference:
    def test_none(self):
        one = trace(lambda x: functx.sin(x) + functx.cos(x), X)
        assert not one.difference(trace(lambda y: functx.sin(y) + functx.cos(y), X))
        assert str(one.difference(one)) == "no difference"

    def test_the_order_of_independent_nodes_does_not_count(self):
        def other(x):
            cosine = functx.cos(x)
            return functx.sin(x) + cosine

        assert not trace(lambda x: functx.sin(x) + functx.cos(x), X).difference(trace(other, X))

    def test_a_node_is_added_and_removed(self):
        found = trace(lambda x: functx.sin(x) * 2, X).difference(
            trace(lambda x: functx.cos(x) * 2, X)
        )
        assert found and found.removed == ("sin f32[2,3]",) and found.added == ("cos f32[2,3]",)

    def test_what_nodes_read_and_options_and_constants_count(self):
        one = trace(lambda x, y: x - y, X, X)
        assert one.difference(trace(lambda x, y: y - x, X, X))
        options = [trace(lambda x, dim=dim: functx.cumsum(x, dim=dim), X) for dim in (0, 1)]
        assert options[0].difference(options[1])
        constants = [
            trace(lambda x, c=c: x * jnp.asarray([c, 1.0, 1.0], "float32"), X) for c in (1.0, 2.0)
        ]
        assert constants[0].difference(constants[1])

    def test_keys_that_were_closed_over_count(self):
        def drawing(seed):
            key = jax.random.key(seed)
            return trace(lambda x: x * jax.random.uniform(key, x.shape, x.dtype), X)

        one, same, other = map(drawing, (1, 1, 2))
        assert not one.difference(same) and one.difference(other)

    def test_errors(self):
        with pytest.raises(TypeError, match="`other` must be a graph"):
            trace(functx.sin, X).difference(functx.sin)

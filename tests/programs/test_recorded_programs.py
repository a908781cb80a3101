"""Recorded programs: what `functx._transforms.programs` records, walks and runs."""

import copy
import dataclasses

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AxisType, PartitionSpec

import functx
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx._transforms.programs.labels import label_of, outside_operators
from functx._transforms.programs.nested import can_rebind, rebind
from functx._transforms.programs.partition import array_paths, partition
from functx._transforms.programs.recording import record
from functx._transforms.programs.walking import equations, own_programs


x = jnp.linspace(0.1, 0.9, 4, dtype="float32")


def looped(x):
    def body(carry):
        i, y = carry
        return i + 1, jnp.sin(y)

    return lax.while_loop(lambda carry: carry[0] < 3, body, (0, x))[1]


def scanned(x):
    def body(carry, y):
        carry = jnp.sin(carry) * y
        return carry, jnp.sin(carry)

    return lax.scan(body, jnp.float32(1), x, reverse=True)


def mapped(x):
    mesh = jax.make_mesh((1,), ("rows",), axis_types=(AxisType.Auto,))
    spec = PartitionSpec("rows")
    return jax.shard_map(jnp.sin, mesh=mesh, in_specs=spec, out_specs=spec)(x)


PROGRAMS = {
    "jit": jax.jit(lambda x: {"sin": jnp.sin(x)}),
    "checkpoint": jax.checkpoint(lambda x: (jnp.sin(x), x)),
    "cond": lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
    "scan": scanned,
    "while": looped,
    "shard_map": mapped,
}


class Doubling(Visitor):
    """Doubles each sine."""

    def equation(self, eqn, operands):
        results = bind(eqn, operands)
        return [2 * y for y in results] if eqn.primitive.name == "sin" else results


class Naming(Visitor):
    """Keeps the names of what it runs."""

    def __init__(self):
        self.names = []

    def equation(self, eqn, operands):
        self.names.append(eqn.primitive.name)
        return bind(eqn, operands)


def doubled(f, x):
    """What `f` returns with `jnp.sin` doubled, by definition."""
    sin = jnp.sin
    jnp.sin = lambda x: 2 * sin(x)
    try:
        return f(x)
    finally:
        jnp.sin = sin


def test_a_program_runs_as_what_it_was_recorded_from():
    def f(tree, y):
        return {"sum": tree["a"] + y, "name": "f", "number": 2, "nothing": None}

    types = {"a": jax.ShapeDtypeStruct((4,), "float32")}, jax.ShapeDtypeStruct((), "float32")
    program = record(f, *types)
    output = program({"a": x}, jnp.float32(1))
    assert output["name"] == "f" and output["nothing"] is None
    assert (output["sum"] == x + 1).all() and output["number"] == 2
    assert isinstance(output["number"], jax.Array) and not output["number"].weak_type
    assert program.inputs == jax.tree.structure(types)
    with pytest.raises(dataclasses.FrozenInstanceError):
        program.inputs = None


def test_a_program_holds_its_constants():
    program = record(lambda: x + 1)
    assert [*program.consts][0] is x and (program() == x + 1).all()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_visitor_changes_equations_inside_programs(name):
    f = PROGRAMS[name]
    fresh = {"jit": lambda x: {"sin": jnp.sin(x)}, "checkpoint": lambda x: (jnp.sin(x), x)}
    program = record(f, x)
    assert any(can_rebind(eqn) for eqn in equations(program, nested=False))
    for visitor, want in ((Visitor(), f(x)), (Doubling(), doubled(fresh.get(name, f), x))):
        got = program.output(jax.jit(lambda *xs, v=visitor: interpret(program, xs, v))(x))
        assert jax.tree.all(jax.tree.map(lambda a, b: jnp.allclose(a, b), got, want)), name


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_pass_through_programs_that_are_visited(name):
    f = PROGRAMS[name]
    program = record(f, x)

    def visited(x):
        return program.output(interpret(program, [x], Visitor()))

    want, got = jax.jvp(f, (x,), (x,))[1], jax.jvp(visited, (x,), (x,))[1]
    assert jax.tree.all(jax.tree.map(lambda a, b: jnp.allclose(a, b), got, want))


def test_functions_with_own_rules_stay_whole():
    program = record(jax.jit(lambda x: functx.exp(functx.sin(x))), x)
    visitor = Naming()
    interpret(program, [x], visitor)
    assert visitor.names == ["function_call", "exp"]  # the derivative of `sin` is given


def test_a_carry_goes_through_loops_and_what_is_found_is_stacked():
    program = record(scanned, x)
    (eqn,) = (eqn for eqn in program.jaxpr.eqns if eqn.primitive.name == "scan")

    def inside(inner, operands, count, number):
        return interpret(inner, operands, Visitor()), count + number, 10 * number

    operands = [jnp.float32(1), x]
    results, count, found = rebind(
        eqn, operands, inside, jnp.int32(0), jnp.arange(4, dtype="int32")
    )
    assert count == 6 and found.tolist() == [0, 10, 20, 30]
    assert jnp.allclose(results[0], scanned(x)[0])


def test_outputs_can_be_values_within_a_program():
    program = record(lambda x: jnp.cos(jnp.sin(x)), x)
    within = program.jaxpr.eqns[0].outvars
    assert jnp.allclose(interpret(program, [x], bind, within)[0], jnp.sin(x))


def test_equations_are_walked_as_deep_as_is_asked():
    program = record(jax.jit(lambda x: functx.softmax(x, 0) + scanned(x)[1]), x)
    names = lambda nested: [label_of(eqn) for eqn in equations(program, nested)]
    assert len(names(False)) == 1
    assert names(True).count("sin") == names(outside_operators).count("sin") == 2
    assert "nn.functional.softmax" in names(outside_operators)
    assert len(names(outside_operators)) < len(names(True))


def test_own_rules_have_programs():
    class Square(functx.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    found = [
        (label_of(eqn), [inner.eqns[-1].primitive.name for inner in own_programs(eqn)])
        for eqn in equations(record(lambda x: jax.jvp(Square.apply, (x,), (x,)), x))
    ]
    assert ("Square", ["mul"]) in found
    assert any(label == "SquareBackward" and inner for label, inner in found)


def test_a_partition_is_put_together_again():
    tree = ({"w": x}, 2, "name"), {"key": [x + 1, None]}
    given = partition(tree)
    assert [*map(len, (given.arrays, given.rest))] == [2, 4]
    assert array_paths(given) == ("args[0]['w']", "kwargs['key'][0]")
    (args, kwargs) = given.whole(["a", "b"])
    assert args == ({"w": "a"}, 2, "name") and kwargs == {"key": ["b", None]}
    assert partition(3, lambda leaf: leaf == 3).arrays == [3]


def test_a_linear_map_that_holds_a_program_is_its_own_copy():
    _, pull = functx.vjp(functx.sin, x)
    assert copy.deepcopy(pull) is pull

"""Symbolic sizes of `jax.export`: what operators make of them, and what they refuse."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core import (
    ArrayLike,
    as_number,
    decided,
    describe,
    differ,
    known,
    known_sizes,
    operator,
    Size,
)
from functx._core.operators import catalog
from functx._core.rules.custom_derivatives import derivative_rules


F = functx.nn.functional
B, S = jax.export.symbolic_shape("b, s")


def spec(*shape, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype)


def exported(f, *specs):
    return jax.export.export(jax.jit(f))(*specs)


def shape_of(f, *specs):
    (aval,) = exported(f, *specs).out_avals
    return describe(aval)


def test_symbolic_sizes_are_told_from_numbers():
    assert known(3, np.int32(2)) and not known(3, B + 1)
    assert known_sizes((2, B, 3, 2 * S)) == [2, 3]


def test_a_comparison_that_is_open_is_what_the_caller_says():
    assert decided(lambda: B > 8, otherwise=True) and not decided(lambda: B > 8, otherwise=False)
    assert decided(lambda: B >= 1, otherwise=False), "sizes are at least 1"
    with pytest.raises(ZeroDivisionError):
        decided(lambda: 1 // 0 > 1, otherwise=True)


def test_sizes_that_may_be_equal_are_not_taken_for_unequal():
    assert differ(2, 3) and differ(B, B + 1) and differ(B, 0) and not differ(B, B)
    with pytest.raises(jax.errors.InconclusiveDimensionOperation):
        differ(B, S)
    with pytest.raises(jax.errors.InconclusiveDimensionOperation, match="^equal: cannot take"):
        exported(functx.equal, spec(B), spec(S))
    assert exported(functx.equal, spec(B), spec(B)).call(*[jnp.ones(2, "float32")] * 2)


def test_a_size_as_a_number_is_that_of_the_call():
    assert as_number(3, "float32") == 3 and isinstance(as_number(3, "float32"), int)
    program = exported(lambda x: as_number(2 * x.shape[0], x.dtype) + 0 * x, spec(B))
    for n in (1, 4):
        got = program.call(jnp.zeros(n, "float32"))
        assert got.dtype == np.float32 and (got == 2 * n).all()


def test_errors_print_symbolic_sizes():
    assert describe(spec(B, 2 * S)) == "f32[b,2*s]"
    assert describe((B, 3)) == "(b, 3)"
    with pytest.raises(
        RuntimeError, match=r"got f32\[b,s\], f32\[s\+1\]|f32\[b,s\].*f32\[s \+ 1\]"
    ):
        exported(functx.add, spec(B, S), spec(S + 1))


@pytest.mark.parametrize(
    "shape, result",
    [
        (lambda x: (x.shape[0], -1), "f32[b,12]"),
        (lambda x: (-1, 4), "f32[3*b,4]"),
        (lambda x: (x.shape[0] * 3, 4), "f32[3*b,4]"),
        (lambda x: (2, x.shape[0], 6), "f32[2,b,6]"),
    ],
)
def test_reshape_takes_symbolic_sizes(shape, result):
    assert shape_of(lambda x: functx.reshape(x, shape(x)), spec(B, 3, 4)) == result


def test_a_shape_that_does_not_fit_is_refused_with_its_symbols():
    with pytest.raises(
        RuntimeError, match=r"reshape: `shape` must hold 3\*b elements, got \[b, 4\]"
    ):
        exported(lambda x: functx.reshape(x, (x.shape[0], 4)), spec(B, 3))


@pytest.mark.parametrize(
    "f, result",
    [
        (lambda x: functx.zeros(x.shape[0], 2), "f32[b,2]"),
        (lambda x: functx.full((x.shape[0] + 1,), 0.5), "f32[b + 1]"),
        (lambda x: functx.eye(x.shape[0], 3), "f32[b,3]"),
        (lambda x: functx.expand(x[:, None], (-1, x.shape[0])), "f32[b,b]"),
    ],
)
def test_sizes_of_new_arrays_may_be_symbolic(f, result):
    assert shape_of(f, spec(B)) == result


@pytest.mark.parametrize(
    "f, said",
    [
        (lambda x: functx.sum(x, x.shape[0]), "`dim` must be an int.*got b"),
        (lambda x: functx.unsqueeze(x, x.shape[0]), "`dim` must be an int, got b"),
        (lambda x: functx.chunk(x, x.shape[0]), "`chunks` must be an int, got b.*symbolic size"),
    ],
)
def test_what_is_no_size_is_no_symbol(f, said):
    with pytest.raises(TypeError, match="(?s)" + said):
        exported(f, spec(B, 3))


def test_a_known_size_that_no_array_has_is_refused_beside_a_symbol():
    with pytest.raises(MemoryError, match=r"f32\[b,4611686018427387904\], more bytes than 64 bits"):
        exported(lambda x: functx.expand(x[:, None], (-1, 2**62)), spec(B))


@pytest.fixture
def declared(monkeypatch):
    """`operator`, whose operators are in the catalog of one test."""
    monkeypatch.setattr(catalog, "REGISTRY", dict(catalog.REGISTRY))
    monkeypatch.setattr(catalog, "OPERATORS", dict(catalog.OPERATORS))
    return operator


def test_a_rule_that_must_know_a_size_says_so(declared):
    @declared()
    def first_three(input: ArrayLike) -> jax.Array:
        return input[:3] if input.shape[0] > 3 else input

    with pytest.raises(
        jax.errors.InconclusiveDimensionOperation,
        match=r"^first_three: cannot take f32\[b\]: .*'b' > '3' is inconclusive",
    ) as caught:
        exported(first_three, spec(B))
    assert "constraints" in str(caught.value)
    (n,) = jax.export.symbolic_shape("n", constraints=["n >= 4"])
    assert shape_of(first_three, spec(n)) == "f32[3]"


def test_sizes_that_an_option_declares_are_taken(declared):
    @declared()
    def ramp(
        input: ArrayLike, length: Size | None = None, sizes: Sequence[Size] = (), width: int = 1
    ) -> jax.Array:
        total = sum(sizes, input.shape[0] if length is None else length)
        return jnp.arange(total, dtype="float32") * jnp.ones((width, 1), "float32") + input[0]

    assert shape_of(lambda x: ramp(x, x.shape[0] + 1), spec(B)) == "f32[1,b + 1]"
    assert shape_of(lambda x: ramp(x, 2, [x.shape[0], 3]), spec(B)) == "f32[1,b + 5]"
    assert ramp(jnp.zeros(1, "float32"), np.int64(2), (1,)).shape == (1, 3)
    for wrong in (0.5, True, "a"):
        with pytest.raises(TypeError, match="ramp: `length` must be an int or None, got"):
            ramp(jnp.zeros(2, "float32"), wrong)
    with pytest.raises(TypeError, match="`width` must be an int, got b\n  hint: a symbolic size"):
        exported(lambda x: ramp(x, width=x.shape[0]), spec(B))


def test_constants_beside_a_symbolic_size_are_not_judged():
    index = jnp.asarray([0, 2])
    program = exported(lambda x: functx.index_select(x, 0, index), spec(B))
    assert program.call(jnp.arange(3.0, dtype="float32")).tolist() == [0, 2]


def test_own_rules_are_mapped_and_differentiated_over_symbolic_lanes():
    cube = derivative_rules(
        lambda x, y: x**3 * jnp.sum(y),
        jvp=lambda primals, output, tangents: (
            3 * primals[0] ** 2 * tangents[0] * jnp.sum(primals[1])
            + primals[0] ** 3 * jnp.sum(tangents[1])
        ),
        name="cube",
    )
    lanes = functx.vmap(functx.grad(functx.grad(cube)), in_dims=(0, None))
    of_rows = lambda x, y: (lanes(x, y), functx.grad(lambda y: jnp.sum(lanes(x, y)))(y))
    program = exported(of_rows, spec(B), spec(S))
    for b, s in ((1, 3), (4, 1)):
        x, y = jnp.arange(1.0, b + 1, dtype="float32"), jnp.ones(s, "float32")
        second, mixed = program.call(x, y)
        np.testing.assert_allclose(second, 6 * x * s)
        np.testing.assert_allclose(mixed, np.full(s, 6 * x.sum()))


def test_an_exported_program_survives_serialisation():
    def loss(weight, x, label):
        hidden = F.layer_norm(F.gelu(F.linear(x, weight)), (3,))
        return F.cross_entropy(hidden, label)

    specs = spec(3, 4), spec(B, 4), spec(B, dtype="int32")
    program = exported(functx.grad(loss), *specs)
    again = jax.export.deserialize(program.serialize())
    rng = np.random.default_rng(0)
    for n in (1, 5):
        arrays = [rng.standard_normal(s).astype("float32") for s in ((3, 4), (n, 4))]
        label = rng.integers(0, 3, n).astype("int32")
        want = functx.grad(loss)(*map(jnp.asarray, arrays), jnp.asarray(label))
        np.testing.assert_allclose(again.call(*arrays, label), want, rtol=1e-5, atol=1e-6)

"""Planted mistakes are what they are called: wrong where they are planted, and nowhere else."""

from __future__ import annotations

import functools as ft
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing import call, edge, op_db, OpInfo, Refusal
from functx.testing.mutants import GROUPS, hunt, hunt_entry, KINDS, mutants_of
from functx.testing.mutants.batching import mixes_lanes, mixes_tangents
from functx.testing.mutants.derivatives import bent, kept, scaled, widens_cotangents
from functx.testing.mutants.ties import at_kinks


X = jnp.asarray([1.0, 2.0, 3.0])
square = lambda x: jnp.sum(x**3)


def pushed(f, x):
    return functx.jvp(f, (x,), (jnp.ones_like(x),))[1]


def pulled(f, x):
    return functx.vjp(f, x)[1](jnp.ones_like(f(x)))[0]


@pytest.mark.parametrize("forward, reverse", [(2, 1), (1, 2), (2, 2), (0, 0)])
def test_scaled_is_the_identity_with_tangents_and_cotangents_off(forward, reverse):
    spoil = scaled(float(forward), float(reverse))
    np.testing.assert_array_equal(spoil(X), X)
    np.testing.assert_array_equal(pushed(spoil, X), forward * jnp.ones(3))
    np.testing.assert_array_equal(pulled(spoil, X), reverse * jnp.ones(3))


@pytest.mark.parametrize("forward, reverse", [(1, 0), (0, 1), (1, 1)])
def test_bent_is_right_at_first_order_and_off_at_second(forward, reverse):
    spoil = bent(float(forward), float(reverse))
    f, x = lambda x: spoil(x) ** 2, jnp.asarray(3.0)
    assert pushed(f, x) == pulled(f, x) == 6
    over_forward = pushed(lambda x: pushed(f, x), x)
    over_reverse = pushed(lambda x: pulled(f, x), x)
    assert (over_forward, over_reverse) == (2 + 6 * forward, 2 + 6 * reverse)


def test_lanes_are_mixed_where_one_array_is_mapped_alone():
    f = lambda x, y: mixes_lanes(x, [y], "alone") + 0 * y
    np.testing.assert_array_equal(functx.vmap(f, (0, None))(X, 0.0), X[::-1])
    np.testing.assert_array_equal(functx.vmap(f)(X, X), X)
    assert f(X[0], 0.0) == X[0]


def test_lanes_are_mixed_where_the_last_dimension_is_mapped():
    x, f = jnp.arange(6.0).reshape(2, 3), lambda x: mixes_lanes(x, [], "last")
    np.testing.assert_array_equal(jax.jit(functx.vmap(f))(x), x)
    np.testing.assert_array_equal(jax.jit(functx.vmap(f, -1))(x), x.T[::-1])
    np.testing.assert_array_equal(functx.vmap(f, -1)(x), x.T)  # eager lanes lead


def test_lanes_of_derivatives_are_mixed_and_those_of_values_are_not():
    f = lambda x: mixes_tangents(x) ** 2
    np.testing.assert_array_equal(functx.vmap(f)(X), X**2)
    np.testing.assert_array_equal(functx.vmap(functx.grad(f))(X), (2 * X)[::-1])
    along = functx.vmap(lambda dot: functx.jvp(f, (X[1],), (dot,))[1])
    np.testing.assert_array_equal(along(X), 4 * X[::-1])
    np.testing.assert_array_equal(jax.vmap(jax.grad(f), axis_size=3, in_axes=None)(2.0), [4, 4, 4])


def test_cotangents_are_widened_and_values_and_tangents_are_not():
    x = X.astype("bfloat16")
    assert widens_cotangents(x).dtype == pushed(widens_cotangents, x).dtype == jnp.bfloat16
    along = jax.vmap(lambda x: jax.vjp(widens_cotangents, x)[1](x)[0])
    assert jax.eval_shape(along, x).dtype == jnp.float32


@pytest.mark.parametrize(
    "op", [functx.mul, functx.nn.functional.conv1d], ids=lambda op: op.__name__
)
def test_gradients_of_halves_in_another_dtype_are_caught(op):
    info = next(info for info in op_db if info.op is op)
    mutants = [m for m in mutants_of(info) if m.kind == "half's gradient as float32"]
    assert len(mutants) == len(info.spec.promoting)
    assert {verdict.check for verdict in hunt(mutants, info)} == {"dtypes"}


@pytest.mark.parametrize("op", [functx.mul, functx.softmax, functx.matmul])
def test_gradients_that_are_off_in_halves_alone_are_caught(op):
    [info] = [info for info in op_db if info.op is op and not info.variant]
    kinds = {f"half's gradient, {which}" for which in ("reverse", "forward", "both modes")}
    verdicts = hunt([m for m in mutants_of(info) if m.kind in kinds], info)
    assert {v.kind for v in verdicts} == kinds and all(v.caught for v in verdicts)


def test_kinks_are_ties_zeros_other_arrays_and_numbers():
    x = jnp.asarray([1.0, 1.0, 0.0, 4.0, 5.0, 7.0])
    y = jnp.asarray([9.0, 9.0, 9.0, 4.0, 9.0, 9.0])
    assert at_kinks(x, [x, y], [0.0, 5.0]).tolist() == [True] * 5 + [False]
    slope = jax.grad(lambda x: kept(x, at_kinks(x, [], [])))(x)
    assert slope.tolist() == [1, 1, 0, 0, 0, 0]


def weighed(
    x,
    weight=None,
    *,
    scale=1.0,
    shift=0.0,
    reduction: Literal["none", "sum"] = "none",
    unread=False,
):
    if x.ndim > 5:
        raise RuntimeError("weighed: at most five dimensions")
    y = jnp.tanh(x) * scale + shift * x
    y = y if weight is None else y * weight
    return jnp.sum(y) if reduction == "sum" else y


def np_weighed(x, weight=None, *, scale=1.0, shift=0.0, reduction="none", unread=False):
    y = np.tanh(x) * scale + shift * x
    y = y if weight is None else y * weight
    return np.sum(y) if reduction == "sum" else y


def few(make):
    yield call(make(2, 3))
    yield call(make(2, 3), make(3))


def many(make):
    yield from few(make)
    yield call(make(2, 3), scale=2.0)
    yield call(make(2, 3), make(2, 3), reduction="sum", shift=0.5)
    yield call(make(2, 3), unread=True)


def complete(make):
    yield from many(make)
    yield call(make(2, 1, 2, 2), make())
    yield call(make())
    yield call(make(0, 3))
    for near in (1e-5, 1e-4, 2e4, 3e6):
        yield call(make.put([[near, -near]]), make.put([near]))
    for infinite in (np.nan, np.inf, -np.inf):
        yield edge(make.put([infinite, 0.5]))
        yield edge(make.put([0.5, 0.5]), make.put([infinite, 0.25]))
    yield edge(make.put([0.0, -0.0]))
    yield edge(make.put([0.5, 0.5]), make.put([0.0, -0.0]))


def refusals(make):
    yield Refusal(call(make(1, 1, 1, 1, 1, 1)), "at most five")


ENTRY = OpInfo(weighed, many, np_weighed, refusals)
PLANTED = mutants_of(ENTRY)


def planted(kind, target=None):
    return [m for m in PLANTED if m.kind == kind and target in (None, m.target)]


def test_every_kind_that_applies_is_planted():
    assert {m.target for m in planted("option's value")} == {
        "weight",
        "scale",
        "shift",
        "reduction",
        "reduction='sum'",
        "unread",
    }
    assert {m.target for m in planted("gradient, reverse")} == {"x", "weight"}
    assert {m.target for m in planted("lanes, alone")} == {"x", "weight"}
    assert {KINDS[m.kind].group for m in PLANTED} == set(GROUPS) - {
        "integers",
        "ties",
        "randomness",
    }


def test_an_option_that_is_never_read_cannot_be_ignored():
    assert {m.target for m in planted("option ignored")} == {
        "weight",
        "scale",
        "shift",
        "reduction",
    }


def at_one_value(kind):
    return {m.target for m in planted(kind)}


def test_each_value_is_planted_in_the_way_in_which_samples_give_it():
    values = {
        "weight=array by position",
        "scale=2.0 by name",
        "shift=0.5 by name",
        "reduction='sum' by name",
        "unread=True by name",
    }
    for kind in ("result", "gradient, reverse", "gradient, forward", "second order", "lanes"):
        assert at_one_value(f"one value: {kind}") == values
    pairs = {"weight and shift", "weight and reduction", "shift and reduction"}
    assert at_one_value("two options: result") == at_one_value("two options: gradient") == pairs


def test_no_derivative_is_planted_at_a_value_that_edges_alone_give_or_without_a_slope():
    def samples(make):
        yield call(make(3), scale=2.0)
        yield edge(make(3), scale=3.0)
        yield call(make(3), scale=0.0)

    mutants = mutants_of(OpInfo(weighed, samples, np_weighed))
    gradients = {m.target for m in mutants if m.kind == "one value: gradient, reverse"}
    assert gradients == {"scale=2.0 by name"}
    lanes = {m.target for m in mutants if m.kind == "one value: lanes"}
    assert lanes == {"scale=2.0 by name", "scale=0.0 by name"}


def test_no_lanes_are_mixed_where_all_hold_the_same_numbers():
    def samples(make):
        yield call(make.put([1.0, 2.0]), scale=2.0)
        yield call(make(2), scale=3.0)
        yield call(make.put([1.0, 2.0]), make(2), scale=4.0)

    mutants = mutants_of(OpInfo(weighed, samples, np_weighed))
    lanes = {m.target for m in mutants if m.kind == "one value: lanes"}
    assert lanes == {"scale=3.0 by name", "scale=4.0 by name", "weight=array by position"}


def test_lanes_of_matrices_have_singular_values_of_their_own():
    info = OpInfo(jnp.linalg.svdvals, lambda make: [call(make.matrix(2, 3, n)) for n in (1, 3)])
    for sample in info.draw("float64"):
        values = np.stack([jnp.linalg.svdvals(*lane.args) for lane in sample.lanes])
        np.testing.assert_allclose(
            values[..., ::-1] - np.linspace(1, 2, values.shape[-1]), 0, atol=0.1
        )
        assert len(np.unique(values.round(6))) == values.size


@pytest.mark.parametrize("op", [functx.as_strided, functx.sum, functx.nn.functional.mse_loss])
def test_what_goes_wrong_at_one_value_or_in_one_way_is_caught(op):
    info = next(info for info in op_db if info.op is op)
    words = ("one value", "two options", "written")
    mutants = [m for m in mutants_of(info) if m.kind.startswith(words)]
    assert [m.id for m, v in zip(mutants, hunt(mutants, info), strict=True) if not v.caught] == []


def test_ways_are_those_of_the_signature():
    [info] = [info for info in op_db if info.op is functx.as_strided]
    ways = {m.target for m in mutants_of(info) if m.kind == "written in a way"}
    assert ways == {f"storage_offset{way}" for way in (" by name", " by position", "=None")}


@pytest.mark.parametrize("mutant", PLANTED, ids=lambda m: m.id)
def test_only_what_a_mistake_touches_is_changed(mutant):
    group = KINDS[mutant.kind].group
    for sample in ENTRY.samples(ENTRY.make("float32")):
        want, got = (op(*sample.args, **sample.kwargs) for op in (weighed, mutant.op))
        if not mutant.touches(sample):
            np.testing.assert_allclose(got, want, rtol=1e-5 if "digits" in group else 0)
            assert got.dtype == want.dtype


@pytest.mark.parametrize("mutant", PLANTED, ids=lambda m: m.id)
def test_a_derivative_is_planted_without_changing_values(mutant):
    group = KINDS[mutant.kind].group
    if group in ("gradients", "second order", "lanes") or "gradient" in mutant.kind:
        for sample in ENTRY.samples(ENTRY.make("float32")):
            want, got = (op(*sample.args, **sample.kwargs) for op in (weighed, mutant.op))
            np.testing.assert_array_equal(got, want)


def edges(make):
    yield call(make.put([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-5, 2e4]))


@pytest.mark.parametrize(
    "kind, changed",
    [
        ("NaN to 0", [0]),
        ("inf to 0", [1]),
        ("-inf to 0", [2]),
        ("-0.0 to 0.0", [3]),
        ("0.1 % off below 0.001", [5]),
        ("0.1 % off above 10000", [6]),
        ("cancellation", [5]),
    ],
)
def test_values_are_off_at_their_edge_alone(kind, changed):
    [mutant] = [m for m in mutants_of(OpInfo(jnp.arctan, edges)) if m.kind == kind]
    [sample] = edges(OpInfo(jnp.arctan, edges).make("float32"))
    want, got = (np.asarray(op(*sample.args)).view(np.uint32) for op in (jnp.arctan, mutant.op))
    assert np.flatnonzero(want != got).tolist() == changed


def test_nothing_is_planted_that_changes_nothing():
    floor = OpInfo(jnp.floor, few_of_one)
    groups = {KINDS[m.kind].group for m in mutants_of(floor)}
    assert not groups & {"gradients", "second order", "ties", "options", "randomness"}
    zeros = OpInfo(lambda x: jnp.zeros_like(x), few_of_one)
    assert not [m for m in mutants_of(zeros) if KINDS[m.kind].group == "lanes"]
    nowhere = OpInfo(lambda x: jnp.zeros((2, x.ndim)), few_of_one)
    kinds = {m.kind for m in mutants_of(nowhere)}
    assert "rank 4 and more" in kinds and "rank 0" not in kinds


def few_of_one(make):
    yield call(make(2, 3))


def test_a_kink_is_found_in_the_program_of_the_derivative():
    assert [m.target for m in mutants_of(OpInfo(jnp.maximum, pair)) if m.kind == "gradient at ties"]
    for smooth in (jnp.multiply, lambda x, y: jax.nn.softmax(x) * y):
        assert not [m for m in mutants_of(OpInfo(smooth, pair)) if m.kind == "gradient at ties"]


def pair(make):
    yield call(make(3), make(3))


def test_what_no_sample_gives_survives():
    lacking = OpInfo(weighed, few, np_weighed, refusals)
    options = [m for m in PLANTED if m.kind.startswith("option")]
    caught = {v.target for v in hunt(options, lacking) if v.caught}
    assert caught == {"weight"}
    assert {v.target for v in hunt(options, ENTRY) if v.caught} == {m.target for m in options}


def test_an_entry_without_a_reference_lets_values_go_wrong():
    lacking = OpInfo(weighed, many)
    values = [m for m in PLANTED if m.kind == "option's value"]
    assert not any(v.caught for v in hunt(values, lacking))


def test_every_planted_refusal_and_gradient_is_caught():
    groups = ("refusals", "gradients", "second order", "lanes")
    mutants = [m for m in PLANTED if KINDS[m.kind].group in groups]
    assert [m.id for m, v in zip(mutants, hunt(mutants, ENTRY), strict=True) if not v.caught] == []


def test_all_mutants_of_a_complete_entry_are_caught():
    entry = OpInfo(weighed, complete, np_weighed, refusals)
    mutants = [m for m in mutants_of(entry) if not m.kind.endswith("as float32")]  # undeclared
    verdicts = zip(mutants, hunt(mutants, entry), strict=True)
    survivors = {m.kind for m, v in verdicts if not v.caught}
    assert len(mutants) > 50 and survivors == set()


def test_a_second_entry_of_an_operator_leaves_its_options_to_the_first():
    other = OpInfo(weighed, few, variant="again")
    kinds = {v.kind for v in hunt_entry(other, [ENTRY, other], thorough=False)}
    assert not {kind for kind in kinds if KINDS[kind].group in ("options", "shapes")}


# Cheap ones, which together show every kind of mistake.
HUNTED = """
bitwise_or cumsum expm1 fliplr linalg.eigvalsh new_full nn.functional.pad-reflect
nn.functional.softmin rand_like reshape round
""".split()
together = pytest.mark.xdist_group("hunted")


@ft.cache
def verdicts_on(name):
    [info] = [info for info in op_db if info.id == name]
    return hunt_entry(info, op_db)


def survivors(verdicts):
    return [(v.kind, v.target) for v in verdicts if not v.caught]


@together
@pytest.mark.parametrize("name", HUNTED)
def test_every_planted_mistake_is_caught(name):
    assert survivors(verdicts_on(name)) == []


@together
def test_every_kind_is_hunted():
    assert {verdict.kind for name in HUNTED for verdict in verdicts_on(name)} == KINDS.keys()


@pytest.mark.full
@pytest.mark.parametrize("info", op_db, ids=lambda info: info.id)
def test_every_planted_mistake_in_the_database_is_caught(info):
    assert survivors(hunt_entry(info, op_db)) == []

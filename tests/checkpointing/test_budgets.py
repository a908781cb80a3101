"""Checkpoints that find out what to keep: the fewest bytes, or within a budget."""

from __future__ import annotations

import functools as ft
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx._transforms.partitioning import cutting
from functx._transforms.partitioning.cutting import Cut, CutNetwork
from functx._transforms.partitioning.linearized import linearized
from functx._transforms.partitioning.numbered import NumberedDerivative
from functx._transforms.partitioning.planning import keeping_all, plan_for
from functx._transforms.partitioning.segments import segments
from functx._transforms.partitioning.work import is_fixed, is_heavy, operations_of, work_of
from functx._transforms.programs.walking import equations
from functx.checkpointing import checkpoint_plan, checkpoint_report
from functx.testing.checks.programs import compiled


RNG = np.random.default_rng(0)
WEIGHTS = [jnp.asarray(RNG.standard_normal((6, 6)) / 3) for _ in range(8)]
X = jnp.asarray(RNG.standard_normal((5, 6)))


def layer(x, w):
    y = functx.tanh(functx.matmul(x, w)) * functx.sin(x)
    return functx.nn.functional.layer_norm(y, (6,))


def deep(weights, x):
    for w in weights:
        x = layer(x, w)
    return functx.sum(x**2)


def scanned(weights, x):
    x, sums = lax.scan(lambda x, w: (layer(x, w), x.sum()), x, weights)
    return functx.sum(x**2) + sums.sum()


def branching(weights, x):
    for w in weights[:3]:
        x = lax.cond(x[0, 0] > 0, layer, lambda x, w: jnp.cos(x @ w), x, w)
    return functx.sum(x**2)


def with_rules(weights, x):
    """A function of JAX's with a reverse rule alone."""

    @jax.custom_vjp
    def tripled(x):
        return jnp.sin(x)

    tripled.defvjp(lambda x: (jnp.sin(x), x), lambda x, ct: (3 * ct * jnp.cos(x),))
    for w in weights[:4]:
        x = tripled(x @ w) * jnp.exp(-(x**2))
    return x.sum()


FEW = WEIGHTS[:3]  # the derivatives of more layers take as many times longer
FUNCTIONS = {
    "deep": (deep, FEW),
    "scanned": (scanned, jnp.stack(FEW)),
    "branching": (branching, FEW),
}
CHOICES = {
    "min cut": {"policy": "min_cut"},
    "a fraction": {"budget": 0.6},
    "everything": {"budget": 1.0},
    "bytes": {"budget": 2_500},
}


def hessian_product(f):
    return lambda w, x: functx.jvp(lambda x: functx.grad(f, argnums=1)(w, x), (x,), (jnp.cos(x),))


DERIVATIVES = {
    "value": lambda f: f,
    "gradient": lambda f: functx.grad(f, argnums=(0, 1)),
    "of one argument": functx.grad,
    "forward": lambda f: lambda w, x: functx.jvp(lambda x: f(w, x), (x,), (jnp.cos(x),)),
    "Hessian product": hessian_product,
    "twice in reverse": lambda f: functx.grad(
        lambda w, x: functx.sum(functx.grad(f, argnums=1)(w, x) ** 2)
    ),
    "of lanes": lambda f: (
        lambda w, x: functx.vmap(functx.grad(f, argnums=1), (None, 0))(w, jnp.stack([x, 2 * x]))
    ),
}


def every_derivative(f, weights):
    every = lambda w, x: [derivative(f)(w, x) for derivative in DERIVATIVES.values()]
    return compiled(every)(weights, X)


@ft.cache
def wanted(name):
    return every_derivative(*FUNCTIONS[name])


@pytest.mark.parametrize(
    "name, options",
    [
        # Where everything is kept, no body of a loop or a branch is planned.
        pytest.param(
            name,
            CHOICES[choice],
            id=f"{name}-{choice}",
            marks=pytest.mark.full if choice == "everything" and name != "deep" else [],
        )
        for name in FUNCTIONS
        for choice in CHOICES
    ],
)
def test_derivatives_are_those_of_the_function(name, options):
    f, weights = FUNCTIONS[name]
    got = every_derivative(functx.checkpoint(f, **options), weights)
    for what, one, other in zip(DERIVATIVES, got, wanted(name), strict=True):
        for y, truth in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
            np.testing.assert_allclose(y, truth, rtol=1e-9, atol=1e-9, err_msg=what)


@pytest.mark.parametrize("options", CHOICES.values(), ids=CHOICES)
def test_functions_with_a_reverse_rule_alone(options):
    got = functx.grad(functx.checkpoint(with_rules, **options))(WEIGHTS, X)
    for one, other in zip(got, functx.grad(with_rules)(WEIGHTS, X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_eager_and_compiled_gradients_are_the_same():
    f = functx.checkpoint(deep, budget=0.5)
    eager, whole = functx.grad(f)(WEIGHTS, X), functx.jit(functx.grad(f))(WEIGHTS, X)
    for one, other in zip(eager, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("fraction", [0.9, 0.7, 0.5, 0.4])
def test_a_plan_keeps_to_the_budget_and_the_derivative_to_the_plan(fraction):
    whole = checkpoint_plan(deep, WEIGHTS, X).bytes
    plan = checkpoint_plan(deep, WEIGHTS, X, budget=fraction)
    assert plan.whole_bytes == whole
    assert plan.kept_bytes <= plan.bytes <= fraction * whole
    report = checkpoint_report(functx.checkpoint(deep, budget=fraction), WEIGHTS, X)
    assert 0 < report.residual_bytes <= plan.kept_bytes
    assert report.recomputed.total() > 0


def test_a_smaller_budget_is_more_work():
    work = [checkpoint_plan(deep, WEIGHTS, X, budget=b).work for b in (1.0, 0.8, 0.6, 0.4)]
    assert work == sorted(work)
    assert work[0] == 0 < work[1]


def test_bodies_of_loops_keep_their_share():
    stacked = jnp.stack(WEIGHTS)
    whole = checkpoint_report(scanned, stacked, X).residual_bytes
    report = checkpoint_report(functx.checkpoint(scanned, budget=0.5), stacked, X)
    assert report.residual_bytes <= whole / 2
    assert report.recomputed["tanh"] == len(WEIGHTS)


def test_the_least_budget_is_named_and_is_enough():
    with pytest.raises(ValueError, match=r"`budget` must be at least (\d+) bytes for") as error:
        functx.grad(functx.checkpoint(deep, budget=100), argnums=(0, 1))(WEIGHTS, X)
    least = int(str(error.value).split("at least ")[1].split()[0])
    assert checkpoint_plan(deep, WEIGHTS, X, budget=least).bytes == least
    with pytest.raises(ValueError, match="at least"):
        checkpoint_plan(deep, WEIGHTS, X, budget=least - 1)
    with pytest.raises(ValueError, match=r"0\.\d+ of what it needs without one, .* got 0\.01"):
        checkpoint_plan(deep, WEIGHTS, X, budget=0.01)


def test_the_value_of_a_function_needs_no_budget():
    assert functx.checkpoint(deep, budget=0)(WEIGHTS, X) == deep(WEIGHTS, X)


@pytest.mark.parametrize(
    "options, message, error",
    [
        ({"budget": -1}, "an int from 0", ValueError),
        ({"budget": 1.5}, "a float from", ValueError),
        ({"budget": float("nan")}, "a float from", ValueError),
        ({"budget": True}, "number of bytes, or a fraction, got True", TypeError),
        ({"budget": "half"}, "number of bytes, or a fraction, got 'half'", TypeError),
        ({"budget": 0.5, "policy": ["exp"]}, "either `policy` or `budget`", ValueError),
    ],
)
def test_refused_options(options, message, error):
    with pytest.raises(error, match=message):
        functx.checkpoint(deep, **options)


def test_random_numbers_are_drawn_once_and_are_the_same():
    def dropping(x, key):
        for one in jax.random.split(key, 4):
            x = functx.nn.functional.dropout(functx.sin(x), 0.5, key=one)
        return functx.sum(x * X)

    saving = functx.checkpoint(dropping, policy="min_cut")
    key = jax.random.key(3)
    for one, other in zip(
        *(functx.grad_and_value(f)(X, key) for f in (saving, dropping)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    program = jax.make_jaxpr(functx.grad(saving))(X, key)
    drawn = [eqn for eqn in equations(program) if eqn.primitive.name == "random_bits"]
    assert len(drawn) == 4


def test_ambient_random_numbers_are_those_of_the_function():
    dropping = lambda x: functx.sum(functx.nn.functional.dropout(functx.sin(x), 0.5) * X)
    functx.manual_seed(3)
    want = functx.grad_and_value(dropping)(X)
    functx.manual_seed(3)
    got = functx.grad_and_value(functx.checkpoint(dropping, policy="min_cut"))(X)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def derivative_of(f, *args):
    program = jax.make_jaxpr(f)(*args)
    return NumberedDerivative(linearized(program, range(len(program.in_avals))))


def test_a_minimum_cut_computes_no_product_again():
    plan = checkpoint_plan(deep, WEIGHTS, X, policy="min_cut")
    assert plan.bytes < plan.whole_bytes
    report = checkpoint_report(functx.checkpoint(deep, policy="min_cut"), WEIGHTS, X)
    assert report.recomputed["matmul"] == 0 < report.recomputed["sin"]


def small_programs():
    """Random programs of a few equations on arrays of various sizes."""
    for seed in range(12):
        rng = np.random.default_rng(seed)

        def program(x, rng=rng):
            values = [x]
            for _ in range(7):
                a, b = (values[rng.integers(len(values))] for _ in range(2))
                one = [jnp.sin, jnp.cos, jnp.exp][rng.integers(3)](a)
                y = one * b if one.shape == b.shape else one + b.sum()
                values.append(y[: max(1, len(y) // 2)] if rng.random() < 0.3 else y)
            return sum(jnp.sum(jnp.sin(y)) for y in values[-2:])

        yield pytest.param(program, id=str(seed))


def needed_again(derivative, kept):
    """The equations that must run again if `kept` is kept."""
    wanted, again = {*derivative.needed} - kept, []
    for i in range(len(derivative.reads) - 1, -1, -1):
        if any(n in wanted for n in derivative.outputs[i]):
            again.append(i)
            wanted |= {*derivative.reads[i]} - kept
    return again[::-1]


@pytest.mark.parametrize("program", list(small_programs()))
@pytest.mark.parametrize("price", [0.0, 0.01, 0.05, 0.2, 1.0])
def test_no_other_choice_costs_less(program, price):
    derivative = derivative_of(program, jnp.ones(16))
    assert not derivative.fixed.any()
    count = len(derivative.reads)
    work = derivative.work * (1 + cutting._TILT * np.arange(count) / count)
    cut = CutNetwork(derivative, derivative.work, derivative.fixed).cut(price)

    def cost(kept):
        again = needed_again(derivative, set(kept))
        return derivative.bytes[list(kept)].sum() + price * work[again].sum()

    candidates = np.argsort(derivative.bytes, kind="stable")[:12].tolist()
    best = min(cost(kept) for most in range(6) for kept in itertools.combinations(candidates, most))
    assert list(cut.again) == needed_again(derivative, set(cut.kept))
    assert cost(cut.kept) <= best * (1 + 1e-5) + 1e-3


def test_segments_cover_the_linear_pass_and_share_nothing():
    derivative = derivative_of(deep, WEIGHTS, X)
    plan = plan_for(derivative, 0.4 * keeping_all(derivative).bytes())
    assert len(plan.segments) > 1
    assert plan.segments[0].start == 0
    assert plan.segments[-1].stop == len(derivative.later_reads)
    for one, after in itertools.pairwise(plan.segments):
        assert one.stop == after.start
    again = [i for part in plan.segments for i in part.again]
    assert sorted(again) == sorted(set(again)) == list(plan.again)
    assert max(part.bytes for part in plan.segments) < keeping_all(derivative).bytes() / 2


def test_a_cut_that_keeps_everything_is_one_segment():
    derivative = derivative_of(deep, WEIGHTS, X)
    plan = keeping_all(derivative)
    assert [part.again for part in segments(derivative, Cut(plan.kept, plan.again))] == [()]
    assert plan.work == 0


def test_work_counts_products_loops_and_elements():
    def works(f, *args):
        return [work_of(eqn) for eqn in jax.make_jaxpr(f)(*args).eqns]

    assert works(jnp.matmul, jnp.ones((3, 4)), jnp.ones((4, 5)))[-1] == 2 * 3 * 4 * 5
    assert works(jnp.sin, jnp.ones(7)) == [70]
    assert works(lambda x: lax.scan(lambda c, _: (jnp.sin(c), None), x, length=5)[0], 1.0) == [50]
    image, weight = jnp.ones((1, 2, 8, 8)), jnp.ones((4, 2, 3, 3))
    conv = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME")
    assert works(conv, image, weight) == [2 * 4 * 64 * 2 * 9]


def test_draws_and_effects_must_not_run_twice():
    program = jax.make_jaxpr(lambda key: jnp.sin(jax.random.uniform(key, 3)))(jax.random.key(0))
    names = {eqn.primitive.name for eqn in program.eqns if is_fixed(eqn)}
    assert "sin" not in names
    assert names

    def printing(x):
        jax.debug.print("{}", x)
        return x

    assert any(map(is_fixed, jax.make_jaxpr(printing)(1.0).eqns))


def test_symbolic_sizes_are_planned_and_exported():
    (batch,) = jax.export.symbolic_shape("b")
    f = jax.jit(functx.grad(functx.checkpoint(lambda x: deep(WEIGHTS[:3], x), budget=0.6)))
    exported = jax.export.export(f)(jax.ShapeDtypeStruct((batch, 6), "float64"))
    np.testing.assert_allclose(exported.call(X), functx.grad(deep, argnums=1)(WEIGHTS[:3], X))


def test_a_plan_says_what_is_kept_and_where_it_was_computed():
    plan = checkpoint_plan(deep, WEIGHTS, X, budget=0.5)
    assert {value.operator for value in plan.kept} <= {
        *("matmul", "sin", "tanh", "nn.functional.layer_norm", "mul", "dot_general"),
        "integer_pow",
    }
    assert all(value.line and value.line.file == __file__ for value in plan.kept)
    text = str(plan)
    assert text.startswith(f"{plan.bytes} of {plan.whole_bytes} bytes")
    assert len(text.splitlines()) <= 1 + len(plan.kept)


def test_a_plan_of_a_deep_network_is_shown_in_few_lines():
    def network(ws, x):
        for w in ws:
            x = functx.exp(functx.matmul(x, w))
            x = functx.exp(-x)
        return functx.sum(x * x)

    plan = checkpoint_plan(network, [jnp.ones((6, 6))] * 30, jnp.ones(6))
    assert len(plan.kept) > 30
    head, *rows = str(plan).splitlines()
    assert len(rows) <= 4
    assert [row[:26] for row in rows[:2]] == ["30 x f64[6]  1440  exp  " + __file__[:2]] * 2
    assert rows[-1] == "in all  2880  exp"


def test_a_plan_names_the_operators_inside_of_loops():
    def loop(ws, x):
        step = lambda x, w: (functx.tanh(functx.exp(functx.matmul(x, w))), None)
        return functx.sum(jax.lax.scan(step, x, ws)[0])

    plan = checkpoint_plan(loop, jnp.ones((7, 6, 6)), jnp.ones(6))
    named = {value.operator for value in plan.kept}
    assert named <= {"carry of scan", "matmul in scan", "exp in scan", "tanh in scan"}
    assert "exp in scan" in named
    assert all(value.line and value.line.file == __file__ for value in plan.kept)


@pytest.mark.parametrize(
    "function, heavy",
    [
        (functx.sin, False),
        (functx.nn.functional.softplus, False),
        (lambda x: x.astype("int32"), False),
        (lambda x: functx.matmul(x, x.T), True),
        (lambda x: functx.nn.functional.conv1d(x[None], x[None]), True),
        (lambda x: functx.linalg.svdvals(x), True),
        (lambda x: lax.scan(lambda c, y: (c + y, None), x[0], x)[0], True),
    ],
)
def test_heavy_is_what_is_more_than_element_by_element(function, heavy):
    eqns = jax.make_jaxpr(function)(jnp.ones((4, 4), "float32")).eqns
    assert any(map(is_heavy, eqns)) is heavy


def test_operations_of_convolutions():
    x, w = jnp.ones((2, 3, 8, 8), "float32"), jnp.ones((5, 3, 3, 3), "float32")
    products = 2 * (2 * 5 * 6 * 6) * 3 * 3 * 3
    convolve = functx.nn.functional.conv2d
    eqns = jax.make_jaxpr(convolve)(x, w).eqns
    assert sum(map(operations_of, eqns)) == pytest.approx(products, rel=0.01)
    pull = lambda x, w, y: jax.vjp(convolve, x, w)[1](y)
    eqns = jax.make_jaxpr(pull)(x, w, convolve(x, w)).eqns
    assert sum(map(operations_of, eqns)) == pytest.approx(3 * products, rel=0.05)


@pytest.mark.parametrize("name", ["scanned", "branching"])
def test_a_budget_between_two_that_can_be_kept_can_be_kept(name):
    """What a step of a loop computes again at once counts where the plan around it is chosen."""
    f, weights = FUNCTIONS[name]
    for budget in np.arange(0.5, 1.0, 0.05):
        plan = checkpoint_plan(f, weights, X, budget=float(budget))
        assert plan.bytes <= budget * plan.whole_bytes

"""A checkpointed function is the function, under every nest of transforms, whatever it takes."""

from __future__ import annotations

import functools as ft
import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing.checks.programs import compiled


MIX = np.array([[0.6, 0.3], [-0.2, 0.5]])
POINT = np.array([0.7, -0.4])
DIRECTION = np.array([0.9, -1.3])
SAVED = [functx.matmul, "tanh"]


def wave(x):
    return functx.tanh(functx.matmul(MIX, x)) * functx.sin(x)


def scanned(f):
    return lambda x: lax.scan(lambda c, a: (f(a * c), c), x, np.array([0.8, 1.2]))[0]


def inner_gradient(f):
    return lambda x: functx.grad(lambda y: (f(y) ** 2).sum())(x) + x


NESTS = {
    "grad": lambda f: functx.grad(lambda x: DIRECTION @ f(x)),
    "jvp": lambda f: lambda x: functx.jvp(f, (x,), (DIRECTION * x,))[1],
    "vmap": lambda f: lambda x: functx.vmap(f)(jnp.stack([x, 2 * x, x * x])).sum(0),
    "jit": functx.jit,
    "scan": scanned,
    "cond": lambda f: lambda x: lax.cond(x[0] > 0, f, lambda x: 2 * x, x),
    "hessian": lambda f: lambda x: functx.hessian(lambda x: DIRECTION @ f(x))(x).sum(0),
    "an inner grad": inner_gradient,
    "checkpoint": functx.checkpoint,
    "saving": ft.partial(functx.checkpoint, policy=SAVED),
    "saving others": ft.partial(functx.checkpoint, policy=["sin"]),
    "min cut": ft.partial(functx.checkpoint, policy="min_cut"),
    "jax.checkpoint": jax.checkpoint,
}
PLAIN = NESTS | dict.fromkeys(["checkpoint", "saving", "saving others", "min cut"], jax.jit)


def nested(names, f, nests):
    for name in reversed(names):
        f = nests[name](f)
    return f


def check(cases):
    """One compiled program computes all of them, with checkpoints and without."""

    def everything(x):
        return {
            names: [nested(names, wave, nests)(x) for nests in (NESTS, PLAIN)] for names in cases
        }

    for names, (got, want) in compiled(everything)(POINT).items():
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12, err_msg=str(names))


@pytest.mark.parametrize("outer", ["grad", "jvp", "vmap", "scan", "hessian"])
def test_saved_results_under_nests_of_two(outer):
    check([(outer, inner, "saving") for inner in NESTS])


@pytest.mark.parametrize("outer", ["checkpoint", "saving", "saving others"])
def test_checkpoints_around_every_transform(outer):
    check([("grad", outer, inner) for inner in NESTS])


def test_checkpoints_in_checkpoints_and_gradients_of_gradients():
    check(
        [
            ("grad", "saving", "checkpoint", "saving others"),
            ("grad", "saving", "an inner grad", "checkpoint"),
            ("grad", "checkpoint", "an inner grad", "saving"),
            ("grad", "saving", "an inner grad", "saving", "an inner grad", "saving"),
            ("hessian", "saving", "scan", "saving others"),
        ]
    )


def test_eager_calls_are_those_of_the_function():
    loss = lambda x: wave(x).sum()
    for policy in (None, SAVED, lambda operator, *avals: len(avals[0].shape) == 2):
        kept = functx.checkpoint(loss, policy=policy)
        np.testing.assert_allclose(kept(POINT), loss(POINT))
        np.testing.assert_allclose(functx.grad(kept)(POINT), functx.grad(loss)(POINT))


def test_a_linear_function_can_be_transposed():
    double = functx.checkpoint(lambda x: functx.matmul(MIX, 2 * x), policy=["matmul"])
    (got,) = jax.linear_transpose(double, POINT)(DIRECTION)
    np.testing.assert_allclose(got, 2 * MIX.T @ DIRECTION)


def test_it_decorates_with_options():
    @functx.checkpoint(policy=["sin"], prevent_cse=False)
    def f(x):
        """Doubled."""
        return 2 * functx.sin(x)

    assert f.__name__ == "f" and f.__doc__ == "Doubled."
    np.testing.assert_allclose(functx.grad(f)(0.5), 2 * np.cos(0.5))


def test_closed_over_parameters_get_their_gradients():
    def loss(w, x, policy):
        return functx.checkpoint(lambda y: functx.tanh(functx.matmul(w, y)), policy=policy)(x).sum()

    want = functx.grad(lambda w: jnp.tanh(w @ POINT).sum())(MIX)
    for policy in (None, SAVED):
        np.testing.assert_allclose(functx.grad(loss)(MIX, POINT, policy), want)


@pytest.mark.parametrize("policy", [None, SAVED])
def test_trees_and_what_is_no_array_pass_as_they_are(policy):
    seen = {}

    def f(batch, activation, *, mode, scale=2, missing=None):
        seen.update(mode=mode, scale=scale, missing=missing, activation=activation)
        x = activation(functx.matmul(batch["w"], batch["x"])) * scale
        flag = "training" if mode == "train" else None
        return {"x": x, "flag": flag, "count": 3, "nothing": None, "again": activation}, batch[
            "ids"
        ]

    batch = {"w": MIX, "x": POINT, "ids": np.arange(2), "label": "a"}
    kept = functx.checkpoint(f, policy=policy)
    out, ids = kept(batch, functx.tanh, mode="train")
    assert seen == {"mode": "train", "scale": 2, "missing": None, "activation": functx.tanh}
    assert out["flag"] == "training" and out["again"] is functx.tanh and out["nothing"] is None
    assert type(out["count"]) is int and ids.dtype == np.int64
    np.testing.assert_allclose(out["x"], 2 * np.tanh(MIX @ POINT))
    loss = lambda f: lambda w: f(batch | {"w": w}, functx.tanh, mode="eval")[0]["x"].sum()
    np.testing.assert_allclose(functx.grad(loss(kept))(MIX), functx.grad(loss(f))(MIX))


def test_the_function_runs_once_and_the_backward_pass_replays_it():
    runs = []

    def f(x):
        runs.append(x)
        return functx.sin(x).sum()

    _, pull = functx.vjp(functx.checkpoint(f), POINT)
    pull(1.0), pull(1.0)
    assert len(runs) == 1


def test_a_value_without_gradient_inside_gets_none():
    def f(x):
        return x * functx.sin(lax.stop_gradient(x)), functx.argmax(x)

    for policy in (None, ["sin", "argmax"]):
        loss = lambda x, policy=policy: functx.checkpoint(f, policy=policy)(x)[0].sum()
        np.testing.assert_allclose(functx.grad(loss)(POINT), np.sin(POINT))


def dropping(x):
    return (
        functx.nn.functional.dropout(functx.sin(x), 0.5).sum()
        + functx.rand((), dtype=functx.float64) * x[0]
    )


def drawn_by(f):
    """Of a generator that goes on: eager results, those of a program, and the next number."""
    functx.manual_seed(3)
    x = jnp.linspace(0, 1, 32)
    return functx.grad_and_value(f)(x), functx.jit(functx.grad(f))(x), functx.rand(())


@pytest.fixture(scope="module")
def drawn():
    return drawn_by(dropping)


@pytest.mark.parametrize("policy", [None, ["nn.functional.dropout"], ["matmul"]])
def test_random_numbers_are_the_same_again(policy, drawn):
    got = drawn_by(functx.checkpoint(dropping, policy=policy))
    jax.tree.map(ft.partial(np.testing.assert_allclose, rtol=1e-12), got, drawn)


def test_random_numbers_of_keys_scopes_and_lanes():
    def f(x):
        return functx.tanh(x * functx.randn((), dtype=functx.float64)) ** 2

    def all_ways(f):
        def scoped(key, x):
            with functx.random.scope(key):
                return f(x)

        def given(key, x):
            return f(x) + functx.rand((), key=key, dtype=functx.float64) * x

        key = jax.random.key(1)
        lanes = functx.vmap(functx.grad(f), randomness="different")
        with functx.random.scope(key):
            return functx.jit(lanes)(POINT), jax.jit(jax.grad(scoped, 1))(key, 0.5), given(key, 0.5)

    kept = functx.checkpoint(f, policy=["randn"])
    for got, want in zip(all_ways(kept), all_ways(f), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_the_precision_is_that_of_the_call():
    def product(x):
        return functx.matmul(MIX.astype("float32"), x)

    with functx.amp.autocast(jnp.bfloat16):
        out, pull = functx.vjp(functx.checkpoint(product), POINT.astype("float32"))
    assert out.dtype == jnp.bfloat16
    text = str(jax.make_jaxpr(pull)(out))
    assert "bf16[2,2]" in text and "f32[2,2] = dot_general" not in text


def test_a_function_with_own_rules_keeps_them():
    triple = derivative_rules(
        functx.sin, jvp=lambda primals, output, tangents: 3 * output * tangents[0], name="triple"
    )
    for policy in (None, ["sin"], lambda *_: True, jax.checkpoint_policies.everything_saveable):
        kept = functx.checkpoint(lambda x: triple(functx.exp(x)).sum(), policy=policy)
        want = 3 * np.sin(np.exp(POINT)) * np.exp(POINT)
        np.testing.assert_allclose(functx.grad(kept)(POINT), want)


def test_values_that_operators_require_are_checked():
    def f(x):
        return functx.gather(x, 0, jnp.asarray([5])).sum()

    checked = functx.debug.checked(jax.jit(functx.checkpoint(f, policy=["gather"])))
    with pytest.raises(IndexError, match="gather"):
        checked(POINT)


def test_devices_that_share_the_work():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))

    @ft.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("d")), out_specs=P())
    def loss(w, x):
        kept = functx.checkpoint(lambda x: functx.tanh(functx.matmul(w, x)), policy=SAVED)
        return lax.psum(kept(x).sum(), "d")

    want = jax.grad(lambda w: jnp.tanh(w @ MIX).sum())(MIX)
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(MIX, MIX), want)


def test_what_is_saved_lives_as_long_as_the_pullback():
    kept = functx.checkpoint(lambda x: functx.exp(functx.exp(x)), policy=["exp"])
    out, pull = functx.vjp(kept, POINT)
    (saved,) = [
        weakref.ref(x) for x in jax.tree.leaves(pull) if np.allclose(x, np.exp(np.exp(POINT)))
    ]
    del out
    assert saved() is not None
    del pull
    gc.collect()
    assert saved() is None


def test_complex_results_are_saved():
    def f(z):
        return functx.abs(functx.matmul(functx.exp(functx.sin(z)), z)).sum()

    z = np.array([[1 + 2j, 0.5j], [-0.3, 0.2 - 1j]])
    for policy in (["exp"], ["matmul", "sin"], lambda *_: True):
        kept = functx.checkpoint(f, policy=policy)
        np.testing.assert_allclose(functx.grad(kept)(z), functx.grad(f)(z))
    report = functx.checkpointing.checkpoint_report(functx.checkpoint(kept, policy=["exp"]), z)
    assert report.recomputed == {"matmul": 1, "abs": 1} and report.residual_bytes == z.nbytes


def test_a_refused_draw_says_why():
    draw = functx.checkpoint(lambda x: x + functx.rand(()))
    with pytest.raises(RuntimeError, match=r'inside vmap\(randomness="error"\)'):
        functx.vmap(draw)(jnp.zeros(2, "float32"))
    with pytest.raises(RuntimeError, match="would freeze the numbers into the program"):
        jax.jit(draw)(jnp.zeros(2, "float32"))


def test_calls_and_options_of_pytorch_are_refused():
    with pytest.raises(TypeError, match=r"got also f64\[2\]\n.*functx.checkpoint\(f\)\(x\)"):
        functx.checkpoint(wave, POINT)
    with pytest.raises(TypeError, match="got also `use_reentrant`\n.*one variant"):
        functx.checkpoint(wave, use_reentrant=False)


def test_wrong_functions_and_values_that_tracing_does_not_have():
    with pytest.raises(TypeError, match="checkpoint: `func`"):
        functx.checkpoint(POINT)
    with pytest.raises(jax.errors.TracerBoolConversionError, match="checkpoint: `func` asks"):
        functx.checkpoint(lambda x: x if x[0] > 0 else -x)(POINT)


@pytest.mark.parametrize("policy", [None, SAVED, lambda *_: True])
def test_a_call_keeps_nothing_alive(policy):
    def once():
        def f(x):
            return functx.tanh(functx.matmul(MIX, x)).sum()

        functx.grad(functx.checkpoint(f, policy=policy))(POINT)
        return weakref.ref(f)

    dead = once()
    gc.collect()
    assert dead() is None


@pytest.mark.parametrize("policy", [None, ["sin"], lambda *_: True])
def test_hooks_on_gradients_inside_are_called_once(policy):
    seen = []

    def f(x):
        doubled = lambda g: seen.append(x) or 2 * g
        return functx.exp(functx.taps.tap(functx.sin(x), on_grad=doubled)).sum()

    got = functx.grad(functx.checkpoint(f, policy=policy))(POINT)
    assert len(seen) == 1
    np.testing.assert_allclose(got, 2 * np.exp(np.sin(POINT)) * np.cos(POINT))


@pytest.mark.parametrize("policy", [None, ["exp"]])
def test_regions_without_gradients_inside_and_outside(policy):
    def f(x):
        with functx.no_grad():
            factor = functx.exp(functx.sin(x))
        return functx.sum(functx.mul(x, factor))

    kept = functx.checkpoint(f, policy=policy)

    def outside(x):
        with functx.no_grad():
            return kept(x)

    np.testing.assert_allclose(functx.grad(kept)(POINT), np.exp(np.sin(POINT)))
    np.testing.assert_allclose(functx.grad(lambda x: outside(x) + x.sum())(POINT), 1)

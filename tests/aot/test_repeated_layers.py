"""Which layers are found: what is carried, what stays as it is, what is refused."""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import functx
from functx._transforms.programs.walking import CHECKPOINTS, equations
from functx.aot import repeated_layers, roll
from functx.testing.checks.programs import compiled


WIDTH = 3
X = np.linspace(-1, 1, 2 * WIDTH, dtype=np.float32).reshape(2, WIDTH)
WEIGHTS = [jnp.asarray(np.cos(np.arange(9.0) + i).reshape(3, 3), "float32") for i in range(6)]
MATRIX, VECTOR = "f32[3,3]", "f32[2,3]"


def found(f, *args, **options):
    return repeated_layers(f, *args, **options)


def scans(f, *args):
    return str(jax.make_jaxpr(f)(*args)).count(" scan[")


def test_a_report_says_what_goes_where():
    def f(weights, x):
        mask, seen = functx.exp(x), []
        for i, w in enumerate(weights):
            x = functx.tanh(x @ w) * mask * float(i)
            seen.append(functx.sum(x))
        return x, seen

    (one,) = found(f, WEIGHTS, X)
    assert (one.layers, one.equations) == (6, 5)
    assert (one.carried, one.shared, one.collected) == ((VECTOR,), (VECTOR,), ("f32[]",))
    assert sorted(one.stacked) == ["f32[3,3]", "f32[]"]
    first, *others = [line.strip() for line in str(one).splitlines()]
    assert first == "6 layers of 5 equations"
    assert {f"carried: {VECTOR}", f"shared: {VECTOR}", "collected: f32[]"} <= {*others}


def test_layers_begin_where_the_least_is_carried():
    def f(weights, x):
        for w in weights:
            wide = jnp.concatenate([x @ w] * 8)
            x = functx.tanh(wide)[: x.shape[0]]
        return jnp.concatenate([x] * 8) * 2

    (one,) = found(f, WEIGHTS, X)
    assert one.carried == (VECTOR,)

    def begins_wide(weights, wide):
        for w in weights:
            x = functx.tanh(wide)[:2]
            wide = jnp.concatenate([x @ w] * 8)
        return wide

    (one,) = found(begins_wide, WEIGHTS, jnp.ones((16, 3), "float32"))
    assert one.carried == (VECTOR,)
    args = WEIGHTS, jnp.ones((16, 3), "float32")
    got, want = compiled(roll(begins_wide))(*args), compiled(begins_wide)(*args)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_equations_may_stand_in_any_order():
    """Transposed weights first, a mask in the middle of the first layer."""

    def f(weights, x):
        turned = [w.T for w in weights[::-1]][::-1]
        for i, w in enumerate(turned):
            y = x @ w
            if i == 0:
                mask = functx.exp(jnp.arange(3, dtype="float32"))
            x = functx.tanh(y * mask)
        return x

    (one,) = found(f, WEIGHTS, X)
    assert (one.layers, one.shared) == (6, ("f32[3]",))
    np.testing.assert_allclose(compiled(roll(f))(WEIGHTS, X), compiled(f)(WEIGHTS, X), rtol=1e-5)


def test_more_than_a_layer_may_repeat():
    def f(weights, x):
        y = x
        for w in weights:
            x, y = functx.tanh(x @ w + y), x
        return x

    def alternating(weights, x):
        for a, b in zip(weights[::2], weights[1::2], strict=True):
            x = functx.sin(functx.tanh(x @ a) @ b)
        return x

    assert [one.layers for one in found(alternating, WEIGHTS, X)] == [3]
    for g in (f, alternating):
        got, want = compiled(roll(g, min_layers=2))(WEIGHTS, X), compiled(g)(WEIGHTS, X)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda weights, x: functx.tanh(x @ weights[0]),
        lambda weights, x: [x @ w for w in weights],  # beside each other
        lambda weights, x: sum(functx.tanh(x @ w) for w in weights),  # sums alone follow
        lambda weights, x: functx.sin(functx.sin(functx.sin(functx.sin(x)))),  # no product
        lambda weights, x: functx.tanh(functx.tanh(x @ weights[0]) @ weights[1]),  # two layers
        lambda weights, x: functx.sin(functx.exp(functx.tanh(x @ WEIGHTS[0]) @ WEIGHTS[1])),
    ],
)
def test_what_does_not_pay_stays(f):
    assert found(f, WEIGHTS, X) == ()
    assert scans(roll(f), WEIGHTS, X) == 0
    jax.tree.map(np.testing.assert_array_equal, roll(f)(WEIGHTS, X), f(WEIGHTS, X))


def test_rules_that_differ_are_not_equal():
    def scaled(by):
        @jax.custom_vjp
        def f(x):
            return functx.sin(x)

        f.defvjp(lambda x: (functx.sin(x), x), lambda x, g: (g * by,))
        return f

    def network(factors):
        def f(weights, x):
            for w, by in zip(weights, factors, strict=True):
                x = scaled(by)(x @ w)
            return functx.sum(x)

        return f

    same, other = network([2.0] * 6), network([2.0, 3.0] * 3)
    assert [one.layers for one in found(same, WEIGHTS, X)] == [6]
    assert [one.layers for one in found(other, WEIGHTS, X)] == [3]
    for f in (same, other):
        got, want = (compiled(functx.grad(g))(WEIGHTS, X) for g in (roll(f), f))
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4), got, want)


def test_constants_inside_of_calls_count():
    def f(weights, x):
        for w, by in zip(weights, [1.0, 2.0, 2.0, 2.0, 2.0, 3.0], strict=True):
            x = jax.jit(lambda x, w, by=by: functx.tanh(x @ w) * by)(x, w)
        return x

    assert [one.layers for one in found(f, WEIGHTS, X)] == [4]
    np.testing.assert_allclose(compiled(roll(f))(WEIGHTS, X), compiled(f)(WEIGHTS, X), rtol=1e-5)


def test_effects_keep_their_number_and_order():
    seen = []

    def f(weights, x):
        for i, w in enumerate(weights):
            x = functx.tanh(x @ w)
            if i in (0, 5):
                jax.debug.callback(lambda x, i=i: seen.append(i), x[0, 0], ordered=True)
        return x

    assert [one.layers for one in found(f, WEIGHTS, X)] == [6]
    jax.jit(roll(f))(WEIGHTS, X).block_until_ready()
    jax.effects_barrier()
    assert seen == [0, 5]

    def note(x):
        seen.append("each")

    def in_each(weights, x):
        for w in weights:
            x = functx.tanh(x @ w)
            jax.debug.callback(note, x[0, 0])
        return x

    assert found(in_each, WEIGHTS, X) == ()
    jax.jit(roll(in_each))(WEIGHTS, X).block_until_ready()
    jax.effects_barrier()
    assert seen == [0, 5] + ["each"] * 6


def test_a_loop_that_reads_what_callbacks_return_waits_for_all_before_them():
    """The loop waits for what the callbacks return, and these for one that it does not read."""
    seen = []

    def read(name):
        seen.append(name)
        return np.float32(2)

    def f(weights, x):
        for i, w in enumerate(weights):
            ask = lambda name: io_callback(
                ft.partial(read, name), jax.ShapeDtypeStruct((), "float32"), ordered=True
            )
            x = functx.tanh(x @ w) * ask(f"layer {i}")
            ask(f"after {i}")
        return x

    assert [one.layers for one in found(f, WEIGHTS[:4], X)] == [4]
    got = jax.block_until_ready(jax.jit(roll(f))(WEIGHTS[:4], X))
    rolled, seen = seen, []
    np.testing.assert_allclose(got, f(WEIGHTS[:4], X), rtol=1e-5)
    assert rolled == seen == [f"{when} {i}" for i in range(4) for when in ("layer", "after")]


def test_operators_stay_whole():
    def f(weights, x):
        for w in weights:
            x = functx.nn.functional.layer_norm(x @ w, (WIDTH,))
        return x

    graph = functx.aot.trace(roll(f), WEIGHTS, X)
    (scan,) = [node for node in graph.nodes if node.name == "scan"]
    assert "nn.functional.layer_norm" in {
        n.name for program in scan.programs for n in _all(program)
    }


def _all(nodes):
    for node in nodes:
        yield node
        for program in node.programs:
            yield from _all(program)


def test_a_gradient_keeps_what_is_dear_of_each_layer():
    """The loop saves products; a loop by hand saves what the gradients of functions read, too."""

    def f(weights, x):
        for w in weights:
            x = functx.sin(functx.exp(-(functx.tanh(x @ w) ** 2)))
        return functx.sum(x)

    def by_hand(weights, x):
        layer = lambda x, w: (functx.sin(functx.exp(-(functx.tanh(x @ w) ** 2))), None)
        return functx.sum(jax.lax.scan(layer, x, jnp.stack(weights))[0])

    x = jnp.ones((64, WIDTH), "float32")
    ours, theirs = (
        jax.jit(jax.grad(g)).lower(WEIGHTS, x).compile().memory_analysis().temp_size_in_bytes
        for g in (roll(f), by_hand)
    )
    assert ours < theirs


def test_users_checkpoints_decide_themselves():
    def f(weights, x):
        for w in weights:
            x = jax.checkpoint(lambda x, w: functx.tanh(functx.tanh(x @ w) @ w))(x, w)
        return functx.sum(x)

    program = jax.make_jaxpr(roll(f))(WEIGHTS, X)
    names = [eqn.primitive.name for eqn in equations(program)]
    assert sum(name in CHECKPOINTS for name in names) == 1 and names.count("scan") == 1


@pytest.mark.parametrize("who", [roll, repeated_layers])
def test_refusals(who):
    name = who.__name__
    with pytest.raises(TypeError, match=rf"^{name}: `func` must be callable, got"):
        who(3)
    with pytest.raises(TypeError, match=rf"^{name}: `min_layers` must be an integer, got 2.5"):
        who(lambda x: x, min_layers=2.5)
    with pytest.raises(TypeError, match=rf"^{name}: `min_layers` must be an integer, got True"):
        who(lambda x: x, min_layers=True)
    with pytest.raises(ValueError, match=rf"^{name}: `min_layers` must be at least 2, got 1"):
        who(lambda x: x, min_layers=1)
    with pytest.raises(jax.errors.ConcretizationTypeError, match=f"^{name}: `func` asks for the"):
        run = who(lambda x: float(x), jnp.ones(())) if who is repeated_layers else roll(float)
        run(jnp.ones(()))


PIECES = [
    lambda w, x, y: (functx.tanh(x @ w), y),
    lambda w, x, y: (y, functx.sin(x)),
    lambda w, x, y: (x + y @ w.T, x),
    lambda w, x, y: (jax.nn.relu(x) * w[0], y + 0.5),
    lambda w, x, y: (x, jnp.flip(y, 0) @ w),
    lambda w, x, y: (functx.softmax(x + y, dim=1), x),
]


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed):
    """Random layers, repeated, with random pieces before, between and after them."""
    rng = np.random.default_rng(seed)
    shape = [rng.integers(0, len(PIECES), size=rng.integers(1, 4)) for _ in range(2)]
    words = [w for layer in shape for w in [*rng.integers(0, 6, 1), *np.tile(layer, 4)]]
    words += [*rng.integers(0, 6, 2)]
    kept = set(rng.integers(0, len(words), 2).tolist())
    given = [WEIGHTS[i] for i in rng.integers(0, 6, len(words))]

    def f(weights, x):
        x, y, seen = x, jnp.cos(x), []
        for i, (word, w) in enumerate(zip(words, weights, strict=True)):
            x, y = PIECES[word](w, x, y)
            seen += [x] if i in kept else []
        return x, y, seen

    def gradient(f):
        def total(weights, x):
            return sum(functx.sum(functx.sin(y)) for y in jax.tree.leaves(f(weights, x)))

        return lambda *args: (f(*args), functx.grad(total)(*args))

    got, want = (compiled(gradient(g))(given, X) for g in (roll(f, min_layers=2), f))
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
    jax.tree.map(close, got, want)

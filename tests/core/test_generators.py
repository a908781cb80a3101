"""`functx.Generator` as an object: seeds, states, what it draws and where, and `generator=`."""

import inspect
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core import OPERATORS, REGISTRY
from functx.testing import op_db


SCHEMES = ["threefry2x32", "rbg", "unsafe_rbg"]


def numbers(generator, n=3):
    return np.stack([functx.rand(4, generator=generator) for _ in range(n)])


def seeded(seed=0):
    return functx.Generator().manual_seed(seed)


RANDOM = [info for info in op_db if info.random]
BY_KEY = ("rand", "multinomial", "nn.functional.dropout")  # with a key, each is another program


@pytest.mark.parametrize("info", RANDOM, ids=lambda info: info.id)
def test_every_random_operator_takes_a_generator(info):
    dtype = next(d for d in ("float32", "int64") if d in info.accepted)
    sample = next(s for s in info.draw(dtype) if info.draws(s))
    generator = seeded(3)
    generator.advance(5)
    got = info.op(*sample.args, **sample.kwargs, generator=generator)
    if info.id in BY_KEY:
        key = jax.random.fold_in(jax.random.key(3), 5)
        want = info.with_key(key)(*sample.args, **sample.kwargs)
    else:
        ambient = seeded(3)
        ambient.advance(5)
        with functx.random.scope(ambient):
            want = info.op(*sample.args, **sample.kwargs)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), got, want))
    assert generator.get_offset() == 6


def test_a_call_that_needs_no_numbers_draws_none():
    generator = seeded()
    dropout = functx.nn.functional.dropout
    dropout(jnp.ones(3), 0.5, training=False, generator=generator)
    with pytest.raises(RuntimeError):
        functx.rand(-1, generator=generator)
    assert generator.get_offset() == 0


def test_a_generator_is_apart_from_the_ambient_one():
    functx.manual_seed(0)
    want = functx.rand(3)
    functx.manual_seed(0)
    numbers(seeded(9))
    assert (functx.rand(3) == want).all()


def test_what_is_no_generator_is_refused():
    for wrong, words in ((0, "0"), ("abc", "'abc'"), (jax.random.key(0), "key<fry>"), ([1], "")):
        what = f"^rand: `generator` must be a functx.Generator, got {words}(?s:.*); key= takes"
        with pytest.raises(TypeError, match=what):
            functx.rand(2, generator=wrong)
    with pytest.raises(TypeError, match="^rand: `key` must be a PRNG key, got 3(?s:.*)generator="):
        functx.rand(2, key=3)
    with pytest.raises(
        TypeError, match="attention: `generator` must be .*\n.* rng_key= takes a PRNG"
    ):
        attention = functx.nn.functional.scaled_dot_product_attention
        attention(*[jnp.ones((1, 2, 2))] * 3, dropout_p=0.5, generator=1)
    with pytest.raises(TypeError, match="^rand: `key` and `generator` are both given"):
        functx.rand(2, generator=seeded(), key=jax.random.key(0))
    with pytest.raises(TypeError, match="sin: `generator` does not exist here"):
        functx.sin(jnp.ones(2), generator=seeded())
    assert functx.rand(2, generator=None).shape == (2,)


def test_one_of_key_and_generator_may_be_none():
    key = jax.random.key(0)
    assert (functx.rand(2, key=key, generator=None) == functx.rand(2, key=key)).all()
    x = functx.rand(2, generator=seeded(3))
    assert (functx.rand(2, key=None, generator=seeded(3)) == x).all()


def test_signatures_say_so():
    for name, spec in REGISTRY.items():
        parameter = inspect.signature(OPERATORS[name]).parameters.get("generator")
        assert (parameter is not None) == spec.random, name
        if parameter is not None:
            assert parameter.kind is parameter.KEYWORD_ONLY and parameter.default is None, name
            assert parameter.annotation == "Generator | None", name


def test_made_as_in_pytorch():
    assert functx.Generator().initial_seed() == 0
    generator = functx.Generator()
    assert generator.manual_seed(7) is generator and generator.initial_seed() == 7
    for made in (functx.Generator("cpu"), functx.Generator(device="cpu:0")):
        assert (numbers(made) == numbers(functx.Generator())).all()
        assert made.manual_seed(3).key.committed, "and stays on its device"
    with pytest.raises(RuntimeError, match="Generator: `device` 'cuda:0' is not there"):
        functx.Generator(device="cuda:0")
    with pytest.raises(TypeError, match="Generator: `key` must be a PRNG key, got 3"):
        functx.Generator(3)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", [0, 5, 2**31, 2**40 + 5, -1, 2**64 - 1])
def test_the_seed_is_told(seed, scheme):
    generator = functx.Generator(jax.random.key(1, impl=scheme)).manual_seed(seed)
    assert generator.initial_seed() == seed % 2**64
    numbers(generator)
    assert generator.initial_seed() == seed % 2**64, "draws change nothing"
    again = functx.Generator(jax.random.key(0, impl=scheme)).manual_seed(generator.initial_seed())
    assert (numbers(again) == numbers(generator.manual_seed(seed))).all()
    assert str(jax.random.key_impl(generator.key)) == scheme


def test_a_seed_of_the_system_is_told_and_is_another_each_time():
    generator = functx.Generator()
    seeds = {generator.seed() for _ in range(3)}
    assert len(seeds) == 3 and generator.initial_seed() in seeds
    assert (numbers(seeded(generator.initial_seed())) == numbers(generator)).all()


def test_a_key_that_no_seed_gives_has_none():
    key = jax.random.split(jax.random.key(0, impl="unsafe_rbg"))[0]
    with pytest.raises(RuntimeError, match="Generator.initial_seed: no seed is known of"):
        functx.Generator(key).initial_seed()
    with pytest.raises(RuntimeError, match="Generator.initial_seed: no seed is known of"):
        jax.jit(lambda generator: float(generator.initial_seed()))(seeded())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_states_go_through_files(scheme, tmp_path):
    generator = functx.Generator(jax.random.key(2, impl=scheme))
    numbers(generator, 2)
    state = generator.get_state()
    assert state.dtype == np.uint32 and state.ndim == 1
    np.save(tmp_path / "state.npy", state, allow_pickle=False)
    want = numbers(generator)
    other = functx.Generator()
    other.set_state(np.load(tmp_path / "state.npy", allow_pickle=False))
    assert other.get_offset() == 2 and (numbers(other) == want).all()
    generator.set_state(state)
    assert (numbers(generator) == want).all()


@pytest.mark.parametrize("x64", [True, False])
def test_states_go_through_compiled_programs(x64):
    @jax.jit
    def step(state):
        generator = functx.Generator()
        generator.set_state(state)
        x = functx.rand(4, generator=generator)
        return x, generator.get_state()

    generator = seeded(4)
    with functx.x64(x64):
        state, drawn = generator.get_state(), []
        for _ in range(3):
            x, state = step(state)
            drawn.append(x)
        assert (np.stack(drawn) == numbers(generator)).all()
        assert (state == generator.get_state()).all()


def test_counters_of_states_are_whole():
    generator = functx.Generator(jax.random.key(0), 2**40 + 3)
    other = functx.Generator()
    other.set_state(generator.get_state())
    assert other.get_offset() == 2**40 + 3
    traced = jax.jit(lambda generator: generator.get_state())(generator)
    assert (traced == generator.get_state()).all()


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        (jnp.zeros(5), TypeError, "must be what get_state gave, an array of uint32, got"),
        (np.zeros(5, "uint32"), TypeError, "must be what get_state gave"),
        (np.zeros((1, 5), "uint32"), TypeError, "must be what get_state gave"),
        (np.zeros(5016, "uint8"), TypeError, "must be what get_state gave"),
        ([1, 2], TypeError, "must be what get_state gave"),
        (np.append(functx.Generator().get_state(), np.uint32(1)), ValueError, "must have 5 words"),
    ],
)
def test_what_is_no_state_is_refused(state, error, words):
    generator = seeded(1)
    with pytest.raises(error, match=f"Generator.set_state: `state` {words}"):
        generator.set_state(state)
    assert generator.initial_seed() == 1


def test_offsets():
    generator = seeded()
    want = numbers(generator, 4)
    generator.set_offset(2)
    assert (numbers(generator, 2) == want[2:]).all() and generator.get_offset() == 4


def test_clones_go_on_apart():
    generator = seeded()
    numbers(generator, 1)
    twin = generator.clone_state()
    assert (numbers(twin) == numbers(generator)).all()


def test_split_gives_workers_their_own():
    generator = seeded()
    three, after = generator.split(3), functx.rand(4, generator=generator)
    drawn = {tuple(numbers(worker).ravel().tolist()) for worker in three}
    assert len(drawn) == 3 and generator.get_offset() == 2
    five = seeded().split(5)
    assert (numbers(five[1]) == numbers(seeded().split(3)[1])).all(), "whatever their number"
    again = seeded()
    again.split(7)
    assert (functx.rand(4, generator=again) == after).all(), "one draw"
    sent = [pickle.loads(pickle.dumps(worker)) for worker in seeded().split(3)]
    assert {tuple(numbers(worker).ravel().tolist()) for worker in sent} == drawn
    with pytest.raises(ValueError, match="Generator.split: `n` must not be negative, got -1"):
        generator.split(-1)


def test_workers_in_lanes():
    workers = seeded().split(3)
    stacked = functx.stack_trees(workers)
    lanes = functx.vmap(lambda generator: functx.rand(4, generator=generator))(stacked)
    assert (lanes == np.stack([functx.rand(4, generator=worker) for worker in workers])).all()


def test_each_device_by_its_name():
    generator = seeded()
    first = numbers(generator.for_device("cpu:0"))
    assert generator.get_offset() == 0
    numbers(generator)
    assert (numbers(generator.for_device(jax.devices("cpu")[0])) == first).all()
    assert not (first == numbers(seeded())).any()
    assert not (first == numbers(seeded(1).for_device("cpu"))).any()
    with pytest.raises(RuntimeError, match="Generator.for_device: `device` 'cuda:1' is not there"):
        generator.for_device("cuda:1")


def test_functx_jit_advances_the_callers_generator():
    step = functx.jit(lambda x, generator: functx.rand(4, generator=generator) + x)
    want = numbers(seeded())
    generator = seeded()
    assert (np.stack([step(0.0, generator) for _ in range(3)]) == want).all()
    assert generator.get_offset() == 3 and isinstance(generator.get_offset(), int)
    named = functx.jit(lambda generators: functx.rand(4, generator=generators["b"]))
    both = {"a": seeded(1), "b": seeded(0)}
    assert (named(both) == want[0]).all() and (named(generators=both) == want[1]).all()
    assert both["a"].get_offset() == 0


def test_checkpoint_advances_the_callers_generator():
    noisy = lambda x, generator: functx.sum(x * functx.rand(4, generator=generator))
    want, generator = numbers(seeded()), seeded()
    kept = functx.checkpoint(noisy)
    slopes = [functx.grad(kept)(jnp.ones(4, "float32"), generator) for _ in range(2)]
    assert (np.stack(slopes) == want[:2]).all() and generator.get_offset() == 2


def test_a_generator_started_anew_inside_is_not_the_callers():
    start = lambda generator: functx.rand(4, generator=generator.manual_seed(1))
    with pytest.raises(
        RuntimeError, match="Generator: a generator in the arguments is started anew"
    ):
        functx.jit(start)(seeded())
    assert (jax.jit(start)(seeded()) == functx.rand(4, generator=seeded(1))).all()


def test_made_inside_a_program_it_is_the_programs():
    program = jax.jit(lambda: functx.rand(4, generator=functx.Generator().manual_seed(2)))
    assert (program() == program()).all()
    assert (program() == functx.rand(4, generator=seeded(2))).all()


def test_scan_carries_it():
    def body(generator, _):
        return generator, functx.rand(4, generator=generator)

    generator, drawn = jax.lax.scan(body, seeded(), None, length=3)
    assert (drawn == numbers(seeded())).all() and generator.get_offset() == 3
    with pytest.raises(RuntimeError, match="`generator` that came to life in a compiled"):
        kept = []
        jax.jit(lambda g: kept.append(g))(seeded())
        functx.rand(2, generator=kept[0])


def test_loops_and_branches_take_it():
    body = lambda i, carry: (carry[0], carry[1] + functx.rand(4, generator=carry[0]))
    _, total = jax.lax.fori_loop(0, 3, body, (seeded(), jnp.zeros(4, "float32")))
    np.testing.assert_allclose(total, numbers(seeded()).sum(0), rtol=1e-6)
    draw = lambda generator: (functx.rand(4, generator=generator), generator)
    x, generator = jax.lax.cond(True, draw, draw, seeded())
    assert (x == numbers(seeded())[0]).all() and generator.get_offset() == 1


OUTSIDE = seeded()
X = jnp.zeros(3, "float32")
noisy = lambda x: x + functx.rand((), generator=OUTSIDE)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda: jax.jit(noisy)(X[0]), "while `jit` records, would freeze it into the program"),
        (lambda: functx.jit(noisy)(X[0]), "functx.jit advances the caller's"),
        (lambda: jax.lax.map(noisy, X), "hint: carry the generator"),
        (lambda: jax.vmap(noisy)(X), "from outside of a map would repeat in every lane"),
        (lambda: functx.vmap(noisy, randomness="different")(X), "around functx.vmap"),
        (lambda: jax.checkpoint(noisy)(X[0]), "while `checkpoint` records"),
        (lambda: jax.jit(lambda: OUTSIDE.manual_seed(1))(), "Generator.manual_seed: a new seed"),
        (lambda: jax.jit(lambda: OUTSIDE.split(2))(), "Generator.split: a draw from the generator"),
        (lambda: jax.jit(OUTSIDE.draw)(), "Generator.draw: a draw from the generator"),
        (
            lambda: jax.jit(lambda: functx.jit(lambda g: functx.rand((), generator=g))(OUTSIDE))(),
            "would freeze",
        ),
    ],
)
def test_what_would_freeze_or_repeat_is_refused(run, words):
    state = OUTSIDE.get_state()
    with pytest.raises(RuntimeError) as error:
        run()
    assert words in str(error.value)
    assert (OUTSIDE.get_state() == state).all()


def test_a_scope_of_a_generator_from_outside_is_refused_inside_a_program():
    def program():
        with functx.random.scope(OUTSIDE):
            return functx.rand(2)

    with pytest.raises(RuntimeError, match="while `jit` records, would freeze"):
        jax.jit(program)()


def test_grad_draws_from_a_generator_outside():
    generator = seeded()
    slope = functx.grad(lambda x: functx.sum(x * functx.rand(4, generator=generator)))
    assert (slope(jnp.ones(4, "float32")) == numbers(seeded())[0]).all()
    assert generator.get_offset() == 1


DISTRIBUTIONS = {
    "bernoulli": lambda x: functx.bernoulli(x),
    "cauchy": lambda x: functx.cauchy(x),
    "dropout": lambda x: functx.nn.functional.dropout(x, 0.5),
    "exponential": lambda x: functx.exponential(x),
    "geometric": lambda x: functx.geometric(x, 0.3),
    "log_normal": lambda x: functx.log_normal(x),
    "normal": lambda x: functx.normal(x, x),
    "poisson": lambda x: functx.poisson(10 * x),
    "rand": lambda x: functx.rand(8),
    "randint": lambda x: functx.randint(100, (8,)),
    "randn": lambda x: functx.randn(8),
    "rrelu": lambda x: functx.nn.functional.rrelu(-x, training=True),
    "uniform": lambda x: functx.uniform(x),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_compiled_and_eager_calls_in_turn_go_on_with_one_stream(name):
    draw, x = DISTRIBUTIONS[name], jnp.full(8, 0.5, "float32")
    compiled = functx.jit(draw)
    functx.manual_seed(6)
    want = [draw(x) for _ in range(6)]
    functx.manual_seed(6)
    got = [f(x) for f in (compiled, compiled, draw, draw, compiled, compiled)]
    np.testing.assert_allclose(np.stack(got), np.stack(want), rtol=1e-6)
    assert len({tuple(np.asarray(one).tolist()) for one in got}) > 1


def test_positions_without_weight_are_never_drawn():
    weights = jnp.asarray([0, 0.1, 0, 0.7, 0.2, 0, 0], "float32")
    drawn = functx.multinomial(weights, 1000, replacement=True, generator=seeded())
    assert set(drawn.tolist()) == {1, 3, 4}
    rows = jnp.tile(jnp.asarray([0, 1], "float32"), (3421, 1))
    assert (functx.multinomial(rows, 1, generator=seeded()) == 1).all()
    small = functx.clamp(functx.randn(1000, generator=seeded()), min=0) * jnp.float32(3e-5)
    drawn = functx.multinomial(small, 1000000, replacement=True, generator=seeded())
    assert (small[drawn] > 0).all()


@pytest.mark.parametrize("weights", [[1, -1, 1], [1, np.inf, 1], [1, -np.inf, 1], [1, 1, np.nan]])
def test_what_is_no_distribution_is_refused(weights):
    generator = seeded()
    with pytest.raises(RuntimeError, match="multinomial: `input` must be finite and not negative"):
        functx.multinomial(jnp.asarray(weights, "float32"), 2, generator=generator)
    assert generator.get_offset() == 0

"""The ambient generator: seeds, scopes, `functx.jit`, lanes, threads."""

import asyncio
import copy
import pickle
import threading

import jax
import jax.numpy as jnp
import pytest

import functx
import functx.nn.functional as F


KEY = jax.random.key(3)


def draw():
    return functx.rand(4)


def seeded(f, *args):
    functx.manual_seed(7)
    return f(*args)


def test_seed_determines_the_draws():
    first, again = seeded(draw), seeded(draw)
    assert (first == again).all()
    assert not (draw() == first).any()


def test_key_wins_over_the_generator():
    functx.manual_seed(0)
    with_key = functx.rand(4, key=KEY)
    assert (functx.rand(4, key=KEY) == with_key).all()
    assert (draw() == seeded_zero()).all(), "a draw with a key leaves the generator alone"


def seeded_zero():
    functx.manual_seed(0)
    return draw()


def test_draw_n_is_fold_in_of_the_counter():
    with functx.random.scope(KEY) as generator:
        draw()
        second = draw()
    assert generator.counter == 2
    assert (second == functx.rand(4, key=jax.random.fold_in(KEY, 1))).all()


def test_scope_ends():
    want = seeded(lambda: (draw(), draw())[1])

    def inside():
        first = draw()
        with functx.random.scope(KEY):
            draw()
        return draw(), first

    assert (seeded(inside)[0] == want).all()


def test_functx_jit_draws_the_eager_numbers_and_advances_the_generator():
    def two(x):
        return x + draw(), draw()

    eager = seeded(lambda: (two(0.0), two(0.0)))
    compiled = functx.jit(two)
    jitted = seeded(lambda: (compiled(0.0), compiled(0.0)))
    assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), eager, jitted))


def test_functx_jit_takes_options():
    f = functx.jit(lambda n, x: functx.rand(n) + x, static_argnums=0)
    assert f(3, 0.0).shape == (3,)
    g = functx.jit(static_argnames="n")(lambda x, n: functx.rand(n) + x)
    assert g(0.0, n=2).shape == (2,)


def test_plain_jit_refuses_the_ambient_generator():
    with pytest.raises(RuntimeError, match="would freeze the numbers into the program") as error:
        jax.jit(draw)()
    assert "functx.jit" in str(error.value)


X = jnp.zeros(3, "float32")
noisy = lambda x: x + functx.rand(())


@pytest.mark.parametrize(
    ("stage", "recorder", "hint"),
    [
        (
            lambda: jax.lax.scan(lambda c, _: (c, draw()), 0, None, length=2),
            "scan",
            "scan (or map) over",
        ),
        (lambda: jax.lax.map(noisy, X), "scan", "scan (or map) over"),
        (lambda: jax.checkpoint(draw)(), "checkpoint", "take a key as an argument"),
        (lambda: jax.lax.cond(True, draw, draw), "cond", "take a key as an argument"),
        (lambda: functx.jit(lambda: jax.jit(draw)())(), "jit", "take a key as an argument"),
        (lambda: functx.jit(lambda: jax.lax.map(noisy, X))(), "scan", "scan (or map) over"),
        (lambda: jax.pmap(noisy)(X[:1]), "shard_map", "take a key as an argument"),
    ],
)
def test_staged_regions_refuse_generators_from_outside(stage, recorder, hint):
    with pytest.raises(RuntimeError, match=f"while `{recorder}` records would freeze") as error:
        stage()
    assert f"hint: {hint}" in str(error.value)


@pytest.mark.parametrize(
    "mapped",
    [
        lambda: jax.vmap(noisy)(X),
        lambda: jax.vmap(functx.grad(noisy))(X),
        lambda: jax.grad(lambda x: jax.vmap(noisy)(x).sum())(X),
        lambda: functx.jit(lambda: jax.vmap(noisy)(X))(),
        lambda: functx.vmap(lambda x: jax.vmap(noisy)(x), randomness="different")(X[:, None]),
    ],
)
def test_maps_of_jax_refuse_what_would_repeat_in_every_lane(mapped):
    with pytest.raises(RuntimeError, match="would repeat in every lane") as error:
        mapped()
    assert "use functx.vmap(randomness='different')" in str(error.value)


def test_hints_name_the_parameter_that_takes_the_key():
    q = jnp.ones((2, 2), "float32")
    with pytest.raises(RuntimeError, match="pass `rng_key=`") as error:
        jax.jit(lambda q: F.scaled_dot_product_attention(q, q, q, dropout_p=0.5))(q)
    assert "`key=`" not in str(error.value)


def test_no_hint_names_a_choice_that_a_transform_lacks():
    with pytest.raises(RuntimeError, match="a random draw inside hessian") as error:
        functx.hessian(lambda x: (x * functx.rand(3)).sum())(X)
    assert "randomness" not in str(error.value)


def test_scope_inside_a_staged_region():
    @jax.jit
    def f(key):
        with functx.random.scope(key):
            return draw()

    with functx.random.scope(KEY):
        want = draw()
    assert (f(KEY) == want).all()


def test_generator_passes_through_jit():
    @jax.jit
    def f(generator):
        with functx.random.scope(generator):
            out = draw()
        return out, generator

    generator = functx.random.Generator(KEY)
    first, generator = f(generator)
    second, generator = f(generator)
    assert generator.counter == 2 and not (first == second).any()


def test_grad_sees_ambient_draws():
    with functx.random.scope(KEY):
        gradient = functx.grad(lambda x: functx.sum(x * draw()))(jnp.ones(4, "float32"))
    with functx.random.scope(KEY):
        assert (gradient == draw()).all()


def test_lanes():
    mapped = lambda randomness, **options: seeded(
        functx.vmap(lambda x: x + draw(), randomness=randomness, **options), jnp.zeros(5, "float32")
    )
    same, different = mapped("same"), mapped("different")
    assert (same == same[0]).all()
    assert len({float(row[0]) for row in different}) == 5
    assert (mapped("different", chunk_size=2) == different).all()
    with pytest.raises(RuntimeError, match='a random draw inside vmap\\(randomness="error"\\)'):
        mapped("error")


def test_lanes_nest():
    inner = lambda x: functx.vmap(lambda y: y + draw(), randomness="different")(x)
    out = seeded(functx.vmap(inner, randomness="different"), jnp.zeros((2, 3), "float32"))
    assert len(set(out.ravel().tolist())) == out.size


def test_error_wins_in_nested_maps():
    inner = functx.vmap(lambda y: y + draw(), randomness="different")
    with pytest.raises(RuntimeError, match='randomness="error"'):
        functx.vmap(inner)(jnp.zeros((2, 3), "float32"))


def test_explicit_keys_are_not_governed_by_randomness():
    keys = jax.random.split(KEY, 3)
    out = functx.vmap(lambda key: functx.rand(2, key=key))(keys)
    assert (out[1] == functx.rand(2, key=keys[1])).all()


def test_raw_keys_are_taken_and_ints_are_not():
    raw = jax.random.key_data(KEY)
    assert (functx.rand(2, key=raw) == functx.rand(2, key=KEY)).all()
    with pytest.raises(TypeError, match="rand: `key` must be a PRNG key, got 0"):
        functx.rand(2, key=0)


def in_threads(work, count):
    results = [None] * count

    def run(i):
        results[i] = work(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_threads_share_the_default_generator():
    functx.manual_seed(5)
    (elsewhere,) = in_threads(lambda _: draw(), 1)
    functx.manual_seed(5)
    assert (elsewhere == draw()).all(), "and start from the seed"


@pytest.mark.parametrize("compiled", [False, True])
def test_no_draw_of_a_shared_generator_repeats(compiled):
    one = functx.jit(draw) if compiled else draw
    with functx.random.scope(KEY) as generator:
        one()

    def many(_):
        with functx.random.scope(generator):
            return [float(one()[0]) for _ in range(50)]

    numbers = [x for part in in_threads(many, 4) for x in part]
    assert len(set(numbers)) == 200 and generator.counter == 201


def test_scopes_belong_to_asyncio_tasks():
    def alone(seed):
        with functx.random.scope(jax.random.key(seed)):
            return [float(draw()[0]) for _ in range(3)]

    async def task(seed):
        out = []
        with functx.random.scope(jax.random.key(seed)):
            for _ in range(3):
                out.append(float(draw()[0]))
                await asyncio.sleep(0)
        return out

    async def both():
        return await asyncio.gather(task(1), task(2))

    assert asyncio.run(both()) == [alone(1), alone(2)]


@pytest.mark.parametrize("seed", [2**40 + 1, -1, 2**63, 2**64 - 1])
def test_seeds_have_64_bits_whatever_the_width_of_integers(seed):
    def first(seed):
        functx.manual_seed(seed)
        return draw()

    with functx.x64():
        want = first(seed)
    assert (first(seed) == want).all() and not (first(seed % 2**32) == want).any()


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_wider_seeds_are_refused(seed):
    with pytest.raises(
        ValueError, match=f"manual_seed: `seed` must have 64 bits at most, got {seed}"
    ):
        functx.manual_seed(seed)


@pytest.mark.parametrize("seed", [0.5, True, "1", None])
def test_seeds_are_ints(seed):
    with pytest.raises(TypeError, match="manual_seed: `seed` must be an int, got "):
        functx.manual_seed(seed)


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_of_a_generator_go_on_by_themselves(twin):
    generator = functx.random.Generator(KEY, 4)
    other = twin(generator)
    drawn = generator.draw().derive()
    assert (other.counter, generator.counter) == (4, 5)
    assert (jax.random.bits(other.draw().derive()) == jax.random.bits(drawn)).all()


def test_a_refused_draw_leaves_the_generator():
    with functx.random.scope(KEY) as generator:
        with pytest.raises(RuntimeError, match="rand: "):
            functx.rand(-1)
    assert generator.counter == 0


def test_operator_draws_only_where_the_call_needs_it():
    q = jnp.ones((2, 2), "float32")
    attend = F.scaled_dot_product_attention
    assert jax.jit(attend)(q, q, q).shape == (2, 2)
    with pytest.raises(RuntimeError, match="would freeze the numbers"):
        jax.jit(lambda q: attend(q, q, q, dropout_p=0.5))(q)


def test_same_numbers_with_64_bit_off():
    want = functx.rand(4, key=KEY)
    with functx.x64(False):
        assert (functx.rand(4, key=KEY) == want).all()

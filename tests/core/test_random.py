"""The ambient generator: seeds, scopes, `functx.jit`, lanes, threads."""

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


@pytest.mark.parametrize(
    "stage",
    [
        lambda: jax.lax.scan(lambda c, _: (c, draw()), 0, None, length=2),
        lambda: jax.checkpoint(draw)(),
        lambda: jax.lax.cond(True, draw, draw),
        lambda: functx.jit(lambda: jax.jit(draw)())(),
    ],
)
def test_staged_regions_refuse_generators_from_outside(stage):
    with pytest.raises(RuntimeError, match="would freeze"):
        stage()


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


def test_threads_have_generators_of_their_own():
    functx.manual_seed(0)
    want, seen = seeded_zero(), []
    functx.manual_seed(0)

    def other():
        functx.manual_seed(5)
        seen.append(draw())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert len(seen) == 1 and (draw() == want).all()


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

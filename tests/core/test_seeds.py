"""PyTorch's functions of the default generator, and regions that leave it as it was."""

import asyncio
import os
import subprocess
import sys
import textwrap
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


def draw():
    return functx.rand(4)


def of_seed(seed, n=0):
    generator = functx.Generator().manual_seed(seed)
    generator.advance(n)
    return functx.rand(4, generator=generator)


def test_the_seed_is_told_and_draws_do_not_change_it():
    functx.manual_seed(2)
    draw()
    assert functx.initial_seed() == 2 and (draw() == of_seed(2, 1)).all()
    assert functx.manual_seed(-1) is None and functx.initial_seed() == 2**64 - 1


def test_a_seed_of_the_system():
    first, second = functx.seed(), functx.seed()
    assert first != second and functx.initial_seed() == second
    assert (draw() == of_seed(second)).all()


def test_states_are_put_back():
    functx.manual_seed(2)
    draw()
    state = functx.get_rng_state()
    want = draw()
    functx.manual_seed(9)
    functx.set_rng_state(np.asarray(state))
    assert (draw() == want).all() and functx.initial_seed() == 2
    with pytest.raises(TypeError, match="Generator.set_state: `state` must be what get_state gave"):
        functx.set_rng_state(jnp.zeros(5016, "uint8"))


def test_a_scope_is_what_they_mean_inside():
    functx.manual_seed(1)
    with functx.random.scope(jax.random.key(5)) as generator:
        assert functx.initial_seed() == 5
        functx.manual_seed(6)
        assert (draw() == of_seed(6)).all() and generator.get_offset() == 1
        functx.set_rng_state(functx.Generator().manual_seed(7).get_state())
        assert (draw() == of_seed(7)).all()
    assert functx.initial_seed() == 1 and (draw() == of_seed(1)).all()


@pytest.mark.parametrize("inside", [lambda: None, lambda: functx.manual_seed(8), functx.seed])
def test_fork_leaves_the_generator_as_it_was(inside):
    functx.manual_seed(1)
    draw()
    with functx.random.fork_rng():
        inside()
        draw()
    assert functx.initial_seed() == 1 and (draw() == of_seed(1, 1)).all()


def test_fork_goes_on_from_the_state_of_before():
    functx.manual_seed(1)
    with functx.random.fork_rng(devices=[]):
        assert (draw() == of_seed(1)).all()
        with functx.random.fork_rng():
            functx.manual_seed(2)
            assert (draw() == of_seed(2)).all()
        assert (draw() == of_seed(1, 1)).all()


def test_fork_ends_after_an_error_and_may_be_none():
    functx.manual_seed(1)
    with pytest.raises(ZeroDivisionError):
        with functx.random.fork_rng():
            functx.manual_seed(2)
            raise ZeroDivisionError
    assert functx.initial_seed() == 1
    with functx.random.fork_rng(enabled=False):
        functx.manual_seed(2)
    assert functx.initial_seed() == 2


def test_fork_in_a_scope():
    with functx.random.scope(jax.random.key(5)) as generator:
        with functx.random.fork_rng():
            functx.manual_seed(6)
            draw()
        assert generator.get_offset() == 0 and functx.initial_seed() == 5


def test_threads_do_not_notice_a_fork():
    functx.manual_seed(1)
    seen = []
    with functx.random.fork_rng():
        functx.manual_seed(2)
        thread = threading.Thread(target=lambda: seen.append(draw()))
        thread.start()
        thread.join()
    assert (seen[0] == of_seed(1)).all()


def test_tasks_do_not_notice_a_fork():
    async def forked(seed):
        with functx.random.fork_rng():
            functx.manual_seed(seed)
            out = []
            for _ in range(3):
                await asyncio.sleep(0)
                out.append(draw())
            return np.stack(out)

    async def both():
        return await asyncio.gather(forked(2), forked(3))

    for seed, drawn in zip((2, 3), asyncio.run(both()), strict=True):
        assert (drawn == np.stack([of_seed(seed, n) for n in range(3)])).all()


def test_a_fork_with_a_seed_in_a_compiled_function():
    def program(x):
        with functx.random.fork_rng():
            functx.manual_seed(4)
            return x + draw()

    want = of_seed(4)
    for compiled in (program, jax.jit(program), functx.jit(program), jax.vmap(program)):
        functx.manual_seed(1)
        out = compiled(jnp.zeros(4, "float32"))
        assert (out == want).all() and functx.initial_seed() == 1

    def without_seed(x):
        with functx.random.fork_rng():
            return x + draw()

    with pytest.raises(RuntimeError, match="while `jit` records would freeze"):
        jax.jit(without_seed)(jnp.zeros(4, "float32"))


@pytest.mark.parametrize("compile", [jax.jit, functx.jit, jax.vmap, functx.vmap])
@pytest.mark.parametrize(
    "change",
    [
        lambda: functx.manual_seed(4),
        functx.seed,
        lambda: functx.set_rng_state(np.asarray(functx.Generator().get_state())),
    ],
)
def test_the_callers_generator_is_not_started_anew_while_a_program_is_recorded(compile, change):
    functx.manual_seed(1)

    def program(x):
        change()
        return x

    with pytest.raises(RuntimeError, match="the caller's generator cannot be changed"):
        compile(program)(jnp.zeros(2))
    assert functx.initial_seed() == 1


def test_states_are_not_read_where_they_would_freeze():
    with pytest.raises(RuntimeError, match="get_rng_state: a draw from the ambient generator"):
        jax.jit(functx.get_rng_state)()
    assert functx.jit(functx.get_rng_state)().shape == (5,)


def test_sharded_numbers_are_those_of_one_device():
    program = """
        import jax, jax.numpy as jnp, numpy as np, functx
        from jax.sharding import PartitionSpec as P

        mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        sharded = jax.sharding.NamedSharding(mesh, P("x"))
        make = lambda: functx.randn(16, 3)
        functx.manual_seed(5)
        want = [np.asarray(make()) for _ in range(2)]
        functx.manual_seed(5)
        compiled = functx.jit(make, out_shardings=sharded)
        for one in want:
            out = compiled()
            assert len(out.sharding.device_set) == 8
            np.testing.assert_allclose(out, one, rtol=1e-5)
        functx.manual_seed(5)
        placed = functx.randn(16, 3, device=sharded)
        np.testing.assert_allclose(placed, want[0], rtol=1e-5)

        devices = jax.devices()
        generator = functx.Generator().manual_seed(5)
        alike = [functx.rand(3, generator=functx.Generator(device=d)) for d in devices[:2]]
        assert [x.device for x in alike] == devices[:2]
        np.testing.assert_array_equal(*alike)
        own = [functx.rand(3, generator=generator.for_device(d)) for d in devices]
        assert [x.device for x in own] == devices
        assert len({tuple(np.asarray(x).tolist()) for x in own}) == 8
        again = functx.rand(3, generator=generator.for_device("cpu:6"))
        np.testing.assert_array_equal(again, own[6])

        def local(key, x):
            key = jax.random.fold_in(key, jax.lax.axis_index("x"))
            with functx.random.scope(key):
                return x + functx.rand(x.shape)

        mapped = jax.shard_map(local, mesh=mesh, in_specs=(P(), P("x")), out_specs=P("x"))
        rows = np.asarray(jax.jit(mapped)(jax.random.key(0), jnp.zeros((8, 2), "float32")))
        assert len({tuple(row) for row in rows.tolist()}) == 8
        print("done")
    """
    flags = "--xla_force_host_platform_device_count=8"
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
    )
    assert run.stdout == "done\n", run.stderr

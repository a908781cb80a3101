"""Regions belong to the task that enters them: tasks of one thread do not see each other's."""

import asyncio
import contextvars
import itertools as it
import re
import threading

import jax
import jax.extend
import jax.numpy as jnp
import pytest

import functx
from functx._core.context.user_contexts import grad_modes, UserContext
from functx._core.rules.custom_derivatives import derivative_rules


ONE = jnp.float32(1)
# As all contexts, they live as long as the process: JAX's keys know of them from now on.
NUMBER, DTYPE, WORD = (UserContext(__name__, default) for default in (0, None, "first"))


def slope(f):
    return float(jax.grad(f)(ONE))


async def both(first, second):
    return await asyncio.gather(first, second)


async def in_region(region, look, steps=3):
    """What `look` sees in a region, each time after the other task had its turn."""
    seen = []
    with region():
        for _ in range(steps):
            await asyncio.sleep(0)
            seen.append(look())
    await asyncio.sleep(0)
    return [*seen, look()]


def test_grad_modes_do_not_swap():
    tasks = (
        in_region(functx.no_grad, functx.is_grad_enabled),
        in_region(functx.enable_grad, functx.is_grad_enabled),
    )
    off, on = asyncio.run(both(*tasks))
    assert off == [False, False, False, True] and on == [True] * 4
    assert functx.is_grad_enabled()


@pytest.mark.parametrize("compiled", [lambda f: f, jax.jit, functx.jit])
def test_programs_are_those_of_the_task(compiled):
    program = compiled(functx.sin)
    look = lambda: slope(program) != 0
    tasks = in_region(functx.no_grad, look), in_region(functx.enable_grad, look)
    off, on = asyncio.run(both(*tasks))
    assert off == [False, False, False, True] and on == [True] * 4


def test_the_default_dtype_is_that_of_the_task():
    look = lambda: str(functx.zeros(2).dtype)
    region = lambda dtype: lambda: functx.default_dtype(dtype)
    tasks = (in_region(region(dtype), look) for dtype in ("float64", "bfloat16"))
    wide, narrow = asyncio.run(both(*tasks))
    assert wide == ["float64"] * 3 + ["float32"] and narrow == ["bfloat16"] * 3 + ["float32"]


def product(f=functx.mm):
    x = jax.ShapeDtypeStruct((2, 2), "float32")
    text = jax.jit(lambda x: f(x, x)).trace(x).lower(lowering_platforms=("cuda",)).as_text()
    return re.findall("HIGHEST|HIGH|DEFAULT", text)[0]


def unequal(precisions, look):
    """What tasks in regions of these precisions see in turn."""
    region = lambda precision: lambda: functx.float32_matmul_precision(precision)
    return asyncio.run(both(*[in_region(region(p), look) for p in precisions]))


@pytest.fixture
def unset():
    before = jax.config.jax_default_matmul_precision
    jax.config.update("jax_default_matmul_precision", None)
    yield
    assert jax.config.jax_default_matmul_precision is None
    jax.config.update("jax_default_matmul_precision", before)


PRECISIONS = {"high": "HIGH", "medium": "DEFAULT", "highest": "HIGHEST"}


@pytest.mark.parametrize("pair", [*it.permutations(PRECISIONS, 2)])
def test_precisions_of_products_do_not_swap(unset, pair):
    names = unequal(pair, functx.get_float32_matmul_precision)
    assert names == [[precision] * 3 + ["highest"] for precision in pair]
    assert unequal(pair, product) == [[PRECISIONS[p]] * 3 + ["HIGHEST"] for p in pair]
    slopes = jax.grad(lambda x, y: functx.mm(x, y).sum())
    seen = unequal(pair, lambda: product(slopes))
    assert seen == [[PRECISIONS[p]] * 3 + ["HIGHEST"] for p in pair]
    assert functx.get_float32_matmul_precision() == "highest"


def test_rules_of_calls_in_other_precisions_keep_theirs(unset):
    x = jnp.ones((2, 2), "float32")
    rule = lambda primals, output, tangents: functx.mm(tangents[0], primals[1])
    ruled = derivative_rules(lambda x, y: x, jvp=rule)
    with functx.float32_matmul_precision("medium"):
        program = jax.extend.core.jaxpr_as_fun(jax.make_jaxpr(ruled)(x, x))
    slopes = jax.grad(lambda x, y: program(x, y)[0].sum())
    seen = unequal(("high", "medium"), lambda: product(slopes))
    assert seen == [["DEFAULT"] * 4] * 2


def test_a_precision_left_in_another_thread_leaves_that_one_alone(unset):
    region = functx.float32_matmul_precision("high")
    thread = threading.Thread(target=region.__enter__)
    thread.start()
    thread.join()
    with functx.float32_matmul_precision("medium"):
        with jax.default_matmul_precision("highest"):
            region.__exit__(None, None, None)
            assert product(jnp.matmul) == product() == "HIGHEST"
        assert product() == "DEFAULT"


def test_programs_have_the_precision_of_their_task(unset):
    traced = []

    @jax.jit
    def program(x):
        traced.append(functx.get_float32_matmul_precision())
        return functx.mm(x, x)

    x = jnp.ones((2, 2))
    run = lambda: (program(x), len(traced))[1]
    unequal(("high", "medium"), run)
    before = len(traced)
    assert set(traced) == {"high", "medium", "highest"}
    unequal(("high", "medium"), run)
    assert len(traced) == before, "nothing is compiled twice"


def test_plain_jax_follows_the_region_entered_last(unset):
    with functx.float32_matmul_precision("high"):
        assert product(jnp.matmul) == "HIGH"
        with functx.float32_matmul_precision("highest"):
            assert product(jnp.matmul) == "HIGHEST"
        assert product(jnp.matmul) == "HIGH"
        with jax.default_matmul_precision("bfloat16"):
            assert product(jnp.matmul) == product() == "DEFAULT"
            with functx.float32_matmul_precision("high"):
                assert product() == "HIGH"
            assert product() == "DEFAULT"
        assert product() == "HIGH"
    assert product(jnp.matmul) == "DEFAULT" and product() == "HIGHEST"
    unequal(("high", "medium"), lambda: None)
    assert product(jnp.matmul) == "DEFAULT", "nothing is left behind"


def test_a_setter_without_a_region_is_of_the_task():
    async def sets():
        functx.set_grad_enabled(False)
        await asyncio.sleep(0)
        return functx.is_grad_enabled()

    async def looks():
        await asyncio.sleep(0)
        return functx.is_grad_enabled()

    assert asyncio.run(both(sets(), looks())) == [False, True]


def test_a_task_stays_in_the_region_that_it_was_started_in():
    async def child():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return functx.is_grad_enabled(), slope(jax.jit(lambda x: functx.sin(x)))

    async def parent():
        with functx.no_grad():
            task = asyncio.ensure_future(child())
        return functx.is_grad_enabled(), await task

    seen = []  # in a thread that has been in no region before
    thread = threading.Thread(target=lambda: seen.append(asyncio.run(parent())))
    thread.start()
    thread.join()
    assert seen == [(True, (False, 0.0))]


def test_threads_begin_in_no_region():
    async def main():
        with functx.no_grad():
            return await asyncio.to_thread(functx.is_grad_enabled)

    assert asyncio.run(main())


def test_a_region_left_in_another_context_leaves_that_one_alone():
    region = functx.no_grad()
    contextvars.copy_context().run(region.__enter__)
    with functx.no_grad():
        region.__exit__(None, None, None)
        assert not functx.is_grad_enabled()
    assert functx.is_grad_enabled()


def test_no_program_is_compiled_twice():
    traced = []

    @jax.jit
    def program(x):
        traced.append(grad_modes.value)
        return functx.sin(x)

    async def task(region):
        for _ in range(5):
            with region():
                await asyncio.sleep(0)
                program(ONE)

    program(ONE)
    with functx.no_grad():
        program(ONE)
    asyncio.run(both(task(functx.no_grad), task(functx.enable_grad)))
    program(ONE)
    assert len(traced) == 2, traced


def test_keys_of_other_threads_are_not_settled_by_looking_at_them():
    with NUMBER(1):
        key = NUMBER._in_keys.value
        seen = []
        thread = threading.Thread(target=lambda: seen.append((key == 0, key == 1)))
        thread.start()
        thread.join()
        assert seen == [(False, False)]
        assert key == 1
    assert key == 1, "what a cache keeps does not change"


def test_a_key_is_equal_to_the_value_alone_of_the_same_type():
    with DTYPE(jnp.dtype("float64")):
        assert DTYPE._in_keys.value != None  # noqa: E711
        assert DTYPE._in_keys.value == jnp.dtype("float64")
        assert hash(DTYPE._in_keys.value) == hash(jnp.dtype("float64"))


def test_the_value_for_the_process_is_seen_by_tasks_in_no_region():
    async def main():
        with WORD("region"):
            WORD.set_global("second")
            inside = WORD.value
        return inside, WORD.value

    assert asyncio.run(main()) == ("region", "second")
    assert WORD.value == "second"

"""Programs as text: alike where they do the same, and where a difference counts, different."""

import jax
import jax.numpy as jnp

from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import call, OpInfo, run_cells
from functx.testing.checks.program_text import text_of
from functx.testing.checks.running import Running


def text(f, *xs):
    return text_of(jax.make_jaxpr(f)(*(xs or (jnp.ones(2),))))


def test_the_order_of_arguments_makes_no_other_program():
    f, x = jax.jit(lambda b, a: b - a), jnp.ones(2)
    written = [lambda x, y: f(x, y), lambda x, y: f(a=y, b=x), lambda x, y: f(b=x, a=y)]
    texts = [text(g, x, x) for g in written]
    assert texts[0] == texts[1] == texts[2] != text(lambda x, y: f(y, x), x, x)


def test_constants_and_types_are_parts_of_a_program():
    plus = lambda c: text(lambda x: x + jnp.asarray(c))
    assert plus([1.0, 2.0]) == plus([1.0, 2.0]) != plus([1.0, 3.0])
    assert plus(1.0) != plus(2.0)
    assert text(jnp.sin, jnp.ones(2)) != text(jnp.sin, jnp.ones(3))
    unused = lambda x, y: x
    assert text(unused, 1.0, jnp.ones(2)) != text(unused, 1.0, jnp.ones(3))
    keys = [jax.random.key(n) for n in (1, 1, 2)]
    drawn = [text(lambda x, key=key: x + jax.random.normal(key)) for key in keys]
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_a_function_with_rules_computes_is_a_part_and_that_it_has_rules():
    def ruled(factor):
        rule = lambda primals, output, tangents: factor * tangents[0]
        return derivative_rules(lambda x: factor * x, jvp=rule, name="scaled")

    assert text(ruled(2.0)) == text(ruled(2.0)) != text(ruled(3.0))
    assert text(ruled(2.0)) != text(lambda x: 2.0 * x)


def test_bodies_of_loops_and_branches_are_parts():
    loop = lambda c: text(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: x * c, x))
    branch = lambda c: text(lambda x: jax.lax.cond(x[0] > 0, lambda x: x + c, jnp.sin, x))
    assert loop(2.0) == loop(2.0) != loop(3.0)
    assert branch(2.0) == branch(2.0) != branch(3.0)


def samples(make):
    yield call(make(3))


def asked(f):
    info = OpInfo(f, samples)
    [sample] = info.draw("float32", lanes=1)
    return Running("x64_off", info, sample).asked


def test_a_program_that_is_the_same_with_64_bit_off_is_not_computed():
    assert not asked(jnp.sin)
    assert asked(lambda x: x[jnp.argsort(x)])
    off = lambda x: x if jax.config.jax_enable_x64 else 2 * x
    outcome = run_cells(OpInfo(off, samples), "float32", "x64_off")["x64_off"]
    assert outcome.error is not None

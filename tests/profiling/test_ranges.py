"""Ranges and marks: `torch.profiler.record_function` and `torch.cuda.nvtx` in JAX's words."""

import threading

import jax
import jax.numpy as jnp
import pytest

import functx
from functx import profiler


X = jnp.linspace(-1, 1, 6, dtype="float32")


def ranges_of(do):
    with profiler.profile() as p:
        do()
        jax.block_until_ready(functx.sin(X))
    return {row.name: row.calls for row in p.by_range()}


def test_every_way_to_name_a_range_is_seen():
    @profiler.record_function("decorated")
    def decorated(x):
        """Doubles."""
        return 2 * x

    def do():
        profiler.mark("moment")
        assert profiler.range_push("outer") == 0
        assert profiler.range_push("inner") == 1
        assert profiler.range_pop() == 1
        first, second = profiler.range_start("first"), profiler.range_start("second")
        profiler.range_end(first)  # they overlap
        profiler.range_end(second)
        assert profiler.range_pop() == 0
        assert decorated(2) == 4 and decorated(3) == 6

    names = ["moment", "outer", "inner", "first", "second"]
    assert ranges_of(do) == dict.fromkeys(names, 1) | {"decorated": 2}
    assert decorated.__name__ == "decorated" and decorated.__doc__ == "Doubles."


def test_a_range_ends_when_an_exception_passes():
    def do():
        region = profiler.record_function("fails")
        for _ in range(2):
            with pytest.raises(ZeroDivisionError), region:
                1 / 0  # noqa: B018

    assert ranges_of(do) == {"fails": 2}


def scopes_of(function):
    text = jax.jit(function).lower(X).as_text(debug_info=True)
    return lambda name: name in text


def test_the_name_reaches_the_program_and_ends_with_the_region():
    def function(x):
        with profiler.record_function("a/b (c)"):
            y = functx.sin(x)
        profiler.range_push("pushed")
        y = functx.cos(y)
        profiler.range_pop()
        return functx.tanh(y)

    has = scopes_of(function)
    assert has("a_b _c_") and has("pushed")
    assert not has("a_b _c_/jit(cos)") and not has("pushed/jit(tanh)")


def test_a_region_may_be_entered_inside_itself():
    def do():
        region = profiler.record_function("again")
        with region, region:
            pass

    def function(x):
        region = profiler.record_function("again")
        with region, region:
            x = functx.sin(x)
        return functx.cos(x)

    assert ranges_of(do) == {"again": 2}
    has = scopes_of(function)
    assert has("again/again/jit(sin)") and not has("again/jit(cos)")


def test_names_change_no_result_and_compile_no_operator_again(caplog):
    functx.sin(X)
    with jax.log_compiles(), profiler.record_function("region"):
        named = functx.sin(X)
    assert not [r for r in caplog.records if "Compiling" in r.getMessage()]
    assert (named == functx.sin(X)).all()
    decorated = profiler.record_function("f")(functx.sin)
    assert functx.vmap(functx.grad(decorated))(X).shape == X.shape


def test_pushed_ranges_are_of_their_thread():
    profiler.range_push("here")
    caught = []

    def other():
        try:
            profiler.range_pop()
        except RuntimeError as error:
            caught.append(str(error))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert "no range is open in this thread" in caught[0]
    assert profiler.range_pop() == 0


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: profiler.record_function(""), TypeError, "`name` must be a string that is not"),
        (lambda: profiler.record_function(3), TypeError, "record_function: `name` must be a str"),
        (lambda: profiler.mark(None), TypeError, "mark: `message` must be a string"),
        (lambda: profiler.range_push(""), TypeError, "range_push: `message`"),
        (lambda: profiler.range_start(1.5), TypeError, "range_start: `message`"),
        (lambda: profiler.range_pop(), RuntimeError, "no range is open in this thread"),
        (lambda: profiler.range_end("x"), TypeError, "must be what profiler.range_start returned"),
        (lambda: profiler.record_function("f")(3), TypeError, "decorates functions, got"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_range_ends_once():
    region = profiler.range_start("once")
    profiler.range_end(region)
    with pytest.raises(RuntimeError, match="the range 'once' has ended before"):
        profiler.range_end(region)

"""Modes of generators and coroutines apply while their bodies run, and never to their callers."""

from __future__ import annotations

import asyncio
import inspect
import warnings

import jax.numpy as jnp
import pytest

import functx


REGIONS = [(functx.no_grad, functx.enable_grad, False), (functx.enable_grad, functx.no_grad, True)]


def on(expected):
    assert functx.is_grad_enabled() is expected


@pytest.fixture(params=REGIONS, ids=["no_grad", "enable_grad"], autouse=True)
def modes(request):
    """The decorator, the mode that it makes; the caller is in the other mode."""
    decorator, around, mode = request.param
    with around():
        yield decorator, mode
        on(not mode)


@pytest.mark.parametrize("parentheses", [True, False])
def test_a_generator_runs_in_the_mode_and_its_caller_does_not(modes, parentheses):
    decorator, mode = modes

    @(decorator() if parentheses else decorator)
    def numbers():
        on(mode)
        for i in range(3):
            on(mode)
            yield i
            on(mode)

    assert inspect.isgeneratorfunction(numbers)
    seen = []
    for i in numbers():
        on(not mode)
        seen.append(i)
    assert seen == [0, 1, 2]


def test_a_generator_is_sent_values_and_returns(modes):
    decorator, mode = modes

    @decorator()
    def echo():
        on(mode)
        got = yield "ready"
        while got is not None:
            on(mode)
            got = yield got
            on(mode)
        return "done"

    body = echo()
    assert body.send(None) == "ready"
    for i in range(3):
        on(not mode)
        assert body.send(i) == i
    with pytest.raises(StopIteration) as stop:
        next(body)
    assert stop.value.value == "done"


def test_a_generator_recovers_from_what_is_thrown_in(modes):
    decorator, mode = modes

    @decorator()
    def stubborn():
        thrown = 0
        while thrown < 3:
            try:
                on(mode)
                yield thrown
            except KeyError:
                on(mode)
                thrown += 1

    body = stubborn()
    assert next(body) == 0
    for i in (1, 2):
        assert body.throw(KeyError()) == i
        on(not mode)
    with pytest.raises(StopIteration):
        body.throw(KeyError())


def test_another_exception_of_a_generator_reaches_the_caller(modes):
    decorator, mode = modes

    @decorator()
    def failing():
        try:
            yield 0
        except KeyError:
            on(mode)
            raise ValueError("secondary") from None

    body = failing()
    next(body)
    with pytest.raises(ValueError, match="secondary"):
        body.throw(KeyError())
    on(not mode)
    with pytest.raises(StopIteration):
        next(body)


def test_a_generator_is_closed_in_the_mode(modes):
    decorator, mode = modes
    closed = []

    @decorator()
    def endless():
        try:
            while True:
                yield
        except GeneratorExit:
            on(mode)
            closed.append(True)
            raise

    body = endless()
    next(body)
    next(body)
    body.close()
    assert closed == [True]


def test_a_generator_whose_closing_fails_says_so(modes):
    decorator, mode = modes

    @decorator()
    def failing():
        try:
            yield
        finally:
            on(mode)
            raise ValueError("while closing")

    body = failing()
    next(body)
    with pytest.raises(ValueError, match="while closing"):
        body.close()


def test_a_generator_delegates(modes):
    decorator, mode = modes

    def inner():
        on(mode)
        got = yield 1
        return got

    @decorator()
    def outer():
        return (yield from inner())

    body = outer()
    assert next(body) == 1
    with pytest.raises(StopIteration) as stop:
        body.send("sent")
    assert stop.value.value == "sent"


def test_a_coroutine_runs_in_the_mode_and_others_do_not(modes):
    decorator, mode = modes

    @decorator
    async def worker(n):
        for _ in range(n):
            on(mode)
            await asyncio.sleep(0)
            on(mode)
        try:
            await failing()
        except KeyError:
            on(mode)
        return n

    async def failing():
        await asyncio.sleep(0)
        raise KeyError

    async def other():
        for _ in range(5):
            on(not mode)
            await asyncio.sleep(0)

    async def together():
        return await asyncio.gather(worker(3), other(), worker(2))

    assert inspect.iscoroutinefunction(worker)
    assert asyncio.run(together()) == [3, None, 2]


def test_a_cancelled_coroutine_sees_it_in_the_mode(modes):
    decorator, mode = modes
    cancelled = []

    @decorator()
    async def worker():
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            on(mode)
            cancelled.append(True)
            raise

    async def cancelling():
        task = asyncio.ensure_future(worker())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        on(not mode)

    asyncio.run(cancelling())
    assert cancelled == [True]


def test_an_asynchronous_generator_is_refused(modes):
    decorator, _ = modes

    async def numbers():
        yield 1

    with pytest.raises(TypeError, match="must not be an asynchronous generator"):
        decorator(numbers)


def test_recursion_restores_the_callers_mode(modes):
    decorator, mode = modes
    opposite = functx.no_grad if mode else functx.enable_grad

    @decorator()
    def here(depth):
        on(mode)
        if depth:
            there(depth - 1)
            on(mode)

    @opposite()
    def there(depth):
        on(not mode)
        if depth:
            here(depth - 1)
            on(not mode)
        with decorator():
            on(mode)

    here(10)


def test_classes_are_refused(modes):
    decorator, _ = modes
    with pytest.raises(TypeError, match="(?s)Decorating classes is deprecated.*methods"):

        @decorator()
        class Model:
            pass


def test_methods_are_decorated_without_a_warning(modes):
    decorator, mode = modes
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class Model:
            @decorator()
            def __init__(self):
                on(mode)

            @decorator
            def method(self, x):
                """Its docstring."""
                on(mode)
                return x

        assert Model().method(3) == 3
    assert Model.method.__doc__ == "Its docstring."


@pytest.mark.parametrize("func", [3, "text", True])
def test_what_cannot_be_called_cannot_be_decorated(modes, func):
    decorator, _ = modes
    with pytest.raises(TypeError, match="grad: `func` must be callable, got"):
        decorator(func)


def test_what_a_generator_yields_and_a_coroutine_returns_has_the_modes_derivative(modes):
    decorator, mode = modes

    @decorator
    def powers(x):
        yield x * x
        return x * x * x

    @decorator
    async def square(x):
        return x * x

    def by_generator(x):
        body = powers(x)
        y = next(body)
        try:
            next(body)
        except StopIteration as stop:
            return y + stop.value
        return None

    assert functx.grad(by_generator)(jnp.float32(1)) == (5 if mode else 0)
    assert functx.grad(lambda x: asyncio.run(square(x)))(jnp.float32(1)) == (2 if mode else 0)

"""The ambient generator: where random operators draw their keys when none is given.

Scopes belong to contexts (`contextvars`), so that tasks of one thread keep theirs apart; outside of
any there is one generator for the process, as in PyTorch.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools as ft
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from functx._core.errors import fail, refuse, Refused
from functx._core.jax_compat import recorded_for, single_lane_trace

from .generators import advance_all, Draw, Generator, generators_among
from .keys import key_for, key_of_seed


Randomness = Literal["error", "different", "same"]


class _Refusing:
    """Stands in for a generator where drawing is refused."""

    def __init__(self, refusal: Callable[[str], Refused]):
        self.refusal = refusal


class _Default:
    """The generator of the process, made on first use: `import` touches no backend."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.seed = 0
        self.generator: Generator | None = None

    def start(self, seed: int) -> None:
        with self.lock:
            self.seed, self.generator = seed, None

    def get(self) -> Generator:
        generator = self.generator
        if generator is not None:
            return generator
        with self.lock:
            if self.generator is None:
                generator = Generator(key_of_seed(self.seed))
                generator.home = None  # wherever it is first asked for
                self.generator = generator
            return self.generator


class Scope(NamedTuple):
    """A region's ambient generator."""

    generator: Generator | _Refusing
    home: Any  # the trace in which it was entered
    settable: bool = False  # whether `manual_seed` and its kin may change the generator


default = _Default()
_scope: contextvars.ContextVar[Scope | None] = contextvars.ContextVar("functx", default=None)


def current_scope() -> Scope | None:
    """The innermost region of this task, None where draws are from the generator of the process."""
    return _scope.get()


def replace_scope(scope: Scope) -> None:
    """Puts another generator in the place of that of the innermost region."""
    _scope.set(scope)


def _current() -> Scope:
    return _scope.get() or Scope(default.get(), None)


@contextlib.contextmanager
def scope(key_or_generator: Any) -> Iterator[Generator]:
    """A region in which a key or a generator is the ambient source of random numbers.

    - `key_or_generator`: a PRNG key of JAX, or a `functx.random.Generator`, whose counter advances.

    A jitted function takes its randomness as an argument in this way. The region is that of the
    thread or the asyncio task that enters it.

    Errors: TypeError for anything else.

    >>> @jax.jit
    ... def noisy(key, x):
    ...     with functx.random.scope(key):
    ...         return x + functx.randn(3)
    >>> noisy(jax.random.key(0), jnp.zeros(3, "float32")).shape
    (3,)
    """
    generator = key_or_generator
    if not isinstance(generator, Generator):
        generator = Generator(key_for("random.scope", generator))
    with _entered(generator, settable=True):
        yield generator


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, device_type: str = "cuda"
) -> Iterator[None]:
    """A region after which the ambient generator is as it was before.

    - `devices`, `device_type`: without effect. One generator serves all devices.
    - `enabled`: False makes it no region.

    Inside, draws go on from the state of before, until `functx.manual_seed` starts them anew. Other
    threads and tasks do not notice the region. In a function that is being compiled, where the
    default generator is refused, it gives what `manual_seed` says inside.

    >>> functx.manual_seed(0)
    >>> with functx.random.fork_rng():
    ...     functx.manual_seed(1)
    ...     x = functx.rand(2)
    >>> functx.initial_seed()
    0
    """
    if not enabled:
        yield
        return
    try:
        generator = drawable().clone_state()
    except Refused as refused:  # matters only where something is drawn without a seed
        generator = _Refusing(ft.partial(_again, refused))
    with _entered(generator, settable=True):
        yield


@contextlib.contextmanager
def _entered(generator: Generator | _Refusing, settable: bool = False) -> Iterator[None]:
    refusing = isinstance(generator, _Refusing) and not settable
    token = _scope.set(Scope(generator, None if refusing else single_lane_trace(), settable))
    try:
        yield
    finally:
        _scope.reset(token)


def drawn_key() -> jax.Array:
    """The ambient generator's next key, for what no operator draws; Refused where none may be."""
    return drawable().take("a draw from the ambient generator").derive()


def drawable(key_parameter: str = "key") -> Generator:
    """The ambient generator, refused where a draw from it would freeze or repeat.

    It may be drawn from where it was entered, and under `grad` and `jvp` there.
    """
    generator, home, _ = _current()
    if isinstance(generator, _Refusing):
        raise generator.refusal(key_parameter)
    here = single_lane_trace()
    if here is not home:
        _refuse_elsewhere(recorded_for(here), home is None, key_parameter)
    return generator


def _refuse_elsewhere(recorded: str | None, outermost: bool, key_parameter: str) -> None:
    by_argument = (
        f"take a key as an argument and pass `{key_parameter}=` or enter "
        "`with functx.random.scope(key):` inside"
    )
    if recorded is None:
        refuse(
            "a draw from the ambient generator inside a map of JAX's own would repeat in every "
            "lane",
            hint="use functx.vmap(randomness='different'), or map over jax.random.split(key, n): "
            + by_argument,
        )
    if recorded == "jit" and outermost:
        hint = "use functx.jit, or " + by_argument
    elif recorded == "scan":
        hint = "scan (or map) over jax.random.split(key, n): " + by_argument
    else:
        hint = by_argument
    refuse(
        f"a draw from the ambient generator while `{recorded}` records would freeze the numbers "
        "into the program",
        hint=hint,
    )


def _no_generator(key_parameter: str) -> Refused:
    return Refused(
        "a draw from the ambient generator, and there is none that may be drawn from here",
        f"pass `{key_parameter}=`, or enter `with functx.random.scope(key):`",
        RuntimeError,
    )


class LaneStream:
    """The ambient generator's share for one `vmap`: one draw, from which lanes derive theirs."""

    def __init__(self, source: jax.Array | _Refusing, per_lane: bool):
        self._source, self._per_lane = source, per_lane

    def lane_indices(self, n: int) -> jax.Array:
        """`[0, ..., n - 1]`, to be mapped along with the inputs."""
        return jnp.arange(n, dtype="int32")

    def enter(self, lane_index: Any) -> contextlib.AbstractContextManager[None]:
        """Sets the ambient generator of a lane, inside the mapped function."""
        if isinstance(self._source, _Refusing):
            return _entered(self._source)
        key = self._source
        return _entered(Generator(jax.random.fold_in(key, lane_index) if self._per_lane else key))


def split_lanes(who: str, randomness: Randomness | None) -> LaneStream:
    """What `who` makes of the ambient generator, for one call of it.

    `"error"` refuses draws, and so does None, of a transform that offers no choice; `"same"` gives
    every lane one stream, `"different"` folds the lane's index into the key, so that the streams
    do not depend on chunking.
    """
    if randomness is None or randomness == "error":
        refusal = ft.partial(_lanes_refuse, who, randomness is not None)
        return LaneStream(_Refusing(refusal), per_lane=False)
    try:
        base = drawn_key()
    except Refused as refused:  # matters only if the mapped function does draw
        return LaneStream(_Refusing(ft.partial(_again, refused)), per_lane=False)
    return LaneStream(base, per_lane=randomness == "different")


def _lanes_refuse(who: str, choice: bool, key_parameter: str) -> Refused:
    if not choice:
        return Refused(
            f"a random draw inside {who}",
            f"pass `{key_parameter}=`, or enter `with functx.random.scope(key):` inside",
            RuntimeError,
        )
    return Refused(
        f'a random draw inside {who}(randomness="error")',
        'choose randomness="different" (each lane its own numbers) or "same", or pass '
        f"`{key_parameter}=`",
        RuntimeError,
    )


def _again(refused: Refused, key_parameter: str) -> Refused:
    return refused


@jax.tree_util.register_static
class DrawCount(NamedTuple):
    """How many draws a recorded program makes; part of the structure of its output."""

    draws: int
    of_arguments: tuple[int, ...] = ()  # from the generators among the arguments, in order


def recording(func: Callable[..., Any]) -> Callable[..., Any]:
    """`func` with the ambient generator's next draw (or None) before its arguments.

    It returns a pair: the result of `func`, and how many draws that took.
    """

    def inner(upcoming: Draw | None, /, *args: Any, **kwargs: Any) -> tuple[Any, DrawCount]:
        given = generators_among((args, kwargs))
        if upcoming is None:
            with _entered(_Refusing(_no_generator)):
                return func(*args, **kwargs), DrawCount(0, draws_of(given))
        generator = Generator(*upcoming)
        with _entered(generator):
            out = func(*args, **kwargs)
        return out, DrawCount(generator.drawn, draws_of(given))

    ft.update_wrapper(inner, func)
    with contextlib.suppress(TypeError, ValueError):  # builtins need not say
        inner.__signature__ = _with_draw(inspect.signature(func))  # pyright: ignore[reportFunctionMemberAccess]
    return inner


def draws_of(generators: Iterable[Generator]) -> tuple[int, ...]:
    """How often each of the generators in a program's arguments was drawn from while it was traced.

    One that was started anew is refused: numbers cannot tell the caller's where it is.
    """
    counts = []
    for generator in generators:
        if generator.restarted:
            fail(
                "Generator",
                "a generator in the arguments is started anew inside, and the caller's is not",
                hint="set its state before the call, or make another one inside: "
                "functx.Generator().manual_seed(seed)",
            )
        counts.append(generator.drawn)
    return tuple(counts)


def _with_draw(signature: inspect.Signature) -> inspect.Signature:
    own = list(signature.parameters.values())
    first = inspect.Parameter("functx_draw", inspect.Parameter.POSITIONAL_ONLY)
    return signature.replace(parameters=[first, *own])


def upcoming_draw() -> Draw | None:
    """What the next draw would be, or None where none may be made."""
    generator = _at_home()
    return None if generator is None else Draw(generator.key, generator.counter)


def _at_home() -> Generator | None:
    """The ambient generator, if it may be drawn from here."""
    generator, home, _ = _current()
    if isinstance(generator, _Refusing) or single_lane_trace() is not home:
        return None
    return generator


def drawing(compiled: Callable[..., tuple[Any, DrawCount]], *args: Any, **kwargs: Any) -> Any:
    """Calls what `recording` made, and advances the ambient generator by its draws.

    The generator is held meanwhile: other threads that draw from it wait.
    """
    generator = _at_home()
    if generator is None:
        out, drawn = compiled(None, *args, **kwargs)
    else:
        with generator.lock:
            upcoming = Draw(generator.key, generator.counter)
            out, drawn = compiled(upcoming, *args, **kwargs)
            generator.advance(drawn.draws)
    if drawn.of_arguments:
        advance_all((args, kwargs), drawn.of_arguments)
    return out

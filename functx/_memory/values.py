"""The values of a recorded program on one line of time: what makes each, and what reads it last.

Programs that an equation runs lie on the same line, of a loop one step, of `cond` one branch after
the other. What a loop reads from outside is alive until the loop is over. Its carry is alive in the
body as long as the body reads it, and again from where the body has computed the next one.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import jax

from functx._core.jax_compat import JaxprEqn, Literal, scan_counts
from functx._core.rules.function_primitives import function_call
from functx._transforms.partitioning.work import bytes_of
from functx._transforms.programs.walking import (
    CALLS,
    CHECKPOINTS,
    inner_programs,
    opened,
    own_programs,
)

from .makers import Maker, Surroundings


# Their results are their operands, in another shape or under another name.
_SAME_MEMORY = (
    *("reshape", "squeeze", "expand_dims", "bitcast_convert_type", "name", "reduce_precision"),
    *("optimization_barrier", "sharding_constraint", "mesh_cast", "pvary", "pcast"),
)
_CALLS = (
    *(*CALLS, *CHECKPOINTS, "function_call", "shard_map", "closed_call", "core_call"),
    *("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "custom_vmap_call"),
)
# Their programs compute one element from others.
_BY_ELEMENTS = ("reduce", "scatter", "select_and", "sort", "cum", "arg")


@dataclasses.dataclass(eq=False)
class Value:
    """A value that takes memory.

    - `like`: a variable of its type; `bytes`: what it takes.
    - `primitive`: JAX's primitive that makes it, "" of an input, `"carry"` of a loop's.
    - `made`: the step in which it is made; `reads`: the steps that read it, and what they run.
    - `inherited`: the last step that reads it to compute a value that is never in memory.
    - `sources`: the values that it is computed from.
    - `depth`: in how many loops and branches it is.
    - `returned`: whether the whole program returns it; `donated`: whether a call may overwrite it.
    """

    like: Any
    bytes: int
    maker: Maker
    primitive: str
    made: int
    depth: int
    sources: Sequence[Value] = ()
    reads: dict[int, str] = dataclasses.field(default_factory=dict)
    inherited: int = -1
    returned: bool = False
    donated: bool = False

    @property
    def last(self) -> int:
        """The last step in which it is alive."""
        return max((self.made, self.inherited, *self.reads))


class Recorder:
    """Walks through a program, and notes its values and its steps."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.steps: list[Maker] = []
        self.depth = 0

    def value(
        self, x: Any, maker: Maker, primitive: str = "", sources: Sequence[Value] = ()
    ) -> Value:
        """A value that the next step makes."""
        step = len(self.steps)
        made = Value(x, bytes_of(x), maker, primitive, step, self.depth, tuple(sources))
        self.values.append(made)
        return made

    def step(self, maker: Maker, primitive: str, read: Sequence[Value | None]) -> None:
        """A step that reads these values."""
        for value in present(read):
            value.reads[len(self.steps)] = primitive
        self.steps.append(maker)

    def walk(
        self, program: Any, inputs: Sequence[Value | None], around: Surroundings
    ) -> list[Value | None]:
        """The values of the program's results; None stands for numbers that the program holds."""
        jaxpr, _ = opened(program)
        known: dict[Any, Value | None] = dict(zip(jaxpr.invars, inputs, strict=True))
        known |= {x: self.value(x, Maker("constant", "")) for x in jaxpr.constvars}

        def read(x: Any) -> Value | None:
            return None if isinstance(x, Literal) else known[x]

        for eqn in jaxpr.eqns:
            results = self._run(eqn, [*map(read, eqn.invars)], around.entering(eqn))
            known.update(zip(eqn.outvars, results, strict=True))
        return [*map(read, jaxpr.outvars)]

    def _run(
        self, eqn: JaxprEqn, operands: list[Value | None], here: Surroundings
    ) -> Sequence[Value | None]:
        name = eqn.primitive.name
        if name in _SAME_MEMORY:
            return operands[: len(eqn.outvars)]
        if name in _STRUCTURED:
            return _STRUCTURED[name](self, eqn, operands, here)
        programs = [*(own_programs(eqn) if eqn.primitive is function_call else inner_programs(eqn))]
        if name in _CALLS and len(programs) == 1 and len(programs[0].invars) == len(operands):
            for value, given in zip(operands, eqn.params.get("donated_invars", ()), strict=False):
                if value is not None:
                    value.donated |= given
            return self.walk(programs[0], operands, here)
        for program in programs if not name.startswith(_BY_ELEMENTS) else ():
            self._unknown(program, here)
        maker = here.maker(name)
        made = [self.value(x, maker, name, present(operands)) for x in eqn.outvars]
        self.step(maker, name, operands)
        return made

    def _unknown(self, program: Any, here: Surroundings) -> None:
        """A program whose inputs nobody knows: they get memory of their own."""
        with self.inside():
            maker = here.maker("operand")
            self.walk(program, [self.value(x, maker) for x in program.invars], here)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """What is walked through in this region is in a loop or a branch."""
        self.depth += 1
        yield
        self.depth -= 1

    def body(
        self,
        program: Any,
        fixed: Sequence[Value | None],
        fresh: int,
        here: Surroundings,
        keeping: bool = False,
    ) -> list[Value | None]:
        """One step of a loop: `fixed` comes from outside, `fresh` inputs are the step's own.

        - `keeping`: whether these are read after it, as after the condition of a loop.
        """
        variables = opened(program)[0].invars
        maker = here.maker("carry")
        with self.inside():
            inputs = [self.value(x, maker, "carry") for x in variables[len(variables) - fresh :]]
            results = self.walk(program, [*fixed, *inputs], here)
            self.step(maker, "carry", [*results, *(inputs if keeping else ())])
        return results

    def results(
        self, eqn: JaxprEqn, places: slice, inside: Sequence[Value | None], here: Surroundings
    ) -> list[Value]:
        """What a loop or branches return, each made by what computes it inside."""
        found: list[Value] = []
        for x, source in zip(eqn.outvars[places], inside, strict=True):
            found.append(self.value(x, here.maker(eqn.primitive.name), eqn.primitive.name))
            self.made_inside(found[-1], source)
        return found

    def made_inside(self, value: Value, source: Value | None) -> None:
        """Says of a loop's result what makes it in the body."""
        if source is not None and source.depth > self.depth:
            value.maker = dataclasses.replace(source.maker, inside=value.maker.inside)


def present(values: Sequence[Value | None]) -> list[Value]:
    """Those that are values, and no numbers."""
    return [value for value in values if value is not None]


def _scan(
    recorder: Recorder, eqn: JaxprEqn, operands: list[Value | None], here: Surroundings
) -> list[Value]:
    constants, carries = scan_counts(eqn.params)
    fixed, name = operands[:constants], eqn.primitive.name
    stacked = recorder.results(eqn, slice(carries, None), [None] * len(eqn.outvars[carries:]), here)
    recorder.step(here.maker(name), name, operands)
    fresh = len(operands) - constants
    results = recorder.body(eqn.params["jaxpr"], fixed, fresh, here.within(name))
    for value, source in zip(stacked, results[carries:], strict=True):
        recorder.made_inside(value, source)
    carry = recorder.results(eqn, slice(carries), results[:carries], here)
    recorder.step(here.maker(name), name, [*fixed, *operands[constants + carries :], *stacked])
    return [*carry, *stacked]


def _while(
    recorder: Recorder, eqn: JaxprEqn, operands: list[Value | None], here: Surroundings
) -> list[Value]:
    in_condition, in_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    for_condition, for_body = operands[:in_condition], operands[in_condition:][:in_body]
    name, fresh = eqn.primitive.name, len(eqn.outvars)
    recorder.step(here.maker(name), name, operands)
    own = here.within(name)
    recorder.body(eqn.params["cond_jaxpr"], for_condition, fresh, own, keeping=True)
    results = recorder.body(eqn.params["body_jaxpr"], for_body, fresh, own)
    carry = recorder.results(eqn, slice(None), results, here)
    recorder.step(here.maker(name), name, [*for_condition, *for_body])
    return carry


def _cond(
    recorder: Recorder, eqn: JaxprEqn, operands: list[Value | None], here: Surroundings
) -> Sequence[Value | None]:
    name, own = eqn.primitive.name, here.within(eqn.primitive.name)
    platforms = eqn.params.get("branches_platforms")
    if platforms is not None:  # the compiler sees the branch of its platform alone
        place = jax.default_backend()
        which = next(i for i, some in enumerate(platforms) if some is None or place in some)
        return recorder.walk(eqn.params["branches"][which], operands[1:], here)
    recorder.step(here.maker(name), name, operands)
    made: list[Value | None] = [None] * len(eqn.outvars)
    for branch in eqn.params["branches"]:
        with recorder.inside():
            results = recorder.walk(branch, operands[1:], own)
            recorder.step(own.maker(name), name, results)
        for i, value in enumerate(results):
            if value is not None and value.depth > recorder.depth:
                made[i] = made[i] or value
    found = recorder.results(eqn, slice(None), made, here)
    recorder.step(here.maker(name), name, operands)
    return found


_STRUCTURED = {"scan": _scan, "while": _while, "cond": _cond}

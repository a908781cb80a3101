"""Orders in which the equations of a program may stand, so that equal layers follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TYPE_CHECKING

from functx._core.jax_compat import Jaxpr, JaxprEqn, Literal
from functx._transforms.programs.walking import dropped, inner_programs


if TYPE_CHECKING:
    from .layers import EqualLayers

# What takes a part of an array, and what works out which part, or moves parts together.
_PICKS = frozenset({"slice", "dynamic_slice", "gather", "split", "unstack"})
_BESIDE = frozenset(
    """
    add and broadcast_in_dim concatenate convert_element_type copy copy_p eq ge gt jit le lt max min
    mul ne pjit random_fold_in random_seed random_split random_unwrap random_wrap reshape select_n
    squeeze stack sub transpose
    """.split()
)


class NumberedEquations:
    """The equations of a program that are needed, by their places, and what each waits for.

    - `eqns`: those that an output depends on, and those with effects.
    - `makers`: for each variable, the place of the equation that makes it.
    - `waits`: for each equation, the places of those that must run before it. One with effects
      waits for the one with effects before it.
    - `roots`: in order, the places of equations with effects, then of those that make outputs.
    - `parts`: the places of equations that only take parts of inputs.
    """

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = jaxpr
        self.outputs = [x for x in jaxpr.outvars if not isinstance(x, Literal)]
        self.eqns = _needed(jaxpr, self.outputs)
        self.makers = {x: i for i, eqn in enumerate(self.eqns) for x in _results(eqn)}
        self.waits = [[*self.places(eqn.invars)] for eqn in self.eqns]
        effects = [i for i, eqn in enumerate(self.eqns) if eqn.effects]
        for before, after in zip(effects, effects[1:], strict=False):
            self.waits[after].append(before)
        self.roots = [*effects, *self.places(self.outputs)]
        self.parts = self._parts({*jaxpr.constvars, *jaxpr.invars})

    def places(self, atoms: Iterable[Any]) -> Iterator[int]:
        """The places of the equations that make the atoms."""
        for x in atoms:
            if not isinstance(x, Literal) and x in self.makers:
                yield self.makers[x]

    def _parts(self, given: set[Any]) -> set[int]:
        """Equations that take parts of inputs, or of what is moved together from inputs."""
        found: set[int] = set()
        for i, eqn in enumerate(self.eqns):
            variables = [x for x in eqn.invars if not isinstance(x, Literal)]
            names = {*_names(eqn)}
            if variables and given.issuperset(variables) and names <= _PICKS | _BESIDE:
                given.update(eqn.outvars)
                if names & _PICKS or names <= {"squeeze", "reshape"}:
                    found.add(i)
        return found

    def orders(self) -> Iterator[list[int]]:
        """Orders to look for layers in: as recorded, and each equation where it is first read.

        Each of them also with parts of inputs first, such as `w[0]`, `w[1]` of one array.
        """
        recorded, late = [*range(len(self.eqns))], self._first_read()
        yield recorded
        if self.parts:
            yield self._parts_first(recorded)
        yield late
        if self.parts:
            yield self._parts_first(late)

    def _parts_first(self, order: Sequence[int]) -> list[int]:
        first = depth_first([i for i in order if i in self.parts], self.waits)
        early = {*first}
        return first + [i for i in order if i not in early]

    def _first_read(self) -> list[int]:
        """Each equation before the first that reads it, what its operands need in their order."""
        return depth_first(self.roots, self.waits)


def reached(
    numbered: NumberedEquations, loops: Iterable[EqualLayers], places: Iterable[int]
) -> set[int]:
    """The places of equations that must run before those at `places` have, these included.

    A loop runs as a whole.
    """
    loop_of = {at: loop for loop in loops for at in loop.inside}
    found: set[int] = set()
    open_ = [*places]
    while open_:
        at = open_.pop()
        if at not in found:
            together = loop_of[at].inside if at in loop_of else {at}
            found |= together
            open_ += [i for one in together for i in numbered.waits[one] if i not in found]
    return found


def arranged(
    numbered: NumberedEquations, loops: Iterable[EqualLayers]
) -> list[JaxprEqn | EqualLayers]:
    """The equations of a program and the loops, each after what it waits for."""
    loop_of = {at: loop for loop in loops for at in loop.inside}
    waits = dict(enumerate(numbered.waits))
    head = {at: min(loop.inside) for at, loop in loop_of.items()}
    for loop in {id(x): x for x in loop_of.values()}.values():
        inside = loop.inside
        waits[min(inside)] = [i for at in inside for i in numbered.waits[at] if i not in inside]
    order = depth_first(range(len(numbered.eqns)), waits, head)
    return [loop_of.get(i, numbered.eqns[i]) for i in order]


def depth_first(
    roots: Iterable[int],
    waits: Mapping[int, Sequence[int]] | Sequence[Sequence[int]],
    head: Mapping[int, int] = MappingProxyType({}),
) -> list[int]:
    """The roots and all that they wait for, each after what it waits for.

    - `head`: which one stands for several that run together.
    """
    order: list[int] = []
    seen: set[int] = set()
    for root in roots:
        open_ = [(root, iter([root]))]
        while open_:
            at, waiting = open_[-1]
            following = next((j for i in waiting if (j := head.get(i, i)) not in seen), None)
            if following is not None:
                seen.add(following)
                open_.append((following, iter(waits[following])))
                continue
            open_.pop()
            if open_:
                order.append(at)
    return order


def _needed(jaxpr: Jaxpr, outputs: Sequence[Any]) -> list[JaxprEqn]:
    needed, kept = set(outputs), []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or not needed.isdisjoint(eqn.outvars):
            needed.update(x for x in eqn.invars if not isinstance(x, Literal))
            kept.append(eqn)
    return kept[::-1]


def _results(eqn: JaxprEqn) -> list[Any]:
    return [x for x in eqn.outvars if not dropped(x)]


def _names(eqn: JaxprEqn) -> Iterator[str]:
    yield eqn.primitive.name
    for program in inner_programs(eqn):
        for inner in program.eqns:
            yield from _names(inner)

"""Equal layers that follow each other: what each takes from the one before, and from outside."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from functx._core.jax_compat import Jaxpr, JaxprEqn, Literal, Var
from functx._transforms.partitioning.work import is_heavy

from .orders import NumberedEquations


# For each layer, the places of its equations, in one order.
Places: TypeAlias = Sequence[Sequence[int]]


class ResultPlace(NamedTuple):
    """A result of a layer: which equation of the layer makes it, and which of its results it is."""

    equation: int
    result: int


_NONE = ResultPlace(-1, -1)


@dataclasses.dataclass(frozen=True)
class EqualLayers:
    """A run of equal layers, as one program that runs once for each of them.

    - `places`: for each layer, the places of its equations.
    - `body`: one layer. It takes what is carried, then what is stacked, then what is shared, and
      returns what is carried, then what is collected.
    - `carried`: what the first layer takes in the place of results of a layer before.
    - `stacked`: for each operand that differs from layer to layer, what each layer takes.
    - `shared`: what all layers take.
    - `last`: for each of the results that are carried, the variable of the last layer.
    - `collected`: for each result that is read outside, the variables of all layers; those that
      are carried and read of the last layer alone are left out.
    """

    places: Places
    body: Jaxpr
    carried: tuple[Any, ...]
    stacked: tuple[tuple[Any, ...], ...]
    shared: tuple[Any, ...]
    last: tuple[Any, ...]
    collected: tuple[tuple[Any, ...], ...]

    @property
    def operands(self) -> Iterator[Any]:
        """All that the layers take from outside."""
        yield from self.carried
        for atoms in self.stacked:
            yield from atoms
        yield from self.shared

    @property
    def inside(self) -> set[int]:
        """The places of all equations of the layers."""
        return {at for layer in self.places for at in layer}

    @property
    def saved(self) -> int:
        """How many equations need not be compiled."""
        return (len(self.places) - 1) * len(self.places[0])


def layers_at(numbered: NumberedEquations, places: Places) -> EqualLayers | None:
    """The layers whose equations stand at `places`, or None if they do not follow each other.

    Each layer must compute a product, or more, of what the layer before computed.
    """
    flow = _Flow(numbered, places)
    if not flow.understood or not flow.follows():
        return None
    final = len(places) - 1
    carried = [source.result for source in flow.carried]
    read = flow.read_outside()
    collected = [at for at, layers in read.items() if at not in carried or layers != {final}]
    body = numbered.jaxpr.replace(
        constvars=[],
        invars=[x.inside for x in (*flow.carried, *flow.stacked, *flow.shared)],
        outvars=[flow.results[place] for place in (*carried, *collected)],
        eqns=flow.eqns,
    )
    return EqualLayers(
        places,
        body,
        tuple(source.outside[0] for source in flow.carried),
        tuple(source.outside for source in flow.stacked),
        tuple(source.outside[0] for source in flow.shared),
        tuple(flow.variable(final, place) for place in carried),
        tuple(tuple(flow.variable(t, at) for t in range(final + 1)) for at in collected),
    )


class _Source(NamedTuple):
    """An operand of a layer that comes from outside of it.

    - `outside`: the atom for each layer, for the first alone, or for all of them.
    - `inside`: its variable in the body.
    - `result`: of what is carried, the result that takes its place in the next layer.
    """

    outside: tuple[Any, ...]
    inside: Any
    result: ResultPlace = _NONE


class _Flow:
    """Where the operands of a layer come from, in the first layer and in those after it.

    - `understood`: whether each comes from the same place in all layers.
    - `eqns`: the equations of one layer, with variables of its own.
    - `results`: the variables of their results.
    - `carried`, `stacked`, `shared`: what comes from the layer before, or from outside.
    """

    def __init__(self, numbered: NumberedEquations, places: Places) -> None:
        self._numbered, self._places = numbered, places
        self._made: dict[Any, tuple[int, ResultPlace]] = {}
        for t, layer in enumerate(places):
            for j, at in enumerate(layer):
                for k, x in enumerate(numbered.eqns[at].outvars):
                    self._made[x] = t, ResultPlace(j, k)
        self.results: dict[ResultPlace, Any] = {}
        self.eqns: list[JaxprEqn] = []
        self._sources: dict[Any, _Source] = {}
        self.understood = all(map(self._equation, range(len(places[0]))))
        sources = self._sources.items()
        self.carried, self.stacked, self.shared = (
            [source for (is_kind, *_), source in sources if is_kind == kind]
            for kind in ("carried", "stacked", "shared")
        )

    def variable(self, layer: int, at: ResultPlace) -> Any:
        """The variable of a result in the program."""
        return self._numbered.eqns[self._places[layer][at.equation]].outvars[at.result]

    def _equation(self, j: int) -> bool:
        """Adds equation number `j` of a layer; whether its operands are understood."""
        eqns = [self._numbered.eqns[layer[j]] for layer in self._places]
        operands = [self._operand(atoms) for atoms in zip(*(e.invars for e in eqns), strict=True)]
        if any(x is None for x in operands):
            return False
        results: list[Any] = [Var(x.aval) for x in eqns[0].outvars]
        self.results.update((ResultPlace(j, k), x) for k, x in enumerate(results))
        self.eqns.append(eqns[0].replace(invars=operands, outvars=results))
        return True

    def _operand(self, atoms: tuple[Any, ...]) -> Any:
        """What a layer reads where the layers read `atoms`; None if the layers differ in that."""
        made = [None if isinstance(x, Literal) else self._made.get(x) for x in atoms]
        keys = [*map(_key, atoms)]
        if made[0] is not None:
            at = made[0][1]
            return self.results.get(at) if made == [(t, at) for t in range(len(made))] else None
        if made[1] is not None:
            at = made[1][1]
            follows = made[1:] == [(t, at) for t in range(len(made) - 1)]
            return self._source("carried", (at, keys[0]), atoms[:1], at) if follows else None
        if any(made):
            return None
        if any(key != keys[0] for key in keys):
            return self._source("stacked", (*keys,), atoms)
        return atoms[0] if isinstance(atoms[0], Literal) else self._source("shared", keys[0], atoms)

    def _source(
        self,
        kind: str,
        key: Any,
        outside: tuple[Any, ...],
        result: ResultPlace = _NONE,
    ) -> Any:
        new = _Source(outside, Var(outside[0].aval), result)
        return self._sources.setdefault((kind, key), new).inside

    def follows(self) -> bool:
        """Whether a layer computes a product, or more, of what is carried to it."""
        dependent = {source.inside for source in self.carried}
        for eqn in self.eqns:
            if any(x in dependent for x in eqn.invars if not isinstance(x, Literal)):
                dependent.update(eqn.outvars)
                if is_heavy(eqn):
                    return True
        return False

    def read_outside(self) -> dict[ResultPlace, set[int]]:
        """Which results are read outside of the layers, and of which layers."""
        inside = {at for layer in self._places for at in layer}
        read = [x for i, e in enumerate(self._numbered.eqns) if i not in inside for x in e.invars]
        found: dict[ResultPlace, set[int]] = {}
        for x in (*read, *self._numbered.outputs):
            if not isinstance(x, Literal) and x in self._made:
                layer, at = self._made[x]
                found.setdefault(at, set()).add(layer)
        return found


def _key(x: Any) -> Any:
    """Two atoms are the same where their keys are."""
    if not isinstance(x, Literal):
        return x
    value = np.asarray(x.val)
    return value.dtype.name, value.tobytes()

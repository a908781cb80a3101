"""A program with other programs in the place of some of its equations, such as calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from functx._core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from .labels import line_of, operator_of
from .walking import CALLS, dropped, opened


class Splice(NamedTuple):
    """What takes the place of an equation: a program of its operands.

    - `goes_on`: whether equations of the program are replaced, too.
    """

    program: Any
    goes_on: bool = False


ReplaceEquation: TypeAlias = Callable[[JaxprEqn], Splice | None]


def is_plain_call(eqn: JaxprEqn) -> bool:
    """Whether the equation calls a function, and asks nothing of the compiler besides."""
    if eqn.primitive.name not in CALLS:
        return False
    params = eqn.params
    shardings = (*params.get("in_shardings", ()), *params.get("out_shardings", ()))
    return not any(params.get("donated_invars", ())) and all(
        type(x).__name__ == "UnspecifiedValue" for x in shardings
    )


def inlined(program: ClosedJaxpr, opens: Callable[[JaxprEqn], bool]) -> ClosedJaxpr:
    """`program` with the calls that `opens` accepts opened, those inside of them too."""
    return spliced(program, lambda eqn: Splice(eqn.params["jaxpr"], True) if opens(eqn) else None)


def spliced(
    program: ClosedJaxpr,
    replace: ReplaceEquation,
    inside: Callable[[JaxprEqn], bool] = lambda eqn: False,
) -> ClosedJaxpr:
    """`program` with what `replace` returns in the place of equations.

    Equations keep their lines of the user's code; those of an operator take that of its call.

    - `inside(eqn)`: whether equations of the programs that an equation runs are replaced, too.
    """
    jaxpr, consts = opened(program)
    found = _Splicing(replace, inside, list(jaxpr.constvars), list(consts))
    atoms: dict[Any, Any] = {}
    eqns = list(found.equations(jaxpr, atoms, None, True))
    outputs = [_atom(atoms, x) for x in jaxpr.outvars]
    flat = jaxpr.replace(constvars=found.constvars, eqns=eqns, outvars=outputs)
    return closed(flat, found.consts)


def closed(jaxpr: Jaxpr, consts: Sequence[Any]) -> ClosedJaxpr:
    """A program with its constants."""
    return ClosedJaxpr(jaxpr, list(consts))


def _atom(atoms: dict[Any, Any], x: Any) -> Any:
    return x if isinstance(x, Literal) else atoms.get(x, x)


@dataclasses.dataclass
class _Splicing:
    """What is under way, and the constants of all programs that were put in."""

    replace: ReplaceEquation
    inside: Callable[[JaxprEqn], bool]
    constvars: list[Any]
    consts: list[Any]

    def equations(
        self, jaxpr: Jaxpr, atoms: dict[Any, Any], call: JaxprEqn | None, goes_on: bool
    ) -> Iterator[JaxprEqn]:
        """The equations of `jaxpr`, whose variables are `atoms` in the whole program."""
        for eqn in jaxpr.eqns:
            operands = [_atom(atoms, x) for x in eqn.invars]
            eqn = eqn if call is None else _of_call(eqn, call)
            splice = self.replace(eqn) if goes_on else None
            if splice is not None:
                inner, consts = opened(splice.program)
                here = dict(zip(inner.invars, operands, strict=True))
                for x, value in zip(inner.constvars, consts, strict=True):
                    here[x] = Var(x.aval)
                    self.constvars.append(here[x])
                    self.consts.append(value)
                yield from self.equations(inner, here, eqn, splice.goes_on)
                results = [_atom(here, x) for x in inner.outvars]
                atoms.update(zip(eqn.outvars, results, strict=True))
                continue
            results = eqn.outvars
            if call is not None:  # a function that is called twice has the same variables twice
                results = [x if dropped(x) else Var(x.aval) for x in eqn.outvars]
                atoms.update(zip(eqn.outvars, results, strict=True))
            params = self._params(eqn.params) if goes_on and self.inside(eqn) else eqn.params
            yield eqn.replace(invars=operands, outvars=results, params=params)

    def _params(self, params: dict[str, Any]) -> dict[str, Any]:
        return {name: self._inner(value) for name, value in params.items()}

    def _inner(self, value: Any) -> Any:
        """A parameter, with equations of programs in it replaced."""
        if isinstance(value, tuple) and any(isinstance(x, ClosedJaxpr) for x in value):
            return tuple(map(self._inner, value))
        return (
            spliced(value, self.replace, self.inside) if isinstance(value, ClosedJaxpr) else value
        )


def _of_call(eqn: JaxprEqn, call: JaxprEqn) -> JaxprEqn:
    """The equation with the scopes around the call, and its line if it has no own."""
    source = eqn.source_info
    names = call.source_info.name_stack + source.name_stack
    if operator_of(call) is not None or line_of(eqn) is None:
        source = call.source_info
    return eqn.replace(source_info=source.replace(name_stack=names))

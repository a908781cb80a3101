"""Two graphs compared by what their nodes compute, whatever the variables are called."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from functx._core import describe
from functx._core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from functx._transforms.programs.labels import title_of
from functx._transforms.programs.walking import inner_programs, opened, own_programs


@dataclasses.dataclass(frozen=True)
class GraphDifference:
    """What has to change to make one graph of another; falsy if nothing has.

    - `removed`, `added`: the nodes of the first that the second lacks, and the other way round, as
      `name types`. `str` shows both in the order of the graphs.
    """

    removed: tuple[str, ...]
    added: tuple[str, ...]
    lines: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.lines)

    def __str__(self) -> str:
        return "\n".join(self.lines) or "no difference"


def difference(first: ClosedJaxpr, second: ClosedJaxpr) -> GraphDifference:
    """The difference between two programs."""
    one, two = _steps(first), _steps(second)
    if sorted(step.digest for step in one) == sorted(step.digest for step in two):
        return GraphDifference((), (), ())
    lines = _changes(one, two, [[step.alone for step in steps] for steps in (one, two)])
    # Where each step alone is the same, what they read is not.
    lines = lines or _changes(one, two, [[step.digest for step in steps] for steps in (one, two)])
    removed = tuple(line[2:] for line in lines if line[0] == "-")
    added = tuple(line[2:] for line in lines if line[0] == "+")
    return GraphDifference(removed, added, tuple(lines))


def _changes(
    one: Sequence[StepDigests], two: Sequence[StepDigests], keys: Sequence[list[str]]
) -> list[str]:
    lines: list[str] = []
    matcher = difflib.SequenceMatcher(None, *keys, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            lines += [f"- {step.text}" for step in one[a:b]]
            lines += [f"+ {step.text}" for step in two[c:d]]
    return lines


class StepDigests(NamedTuple):
    """One step of a program, and last its outputs.

    - `text`: its name and types; `alone`: a digest of what it computes of its operands; `digest`:
      one of what it computes of the inputs.
    """

    text: str
    alone: str
    digest: str


def _steps(program: ClosedJaxpr) -> list[StepDigests]:
    """The steps of a program, in their order."""
    jaxpr, consts = opened(program)
    return list(_walk(jaxpr, [_of_value(x) for x in consts]))


def _walk(jaxpr: Jaxpr, consts: list[str]) -> Iterator[StepDigests]:
    known = dict(zip(jaxpr.constvars, consts, strict=True))
    for i, x in enumerate(jaxpr.invars):
        known[x] = _digest("input", str(i), describe(x.aval))

    def of(x: Any) -> str:
        return _of_value(x.val) if isinstance(x, Literal) else known[x]

    def types(atoms: Sequence[Any]) -> str:
        return ", ".join(describe(x.aval) for x in atoms)

    for eqn in jaxpr.eqns:
        alone = computation(eqn)
        digest = _digest(alone, *map(of, eqn.invars))
        known.update((x, _digest(digest, str(i))) for i, x in enumerate(eqn.outvars))
        text = f"{title_of(eqn)} {types(eqn.outvars)}"
        yield StepDigests(text, _digest(text, alone), digest)
    text = f"outputs {types(jaxpr.outvars)}"
    yield StepDigests(text, text, _digest(*map(of, jaxpr.outvars)))


def computation(eqn: JaxprEqn) -> str:
    """A digest of what an equation computes of its operands."""
    params = {k: v for k, v in eqn.params.items() if not _holds_program(v)}
    return _digest(
        eqn.primitive.name, _text(params), *map(_whole, (*inner_programs(eqn), *own_programs(eqn)))
    )


def _whole(program: Any) -> str:
    """The digest of an inner program."""
    jaxpr, consts = opened(program)
    values = [_of_value(x) for x in consts] or ["constant"] * len(jaxpr.constvars)
    return _digest(*(step.digest for step in _walk(jaxpr, values)))


def _holds_program(value: Any) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return any(isinstance(x, (ClosedJaxpr, Jaxpr)) for x in values)


def _text(params: dict[str, Any]) -> str:
    """The parameters that say what is computed; functions are told apart by their names alone."""
    shown = {k: getattr(v, "__name__", v) if callable(v) else v for k, v in params.items()}
    return str(sorted((k, str(v)) for k, v in shown.items()))


def _of_value(x: Any) -> str:
    if jax.dtypes.issubdtype(getattr(x, "dtype", None), jax.dtypes.extended):
        return _digest(describe(x), _of_value(jax.random.key_data(x)))
    value = np.asarray(x)
    return _digest(describe(value), hashlib.sha256(value.tobytes()).hexdigest())


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

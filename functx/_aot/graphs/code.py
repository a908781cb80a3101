"""A graph as Python source."""

from __future__ import annotations

import dataclasses
import functools as ft
import itertools
import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core import describe
from functx._core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, scan_counts
from functx._transforms.programs.inlining import is_plain_call
from functx._transforms.programs.interpreting import bind
from functx._transforms.programs.labels import line_of, title_of
from functx._transforms.programs.walking import dropped, opened


@dataclasses.dataclass(frozen=True)
class GraphCode:
    """The source of a graph: functions of arrays, of which `graph` is the whole.

    - `text`: the source; `str` of it is the same.
    - `namespace`: what the source refers to: primitives, loops, arrays, and objects that have no
      text, such as the rules of a function with own derivatives.
    """

    text: str
    namespace: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text

    def function(self, **others: Any) -> Callable[..., list[Any]]:
        """What the source defines as `graph`, run in a copy of `namespace`.

        - `others`: what takes the place of entries of `namespace`: `primitives` of your own, whose
          attributes have a method `bind`, run the graph by another library.
        """
        scope = {**self.namespace, **others}
        exec(compile(self.text, "<graph>", "exec"), scope)  # noqa: S102 (it is our own text)
        return scope["graph"]


def python_of(program: ClosedJaxpr, paths: Sequence[str]) -> GraphCode:
    """The source of `program`, whose inputs are called `paths`."""
    written = _Writing()
    jaxpr, consts = opened(program)
    constants = [written.object(x) for x in consts]
    written.define("graph", jaxpr, constants, paths)
    namespace = {
        "primitives": SimpleNamespace(**written.primitives),
        "objects": tuple(written.objects),
        "array": jnp.asarray,
        "dtype": jnp.dtype,
        "scan": _scan,
        "while_loop": _while,
        "cond": _cond,
    }
    return GraphCode("\n\n\n".join(written.definitions) + "\n", namespace)


class _Writing:
    """Definitions, the inner ones first, and the objects that they refer to."""

    def __init__(self) -> None:
        self.definitions: list[str] = []
        self.primitives: dict[str, Any] = {}
        self.objects: list[Any] = []
        self._taken: set[str] = {"graph"}

    def object(self, x: Any) -> str:
        """What the text calls an object that it cannot write."""
        self.objects.append(x)
        return f"objects[{len(self.objects) - 1}]"

    def define(
        self, name: str, jaxpr: Jaxpr, constants: Sequence[str], comments: Sequence[str] = ()
    ) -> None:
        """Adds the definition of a function."""
        letters = _letters()
        names: dict[Any, str] = dict(zip(jaxpr.constvars, constants, strict=True))
        names |= {x: next(letters) for x in jaxpr.invars}

        def read(x: Any) -> str:
            return self._literal(x) if isinstance(x, Literal) else names[x]

        lines = [f"def {name}({', '.join(names[x] for x in jaxpr.invars)}):"]
        for x, comment in zip(jaxpr.invars, comments or [""] * len(jaxpr.invars), strict=True):
            lines.append(f"    # {names[x]}: {describe(x.aval)} {comment}".rstrip())
        for eqn in jaxpr.eqns:
            call = self._call(eqn, [*map(read, eqn.invars)])
            names.update((x, "_" if dropped(x) else next(letters)) for x in eqn.outvars)
            results = ", ".join(names[x] for x in eqn.outvars)
            several = eqn.primitive.multiple_results
            left = f"[{results}] = " if several and results else f"{results} = " if results else ""
            lines.append(f"    {left}{call}{_comment(eqn)}")
        lines.append(f"    return [{', '.join(map(read, jaxpr.outvars))}]")
        self.definitions.append("\n".join(lines))

    def _call(self, eqn: JaxprEqn, operands: list[str]) -> str:
        name, params = eqn.primitive.name, eqn.params
        if is_plain_call(eqn):
            return f"{self._function(title_of(eqn), params['jaxpr'])}({', '.join(operands)})"
        if name == "scan":
            consts, carries = scan_counts(params)
            body = self._function("body", params["jaxpr"])
            options = {key: params[key] for key in ("length", "reverse", "unroll")}
            given = [body, str(consts), str(carries), *operands, *self._keywords(options)]
            return f"scan({', '.join(given)})"
        if name == "while":
            going_on = self._function("condition", params["cond_jaxpr"])
            body = self._function("body", params["body_jaxpr"])
            counts = f"{params['cond_nconsts']}, {params['body_nconsts']}"
            return f"while_loop({', '.join([going_on, body, counts, *operands])})"
        if name == "cond":
            branches = [self._function("branch", branch) for branch in params["branches"]]
            return f"cond([{', '.join(branches)}], {', '.join(operands)})"
        if any(callable(x) or isinstance(x, (Jaxpr, ClosedJaxpr)) for x in params.values()):
            return f"{self.object(ft.partial(_bound, eqn))}({', '.join(operands)})"
        attribute = _identifier(name)
        self.primitives[attribute] = eqn.primitive
        given = ", ".join([*operands, *self._keywords(params)])
        return f"primitives.{attribute}.bind({given})"

    def _keywords(self, params: Mapping[str, Any]) -> Iterator[str]:
        return (f"{name}={self._value(value)}" for name, value in params.items())

    def _value(self, value: Any) -> str:
        if isinstance(value, np.dtype):
            return f"dtype({value.name!r})"
        if type(value) is tuple:
            inner = [self._value(x) for x in value]
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        plain = value is None or type(value) in (bool, int, str)
        return repr(value) if plain else self.object(value)

    def _literal(self, x: Any) -> str:
        value = np.asarray(x.val)
        finite = value.dtype.kind in "biuf" and bool(np.isfinite(value))
        return f"array({value.item()!r}, {x.aval.dtype.name!r})" if finite else self.object(x.val)

    def _function(self, name: str, program: Any) -> str:
        """The name of a function that runs an inner program."""
        jaxpr, consts = opened(program)
        names = (f"{_identifier(name)}_{i}" for i in itertools.count(1))
        chosen = next(x for x in names if x not in self._taken)
        self._taken.add(chosen)
        self.define(chosen, jaxpr, [self.object(x) for x in consts])
        return chosen


def _identifier(name: str) -> str:
    """The name of an operator or a primitive as Python takes it."""
    written = re.sub(r"\W", "_", name)
    return f"{written}_" if keyword.iskeyword(written) else written


def _letters() -> Iterator[str]:
    """a, b, ..., z, aa, ab, without Python's own words."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    for length in itertools.count(1):
        for letters in itertools.product(alphabet, repeat=length):
            name = "".join(letters)
            if not keyword.iskeyword(name) and name not in ("array", "dtype", "scan", "cond"):
                yield name


def _comment(eqn: JaxprEqn) -> str:
    types, line = ", ".join(describe(x.aval) for x in eqn.outvars), line_of(eqn)
    where = f"  {Path(line.file).name}:{line.line}" if line is not None else ""
    return f"  # {types}{where}"


def _bound(eqn: JaxprEqn, *operands: Any) -> Any:
    results = bind(eqn, operands)
    return results if eqn.primitive.multiple_results else results[0]


def _scan(
    body: Callable[..., list[Any]], consts: int, carries: int, *operands: Any, **options: Any
) -> list[Any]:
    fixed, start, xs = operands[:consts], operands[consts:][:carries], operands[consts + carries :]

    def step(carry: list[Any], x: list[Any]) -> tuple[list[Any], list[Any]]:
        results = body(*fixed, *carry, *x)
        return results[:carries], results[carries:]

    carry, ys = lax.scan(step, list(start), list(xs), **options)
    return [*carry, *ys]


def _while(
    going_on: Callable[..., list[Any]],
    body: Callable[..., list[Any]],
    conditions: int,
    bodies: int,
    *operands: Any,
) -> list[Any]:
    for_condition, for_body = operands[:conditions], operands[conditions:][:bodies]
    return lax.while_loop(
        lambda state: going_on(*for_condition, *state)[0],
        lambda state: body(*for_body, *state),
        list(operands[conditions + bodies :]),
    )


def _cond(branches: Sequence[Callable[..., list[Any]]], which: Any, *operands: Any) -> list[Any]:
    return lax.switch(which.astype(jnp.int32), branches, *operands)

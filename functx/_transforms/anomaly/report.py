"""The error that says where the first anomaly was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from functx._transforms.programs.labels import Line

from .judging import FOUND
from .sites import AnomalySite, Options, passes


__all__ = ["AnomalyError"]

FIELDS = (*FOUND, "source", "result")
MAPS = 4  # fields that follow: the lanes of so many maps around the program; then the steps
_HOLDS = ("finite", "holds inf", "holds nan")


class AnomalyError(RuntimeError):
    """What `detect_anomaly` raises: an operator returned values that are not numbers.

    - `operator`: the catalog's name, that of the function with own rules, or the primitive's;
      None where nothing in the program is to blame, but `argument`.
    - `kind`: `"nan"` or `"inf"`.
    - `output`, `index`: which of its outputs, and where in it the first such element lies.
    - `tangent`: whether that output is a tangent, computed beside the operator's values.
    - `inputs`: what came in, as strings: `"f32[3] (finite)"`.
    - `stack`: the transforms around it as JAX writes them, `"transpose(jvp())"`; `where`: in words.
    - `rule`: the function with own rules in whose derivative it happened, or None.
    - `lane`: the first lane with such an element, under `vmap`: an int, a tuple of them for maps
      inside maps, or None.
    - `steps`: the steps of the loops around it, the outermost first.
    - `line`: the line of the user's code, with `file`, `line` and `function`, or None.
    - `argument`: the argument that held such values before anything was computed, or None.
    """

    __module__ = "functx.debug"  # as tracebacks call it

    operator: str | None = None
    kind: str = "nan"
    output: int | None = None
    index: tuple[int, ...] = ()
    tangent: bool = False
    inputs: tuple[str, ...] = ()
    stack: str = ""
    where: str = ""
    rule: str | None = None
    lane: int | tuple[int, ...] | None = None
    steps: tuple[int, ...] = ()
    line: Line | None = None
    argument: str | None = None


class Table(NamedTuple):
    """What the numbers in a record stand for."""

    sites: tuple[AnomalySite, ...]
    arguments: tuple[str, ...]
    options: Options


jax.tree_util.register_static(Table)


def anomaly_of(record: Sequence[int], table: Table) -> AnomalyError | None:
    """The error that a record is, or None if nothing is wrong.

    What was bad before and has no part in the result is nobody's fault.
    """
    fields, rest = record[: len(FIELDS)], record[len(FIELDS) :]
    outer, steps = tuple(lane for lane in rest[:MAPS] if lane >= 0), rest[MAPS:]
    rank, number, output, element, kind, inputs, source, result = fields
    if rank < 2 and not result:
        return None
    site = table.sites[number] if rank else None
    at: dict[str, Any] = {"kind": ("inf", "nan")[kind - 1]} if site else {}
    if site is not None:
        at |= _described(site, output, element, inputs, tuple(steps[: len(site.loops)]))
    if outer:
        lanes = (*outer, *_tuple(at.get("lane")))
        at["lane"] = lanes[0] if len(lanes) == 1 else lanes
    if rank == 2:
        name, output = at["operator"], f"output {output}, {at['where']}"
        message = f"{name} returned {at['kind']} values in {output}"
        if at["tangent"]:
            message = f"found {at['kind']} values in the tangent of {name}, {output}"
    else:
        named = at.get("kind", "nan" if table.options.check_nan else "inf")
        message = f"a constant, or the result of a part that is not checked, is {named}"
        if source:
            at["argument"] = name = table.arguments[source - 1]
            message = f"{name if ' ' in name else f'argument `{name}`'} is already {named}"
        message += f"; {at['operator']}, {at['where']}, is the first to use it" if site else ""
    lines = [message, *(_details(site, at) if site is not None else ())]
    error = AnomalyError("detect_anomaly: " + "\n  ".join(lines))
    vars(error).update(at)
    return error


def _described(
    site: AnomalySite, output: int, element: int, inputs: int, steps: tuple[int, ...]
) -> dict[str, Any]:
    """Attributes of the error about `site`."""
    index = tuple(int(i) for i in np.unravel_index(element, site.shapes[output]))
    lane = tuple(index[axis] for axis in site.lanes[output])
    kinds = (inputs // 3**i % 3 for i in range(len(site.inputs)))
    where = passes(site.stack)
    return {
        "operator": site.operator,
        "output": output,
        "tangent": site.tangents[output],
        "index": index,
        "inputs": tuple(f"{x} ({_HOLDS[k]})" for x, k in zip(site.inputs, kinds, strict=True)),
        "stack": site.stack,
        "where": f"{where}, in the rule of {site.rule}" if site.rule else where,
        "rule": site.rule,
        "lane": lane[0] if len(lane) == 1 else lane or None,
        "steps": steps,
        "line": site.line,
    }


def _details(site: AnomalySite, at: dict[str, Any]) -> Iterator[str]:
    """The lines below the message."""
    if site.line is not None:
        yield f"line: {site.line}"
    yield f"output: {site.outputs[at['output']]}, first at {list(at['index'])}"
    yield f"inputs: {', '.join(at['inputs'])}"
    if site.instead and at["kind"] == "nan":
        yield "singular: where a second derivative is infinite, NaN stands for it here, else 0"
        yield f"hint: {site.instead}"
    if at["lane"] is not None:
        yield f"lane: {at['lane']}"
    for loop, step in zip(site.loops, at["steps"], strict=True):
        yield f"step: {step} of {loop}"


def _tuple(lane: Any) -> tuple[int, ...]:
    return lane if isinstance(lane, tuple) else () if lane is None else (lane,)

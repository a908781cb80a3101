"""Where in a recorded program the named taps are, and which of them can be asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.core import ShapedArray

from functx._core import describe, fail
from functx._core.devices.manual_axes import axes_of_type, varying_over
from functx._core.jax_compat import JaxprEqn
from functx._core.rules.tangent_types import inexact
from functx._transforms.programs.labels import label_of
from functx._transforms.programs.walking import inner_programs, opened, type_of

from .primitive import Tap, tap_point
from .replay import can_enter


@dataclasses.dataclass(frozen=True)
class TapSite:
    """A tap in a program: its arrays, with a leading axis for the steps of each `scan` around it.

    - `axes`: the mesh axes over which each array varies, inside `jax.shard_map`.
    - `sometimes`: whether it lies in one branch of a `cond`, and not in all.
    - `refusal`: why it cannot be asked for, if so, and a hint.
    """

    tap: Tap
    types: tuple[ShapedArray, ...]
    axes: tuple[frozenset[str], ...]
    sometimes: bool = False
    refusal: tuple[str, str] = ("", "")

    def stacked(self, length: int) -> TapSite:
        """This tap inside a loop of `length` steps."""
        types = [ShapedArray((length, *t.shape), t.dtype) for t in self.types]
        return dataclasses.replace(self, types=tuple(types))

    def zeros(self) -> list[Array]:
        """Zeros like the arrays that have derivatives."""
        return [
            varying_over(jnp.zeros(t.shape, t.dtype), axes)
            for t, axes in zip(self.types, self.axes, strict=True)
            if inexact(t)
        ]

    def gradients(self, leaves: Sequence[Array]) -> Any:
        """The tree that was tapped, of `leaves`, which are like `zeros()`; `None` elsewhere."""
        given = iter(leaves)
        return self.tap.tree.unflatten([next(given) if inexact(t) else None for t in self.types])


def asked_for(who: str, program: Any, names: Any, *, always: bool) -> dict[str, TapSite]:
    """The taps called `names`, or all; refuses names that do not tell one tap from another.

    `always`: whether a tap must lie in all branches of a `cond`.
    """
    there = _apart(_sites(program))
    wanted = there if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in there:
            known = ", ".join(map(repr, sorted(there))) or "none"
            fail(
                who,
                f"`names` asks for {describe(name)}, and `func` has no such tap; it has: {known}",
                error=ValueError,
            )
        refusal, hint = there[name].refusal
        if always and there[name].sometimes:
            refusal = "where a `cond` takes another branch it has no value"
        if refusal:
            what = f"the tap {name!r} cannot be asked for: {refusal}"
            fail(who, what, hint=hint or "names=(...) asks for others alone", error=ValueError)
    return {name: there[name] for name in wanted}


def _sites(program: Any) -> Iterator[tuple[str, TapSite]]:
    for eqn in opened(program)[0].eqns:
        if eqn.primitive is tap_point:
            tap = eqn.params["tap"]
            if tap.name is not None:
                avals = [*map(type_of, eqn.invars)]
                types = tuple([ShapedArray(a.shape, a.dtype) for a in avals])
                yield tap.name, TapSite(tap, types, tuple(map(axes_of_type, avals)))
        else:
            yield from _inside(eqn)


def _inside(eqn: JaxprEqn) -> Iterator[tuple[str, TapSite]]:
    if eqn.primitive.name == "cond":
        yield from _chosen([_apart(_sites(inner)) for inner in inner_programs(eqn)])
        return
    for inner in inner_programs(eqn):
        for name, site in _sites(inner):
            if not can_enter(eqn):
                site = dataclasses.replace(site, refusal=_closed(eqn))
            elif eqn.primitive.name == "scan":
                site = site.stacked(eqn.params["length"])
            yield name, site


def _chosen(branches: list[dict[str, TapSite]]) -> Iterator[tuple[str, TapSite]]:
    """The taps in the branches of a `cond`: one name is one tap, wherever it occurs."""
    for name in {name: None for branch in branches for name in branch}:
        sites = [branch[name] for branch in branches if name in branch]
        site, sometimes = sites[0], len(sites) < len(branches) or any(s.sometimes for s in sites)
        alike = {(s.types, s.tap.tree) for s in sites}
        refusal = next((s.refusal for s in sites if s.refusal[0]), ("", ""))
        if len(alike) > 1:
            refusal = ("in the branches of a `cond` its shapes or dtypes differ", "")
        yield name, dataclasses.replace(site, sometimes=sometimes, refusal=refusal)


def _apart(sites: Iterator[tuple[str, TapSite]]) -> dict[str, TapSite]:
    found: dict[str, TapSite] = {}
    for name, site in sites:
        found[name] = dataclasses.replace(site, refusal=_SEVERAL) if name in found else site
    return found


_SEVERAL = (
    "`func` has several taps of this name",
    "name them apart, in a Python loop functx.taps.tap(x, f'h{i}')",
)


def _closed(eqn: JaxprEqn) -> tuple[str, str]:
    label = label_of(eqn)
    if label == "while":
        return (
            "it is inside a `while_loop`, whose number of steps no shape can depend on",
            "jax.lax.scan, and fori_loop between Python ints, give a gradient for each step",
        )
    if label.startswith("custom_"):
        return "it is inside a function that has a derivative rule of its own", ""
    return f"it is inside a `{label}`, which taps are not followed into", ""

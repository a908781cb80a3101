"""What a facade shows, and what it says of a name that it lacks."""

from __future__ import annotations

import functools as ft
import importlib
import inspect
import sys
import warnings
from typing import Any

from ._core import near_names
from ._remedies import REMEDIES, remedy_of_family


# Where JAX keeps an operator that is missing here, by facade; the first that has it is named.
_PLACES = {
    "functx": ("jax.numpy", "jax.lax", "jax.scipy.special", "jax.nn", "jax.numpy.linalg"),
    "functx.fft": ("jax.numpy.fft",),
    "functx.linalg": ("jax.numpy.linalg", "jax.scipy.linalg", "jax.numpy"),
    "functx.masked": ("jax.numpy",),
    "functx.nn": ("jax.nn",),
    "functx.nn.functional": ("jax.nn", "jax.numpy"),
    "functx.signal.windows": ("jax.numpy",),
    "functx.special": ("jax.scipy.special", "jax.numpy"),
}
# What JAX has that is no operator, by facade: keys, devices, callbacks, other transforms.
_JAXS_OWN = {"functx": "jax", "functx.debug": "jax.debug", "functx.random": "jax.random"}
# Operators that JAX has under another name.
COUNTERPARTS = {
    "hann": "jax.numpy.hanning",
    "hardsigmoid": "jax.nn.hard_sigmoid",
    "hardswish": "jax.nn.hard_swish",
    "hardtanh": "jax.nn.hard_tanh",
    "logsigmoid": "jax.nn.log_sigmoid",
    "softsign": "jax.nn.soft_sign",
}
# Modules of functx for its tools, which are imported where they are first used.
TOOLS = (
    "amp",
    "aot",
    "backends",
    "checkpointing",
    "curvature",
    "func",
    "implicit",
    "interop",
    "memory",
    "nested",
    "profiler",
    "residuals",
    "sparse",
    "sparsity",
    "taps",
)
# Old places of names, by facade, with the new ones. They work for one minor version.
MOVED = {
    "functx": {
        "AnomalyError": "functx.debug.AnomalyError",
        "CheckpointPolicy": "functx.checkpointing.CheckpointPolicy",
        "checkpoint_report": "functx.checkpointing.checkpoint_report",
        "checkpoint_sequential": "functx.checkpointing.checkpoint_sequential",
        "custom_fixed_point": "functx.implicit.custom_fixed_point",
        "custom_linear_solve": "functx.implicit.custom_linear_solve",
        "custom_root": "functx.implicit.custom_root",
        "detect_anomaly": "functx.debug.detect_anomaly",
        "disable_residual_hooks": "functx.residuals.disable_residual_hooks",
        "fused_update": "functx.taps.fused_update",
        "graph": "functx.autograd.graph.make_graph",
        "offload_residuals": "functx.residuals.offload_residuals",
        "once_differentiable": "functx.autograd.once_differentiable",
        "residual_hooks": "functx.residuals.residual_hooks",
        "saved_residuals": "functx.residuals.saved_residuals",
        "tap": "functx.taps.tap",
        "tap_grads": "functx.taps.tap_grads",
        "tap_group": "functx.taps.tap_group",
        "tap_values": "functx.taps.tap_values",
        "value_and_tap_grads": "functx.taps.value_and_tap_grads",
        "with_rule_hooks": "functx.taps.with_rule_hooks",
    }
}
_MODULES = "functx.nn.functional has functions; Equinox and Flax have modules with parameters"

_facades: dict[str, list[str]] = {}  # those equipped, and their public names


def equip(facade: str, *, modules: tuple[str, ...] = (), inner: bool = True) -> None:
    """Makes the public names that the module has by now its `dir()` and its star import.

    `modules` are in it too, and imported where they are first used; `dir()` shows them, a star
    import leaves them out. `inner` says whether other modules inside of it are public, which are
    names of it once they are imported. What else is asked for gets an AttributeError that says what
    to use. Set from here, where type checkers do not look: a `__getattr__` in the facade's text
    would let any name pass.
    """
    names = vars(sys.modules[facade])
    public = sorted(
        name
        for name, value in names.items()
        if not name.startswith("_") and (inner or not inspect.ismodule(value))
    )
    names["__all__"], names["__dir__"] = public, lambda: sorted({*public, *modules})
    names["__getattr__"] = ft.partial(_missing, facade, modules)
    _facades[facade] = sorted({*public, *modules})


def _missing(facade: str, modules: tuple[str, ...], name: str) -> Any:
    """The module of that name, what has that name in another place now, or an AttributeError."""
    if name in modules:
        return importlib.import_module(f"{facade}.{name}")
    if home := _moved(facade).get(name):
        message = f"{facade}.{name} is {home} now; the old name works for one minor version"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return _named(home)
    hint = "" if name.startswith("_") else _hint(facade, name)
    message = f"module {facade!r} has no attribute {name!r}"
    # With `obj` given, Python makes no guess of its own below ours.
    raise AttributeError(message + (f"\n  hint: {hint}" if hint else ""), name=name, obj=None)


def _hint(facade: str, name: str) -> str:
    if known := counterpart(facade, name):
        return known
    moved = _moved(facade)
    near = [moved.get(found, found) for found in near_names(name, [*_facades[facade], *moved])]
    return f"did you mean {' or '.join(near)}?" if near else ""


def _moved(facade: str) -> dict[str, str]:
    return MOVED.get(facade, {})


def _named(path: str) -> Any:
    """What a full name stands for."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def counterpart(facade: str, name: str) -> str:
    """What to use for a name that a facade lacks, "" if nothing is known of it."""
    for known in (f"{facade}.{name}".removeprefix("functx."), name):
        if known in REMEDIES:
            return REMEDIES[known]
    if facade == "functx.masked" and (function := _in_jax(facade, name)):
        return f"{_still_to_come(function)} with where=mask"
    if name.endswith("_with_indices") and name[:-13] in _facades["functx.nn.functional"]:
        return f"functx.nn.functional.{name[:-13]}(..., return_indices=True)"
    if elsewhere := _elsewhere(name):
        return f"it is {' or '.join(elsewhere)}"
    if name.endswith("_") and name[:-1] in _facades[facade]:
        return f"arrays are immutable: x = {facade}.{name[:-1]}(x, ...)"
    if name in COUNTERPARTS:
        return _still_to_come(COUNTERPARTS[name])
    if function := _in_jax(facade, name):
        return _still_to_come(function)
    if facade in _JAXS_OWN and name in vars(importlib.import_module(_JAXS_OWN[facade])):
        return f"it is JAX's: {_JAXS_OWN[facade]}.{name}"
    if facade == "functx.nn" and name[:1].isupper():
        return _MODULES
    families = ("functx", "functx.masked", "functx.nn.functional")
    return remedy_of_family(name) if facade in families else ""


def _elsewhere(name: str) -> list[str]:
    """The full names of what other facades have under that name, each under one of its names."""
    for tool in TOOLS:
        importlib.import_module(f"functx.{tool}")
    found: dict[int, str] = {}
    for facade in sorted(_facades, key=len):
        if name in _facades[facade]:
            found.setdefault(id(getattr(sys.modules[facade], name)), f"{facade}.{name}")
    return list(found.values())


def _in_jax(facade: str, name: str) -> str | None:
    """The full name of JAX's function of that name; of a masked operator, one that takes masks."""
    for place in _PLACES.get(facade, ()):
        found = vars(importlib.import_module(place)).get(name)
        if callable(found) and not inspect.isclass(found):
            masks = facade != "functx.masked" or "where" in inspect.signature(found).parameters
            return f"{place}.{name}" if masks else None
    return None


def _still_to_come(counterpart: str) -> str:
    return f"no operator here, as yet; JAX has {counterpart.replace('jax.numpy', 'jnp')}"

"""What stands between the user's call of an operator and its compiled program.

Each function here wraps one concern around a call; an operator wears only those that
its declaration asks for, so that `add` pays for a bare `try` and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from .catalog import OpSpec
from .devices import place
from .errors import describe, refuse, Refused
from .random import as_key, Draw, draw
from .running import bound, canonicalize, with_defaults
from .signature import frozen, WITH_VALUES
from .values import agreed_size, enforce, on_cpu, peek


Call = Callable[..., Any]


def guarded(spec: OpSpec, call: Call) -> Call:
    """Words what goes wrong in the operator's name."""
    name = spec.name

    def operator(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except Refused as refused:
            renamed = _pytorch_names(spec, kwargs)
            if renamed != kwargs:
                return operator(*args, **renamed)
            worded = refused.by(name)
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, jax.errors.JAXTypeError) or str(error).startswith(f"{name}: "):
                raise
            return _second_attempt(spec, call, args, kwargs, error)
        raise worded from None

    return operator


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def _pytorch_names(spec: OpSpec, kwargs: dict[str, Any]) -> dict[str, Any]:
    """PyTorch takes NumPy's `axis` and `keepdims` for its own `dim` and `keepdim`, and so we do."""
    names = {theirs: ours for theirs, ours in _NUMPY_NAMES.items() if theirs not in spec.notes}
    return {names[k] if names.get(k) in spec.notes else k: v for k, v in kwargs.items()}


def _second_attempt(
    spec: OpSpec, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Any:
    """With hashable static arguments; failing that, an error that says what is wrong."""
    try:
        given = bound(spec, args, kwargs)
        mended = {k: frozen(v) if k in spec.static else v for k, v in given.items()}
        if any(not _alike(mended[k], given[k]) for k in spec.static if k in given):
            return call(**mended)
        _diagnose(spec, given, error)
    except Refused as refused:
        worded = refused.by(spec.name)
    else:
        raise error
    raise worded from None


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    return type(a) is type(b)


def freezing(spec: OpSpec, call: Call) -> Call:
    """Makes `dim=[0, 1]` a tuple: static arguments are hashed."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        if list in map(type, args) or list in map(type, kwargs.values()):
            given = bound(spec, args, kwargs)
            kwargs = {k: frozen(v) if k in spec.static else v for k, v in given.items()}
            args = ()
        return call(*args, **kwargs)

    return operator


def _diagnose(spec: OpSpec, given: dict[str, Any], error: Exception) -> None:
    for name, value in given.items():
        if name in spec.traced:
            for leaf in jax.tree.leaves(value):
                if isinstance(leaf, (jax.Array, np.ndarray, np.generic, bool, float, complex)):
                    continue
                if isinstance(leaf, int):
                    if isinstance(error, OverflowError):
                        refuse(
                            f"`{name}` does not fit the widest integer, got {leaf}",
                            hint="functx.enable_x64() gives 64-bit integers",
                            error=OverflowError,
                        )
                    continue
                kind = f"{type(leaf).__module__}.{type(leaf).__qualname__}"
                hint = "jnp.asarray(x.numpy()) makes a JAX array" if "torch" in kind else ""
                refuse(f"`{name}` must be an array, got {kind}", hint=hint, error=TypeError)
        elif isinstance(value, Tracer):
            refuse(
                f"`{name}` must be known while tracing, got {describe(value)}",
                hint=f"mark what it comes from as static: jax.jit(f, static_argnames='{name}')",
                error=TypeError,
            )


def reformed(spec: OpSpec, call: Call, form: Callable[..., Any]) -> Call:
    """Accepts another of PyTorch's signatures."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = form(args, kwargs)
        return call(*args, **kwargs)

    return operator


def with_key(spec: OpSpec, call: Call) -> Call:
    """Draws from the ambient generator where no key is given."""

    name, sometimes = spec.key_parameter, spec.draws is not None

    def operator(*args: Any, **kwargs: Any) -> Any:
        if sometimes and not spec.draws_key(*args, **kwargs):
            kwargs.pop(name, None)
        elif kwargs.get(name) is None:
            kwargs[name] = draw()
        elif not isinstance(kwargs[name], Draw):
            kwargs[name] = as_key(kwargs[name])
        return call(*args, **kwargs)

    return operator


def placing(spec: OpSpec, call: Call) -> Call:
    """Puts the result where `device=` says."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.pop("device", None)
        out = call(*args, **kwargs)
        return out if device is None else place(out, device)

    return operator


def measuring(spec: OpSpec, call: Call, counts: Mapping[str, Call]) -> Call:
    """Counts the sizes that were left out, where values are at hand."""
    left_out = {name: spec.signature.parameters[name].default for name in counts}

    def operator(*args: Any, **kwargs: Any) -> Any:
        if all(kwargs.get(name, default) != default for name, default in left_out.items()):
            return call(*args, **kwargs)
        given = bound(spec, args, kwargs)
        for name, count in counts.items():
            if given.get(name, left_out[name]) == left_out[name]:
                given[name] = agreed_size(count(**given), name)
        return call(**given)

    return operator


def requiring(spec: OpSpec, call: Call) -> Call:
    """Checks values eagerly and on the CPU, while the program runs: its shapes are right then."""
    requires = spec.requires
    assert requires is not None
    valued = tuple(name for name in spec.traced if spec.notes[name] in WITH_VALUES)

    def operator(*args: Any, **kwargs: Any) -> Any:
        out = call(*args, **kwargs)
        given = bound(spec, args, kwargs)
        known = {name: jax.tree.map(_known, given[name]) for name in valued if name in given}
        if not any(x is _UNKNOWN for x in jax.tree.leaves(known)):
            given = {k: frozen(v) if k in spec.static else v for k, v in given.items()}
            given = {**spec.canonical_defaults, **given}
            canonical = {k: v for k, v in given.items() if spec.notes[k] != "Key"}
            canonicalize(spec, canonical)
            enforce(requires(np, **with_defaults(spec, canonical | known)))
        return out

    return operator


_UNKNOWN = object()


def _known(x: Any) -> Any:
    values = peek(x) if on_cpu(x) else None
    return _UNKNOWN if values is None else values

"""`@operator`: the one way into the catalog.

Whatever depends only on dtypes, shapes and static arguments (promotion, checks,
autocast) runs while tracing, so a second call with the same signature pays for none
of it.
"""

from __future__ import annotations

import functools as ft
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import jax

from .calling import freezing, guarded, measuring, placing, reformed, requiring, with_key
from .catalog import Autocast, Form, OpSpec, register, torch_path
from .dtypes import Accepts
from .promotion import Promote
from .running import run
from .signature import parameter_notes, PROMOTING, SEQUENCES, TRACED
from .values import Requirements


_P = ParamSpec("_P")
_R = TypeVar("_R")


def operator(
    *,
    name: str | None = None,
    promote: Promote = Promote.DEFAULT,
    accepts: Accepts = Accepts.ANY,
    autocast: Autocast = Autocast.KEEP,
    differentiable: bool = True,
    random: bool = False,
    draws: Callable[..., bool] | None = None,
    measured: Mapping[str, Callable[..., Any]] | None = None,
    requires: Requirements | None = None,
    form: Form | None = None,
    aliases: tuple[str, ...] = (),
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Adds a function to the catalog as a compiled, promoting, torch-named operator.

    - `name`: its full name, such as `"linalg.cholesky"`, where that is not the namespace of its
      folder and the name of the function.
    - `promote`, `accepts`, `autocast`: what happens to dtypes; see the enumerations.
    - `differentiable`: false if no output ever carries a tangent.
    - `random`: the function has a parameter `key: Key = None` and always receives a key. One
      that PyTorch calls `key` itself may name it otherwise: the annotation counts.
    - `draws`: a function of all arguments by name that says whether a call of a random operator
      needs a key; if not, none is drawn, and the function receives None.
    - `measured`: for each size that depends on values, a function of the same arguments
      that counts it; the static parameter of that name is then left out by most callers.
    - `requires`: what the values of the arguments must satisfy. Checked eagerly on the
      CPU, and inside `functx.debug.checked`.
    - `form`: rewrites `(args, kwargs)` where PyTorch has several signatures.
    - `aliases`: other full names, such as `"absolute"` or `"linalg.inverse"`.
    """

    def declare(rule: Callable[_P, _R]) -> Callable[_P, _R]:
        signature = inspect.signature(rule)
        notes = parameter_notes(signature)
        traced = tuple(name for name, note in notes.items() if note in TRACED)
        spec = OpSpec(
            name=name or torch_path(rule),
            rule=rule,
            signature=signature,
            promoting=tuple(name for name, note in notes.items() if note in PROMOTING),
            traced=traced,
            static=tuple(name for name in notes if name not in traced),
            notes=notes,
            promote=promote,
            accepts=accepts,
            autocast=autocast,
            differentiable=differentiable,
            random=random,
            draws=draws,
            measured=dict(measured or {}),
            requires=requires,
            form=form,
            aliases=aliases,
        )
        compiled = _compiled(spec, ft.partial(run, spec))
        call = compiled
        if SEQUENCES & set(notes.values()):
            call = freezing(spec, call)
        if "device" in notes:
            call = placing(spec, call)
        if requires is not None:
            call = requiring(spec, call)
        if measured:
            counts = {
                name: _compiled(spec, ft.partial(run, spec, rule=count))
                for name, count in measured.items()
            }
            call = measuring(spec, call, counts)
        if random:
            call = with_key(spec, call)
        if form is not None:
            call = reformed(spec, call, form)
        public: Any = ft.wraps(rule)(guarded(spec, call))
        public.spec = spec
        public.__name__ = spec.name.rpartition(".")[2]
        register(spec, public)
        return public

    return declare


def _compiled(spec: OpSpec, function: Callable[..., Any]) -> Callable[..., Any]:
    """One cached XLA program per signature; in what JAX traces, one call named after it."""
    named = ft.wraps(spec.rule)(function)
    named.__name__ = spec.name  # pyright: ignore[reportAttributeAccessIssue]
    named.__signature__ = spec.signature  # pyright: ignore[reportAttributeAccessIssue]
    return jax.jit(named, static_argnames=spec.static)

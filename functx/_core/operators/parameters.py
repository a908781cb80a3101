"""An operator's parameters, and the one way in which a call's arguments become theirs."""

from __future__ import annotations

import dataclasses
import functools as ft
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import jax
import numpy as np
from jax.core import Tracer

from functx._core.errors import describe, foreign_hint, refuse, Refused
from functx._core.foreign_keywords import OF_OPERATORS
from functx._core.numbers.dtypes import is_numeric
from functx._core.numbers.wide_integers import refuse_wide
from functx._core.randomness.generators import Generator

from .roles import Role, role_of, RoleKind


# What PyTorch accepts for its own names.
_NUMPY_NAMES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
}
_NUMBERS = (bool, int, float, complex)
_ARRAYS = (jax.Array, np.ndarray, np.generic)


class WrongKind(Refused):
    """What is given is no array, or no sequence of arrays."""


class Parameters:
    """The parameters of a declared function: their roles, names, synonyms and defaults."""

    def __init__(
        self, who: str, rule: Callable[..., Any], synonyms: Mapping[str, str], needs_array: bool
    ):
        self.who = who
        self._written = inspect.signature(rule)
        roles = {p.name: role_of(who, p.name, p.annotation) for p in self._parameters()}
        self.roles = {n: role for n, role in roles.items() if role.kind is not RoleKind.GENERATOR}
        each = [p for p in self._parameters() if p.name in self.roles]
        # As the rule is called: a generator has given its key by then.
        self.signature = self._written.replace(parameters=each)
        self.synonyms = {
            theirs: ours
            for theirs, ours in (_NUMPY_NAMES | dict(synonyms)).items()
            if ours in self.roles and theirs not in self.roles
        }
        for name in self._named(lambda role: role.kind is RoleKind.KEY):
            self.synonyms["generator"] = name
        self.defaults = {p.name: p.default for p in each if p.default is not p.empty}
        self.positional = tuple(p.name for p in each if p.kind is p.POSITIONAL_OR_KEYWORD)
        self._required = self.roles.keys() - self.defaults.keys()
        self._needs_array = needs_array

    @ft.cached_property
    def promoting(self) -> tuple[str, ...]:
        """The parameters that decide the dtype."""
        return self._named(lambda role: role.kind is RoleKind.ARRAY)

    @ft.cached_property
    def traced(self) -> tuple[str, ...]:
        """The parameters that are arguments of the compiled program: arrays, numbers and keys."""
        return self._named(lambda role: role.traced)

    @ft.cached_property
    def static(self) -> tuple[str, ...]:
        """The parameters that are not traced: part of the key of the compiled program."""
        return self._named(lambda role: not role.traced)

    @ft.cached_property
    def numbers_to_fit(self) -> tuple[str, ...]:
        """The parameters for numbers that a dtype must hold."""
        return self._named(lambda role: role.fits is not None)

    @ft.cached_property
    def _arrays_only(self) -> tuple[str, ...]:
        return self._named(lambda role: not role.takes_number)

    @ft.cached_property
    def _listed(self) -> bool:
        return any(role.several and not role.traced for role in self.roles.values())

    def _parameters(self) -> Iterable[inspect.Parameter]:
        return self._written.parameters.values()

    def _named(self, chosen: Callable[[Any], bool]) -> tuple[str, ...]:
        return tuple(name for name, role in self.roles.items() if chosen(role))

    @property
    def settles(self) -> bool:
        """Whether `settled` has anything to do."""
        return self._listed or bool(self._arrays_only) or self._needs_array

    def renamed(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """`kwargs` under the declared names: `dim` for NumPy's `axis`, a generator as the key."""
        out = {}
        for name, value in self._with_key(kwargs).items():
            ours = self.synonyms.get(name, name)
            if ours in out or (ours != name and ours in kwargs):
                refuse(f"`{ours}` is given twice, once as `{name}`", error=TypeError)
            out[ours] = value
        return out

    def _with_key(self, kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """`kwargs` with a generator in the place of the key."""
        key = self.synonyms.get("generator")
        if key is None or "generator" not in kwargs:
            return kwargs
        others = {name: value for name, value in kwargs.items() if name != "generator"}
        generator = kwargs["generator"]
        if generator is None:
            return others
        if not isinstance(generator, Generator):
            refuse(
                f"`generator` must be a functx.Generator, got {describe(generator)}",
                hint=f"functx.Generator().manual_seed(0) is one; {key}= takes a PRNG key",
                error=TypeError,
            )
        if others.get(key) is not None:
            refuse(f"`{key}` and `generator` are both given", error=TypeError)
        return others | {key: generator}

    def settled(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with static lists as tuples; refuses numbers in place of arrays."""
        if self._listed and (list in map(type, args) or list in map(type, kwargs.values())):
            args, kwargs = self.frozen(args, kwargs)
        for name in self._arrays_only:
            _check_no_number(name, self.roles[name], self._value(name, args, kwargs))
        if self._needs_array:
            given = [self._value(name, args, kwargs) for name in self.promoting]
            if all(type(value) in _NUMBERS for value in given):
                refuse(
                    f"{' or '.join(f'`{name}`' for name in self.promoting)} must be an array, "
                    f"got {' and '.join(map(describe, given))}",
                    hint="with numbers alone, Python's own operators do",
                    error=TypeError,
                )
        return args, kwargs

    def _value(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        given_by_position = name in self.positional[: len(args)]
        return args[self.positional.index(name)] if given_by_position else kwargs.get(name)

    def frozen(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with static ones in hashable form: they are part of a program's key."""
        names = self.positional
        static = self.static
        args = tuple(
            frozen(value) if at < len(names) and names[at] in static else value
            for at, value in enumerate(args)
        )
        return args, {k: frozen(v) if k in static else v for k, v in kwargs.items()}

    def mended(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as `frozen` gives them; instances of a user's list class are lists."""
        args, kwargs = self.frozen(args, kwargs)
        named = zip(self.positional, args, strict=False)
        front = [_plain(x) if self.roles[name].several else x for name, x in named]
        return (*front, *args[len(front) :]), {
            name: _plain(x) if name in self.roles and self.roles[name].several else x
            for name, x in kwargs.items()
        }

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name, or a refusal that says which one does not belong."""
        given = dict(zip(self.positional, args, strict=False))
        names = given.keys() | kwargs.keys()
        if (
            len(args) + len(kwargs) > len(names)
            or not names <= self.roles.keys()
            or not names >= self._required
        ):
            self._refuse(args, kwargs)
        given.update(kwargs)
        return {name: given[name] for name in self.roles if name in given}

    def _refuse(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        for name in kwargs:
            if name in OF_OPERATORS and name not in self.roles:
                refuse(f"`{name}` does not exist here", hint=OF_OPERATORS[name], error=TypeError)
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            hint = f"the signature is {self.who}{self._plain_signature()}"
            refuse(str(error), hint=hint, error=TypeError)

    def _plain_signature(self) -> str:
        each = [p.replace(annotation=p.empty) for p in self._parameters()]
        nothing = inspect.Signature.empty
        return str(self._written.replace(parameters=each, return_annotation=nothing))

    def check_kinds(self, given: Mapping[str, Any]) -> None:
        """Refuses arguments that are no arrays, or no sequences of arrays, where these are due."""
        for name, value in given.items():
            role = self.roles[name]
            if not role.traced or role.kind is RoleKind.KEY or (value is None and role.optional):
                continue
            alone = (*_ARRAYS, *_NUMBERS) if role.takes_number else _ARRAYS
            if not role.several or (role.or_single and isinstance(value, alone)):
                _check_array(name, role, value)
            elif not isinstance(value, (tuple, list)):
                _refuse_kind(name, role, value)
            else:
                if any(isinstance(item, (tuple, list)) for item in value):
                    what = f"`{name}` must be {role.words}, got nested sequences"
                    refuse(what, error=TypeError)
                one = dataclasses.replace(role, several=False)
                for i, item in enumerate(value):
                    if item is None and role.kind is RoleKind.UNPROMOTED:
                        continue  # a dimension left as it is, or what the rule refuses
                    _check_array(f"{name}[{i}]", one, item)

    def diagnose(self, given: Mapping[str, Any]) -> None:
        """Refuses what JAX cannot take as an argument, in this operator's terms."""
        for name, value in given.items():
            role = self.roles[name]
            if role.traced:
                for leaf in jax.tree.leaves(value):
                    _check_fits(name, role, leaf)
            elif isinstance(value, Tracer):
                refuse(
                    f"`{name}` must be known while tracing, got {describe(value)}",
                    hint=f"mark what it comes from as static: jax.jit(f, static_argnames='{name}')",
                    error=TypeError,
                )
            elif not _hashable(value):
                refuse(f"`{name}` must be {role.words}, got {describe(value)}", error=TypeError)
        self.check_kinds(given)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _plain(value: Any) -> Any:
    """A plain list or tuple for an instance of a subclass, which JAX's trees take for a leaf."""
    if type(value) in (list, tuple) or hasattr(value, "_fields"):
        return value
    return next((kind(value) for kind in (list, tuple) if isinstance(value, kind)), value)


def _check_array(name: str, role: Role, value: Any) -> None:
    if not isinstance(value, (*_ARRAYS, *_NUMBERS)):
        _refuse_kind(name, role, value)
    if isinstance(value, _ARRAYS) and not is_numeric(value.dtype):
        refuse(f"`{name}` must be an array of numbers, got {describe(value)}", error=TypeError)


def _check_no_number(name: str, role: Role, value: Any) -> None:
    if type(value) in _NUMBERS:
        what = f"`{name}` must be {role.words}, got {describe(value)}"
        refuse(what, hint=f"jnp.asarray({name}) makes an array", error=TypeError)
    if role.several and isinstance(value, (tuple, list)):
        one = dataclasses.replace(role, several=False)
        for i, item in enumerate(value):
            _check_no_number(f"{name}[{i}]", one, item)


def _check_fits(name: str, role: Role, leaf: Any) -> None:
    if not isinstance(leaf, (*_ARRAYS, *_NUMBERS)):
        _refuse_kind(name, role, leaf)
    refuse_wide(name, leaf)


def _refuse_kind(name: str, role: Role, value: Any) -> NoReturn:
    listed = isinstance(value, (tuple, list))
    hint = "jnp.asarray makes an array of nested lists" if listed else foreign_hint(value)
    raise WrongKind(f"`{name}` must be {role.words}, got {describe(value)}", hint, TypeError)


def frozen(x: Any) -> Any:
    """A static argument in hashable form: lists become tuples, and so do the values of arrays."""
    if isinstance(x, (list, tuple)):
        return tuple(frozen(item) for item in x)
    if isinstance(x, (jax.Array, np.ndarray)) and not isinstance(x, Tracer) and is_numeric(x.dtype):
        return frozen(np.asarray(x).tolist())
    return x

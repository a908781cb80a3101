"""Which entries and samples have rules of their own, by what a trace of them calls."""

from __future__ import annotations

import contextlib
import functools as ft
import inspect
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import jax
from jax.extend.core import jaxprs_in_params
from jax.interpreters import ad

from functx._core import category
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing.opinfo import OpInfo, Sample

from .cases import sized, whole_function, whole_program


# JAX's functions have rules too, which JAX tests; in a function of yours they are yours.
_RULES = {"function_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"}
_CUTS = {"stop_gradient", "custom_linear_solve"}  # where a derivative is not that of the values

OwnPart: TypeAlias = Literal["derivative", "reverse", "batching"]


@ft.lru_cache(maxsize=1024)
def own_parts(info: OpInfo, sample: Sample) -> frozenset[OwnPart]:
    """What JAX does not derive from a sample's program: it may be wrong where the values are right.

    A derivative is its own where a rule gives it or something cuts it; a reverse one, where a
    reverse rule does; batching, where the operator brings a primitive.
    """
    try:
        program, arrays = whole_program(info, sized(info, sample))
        jaxpr = program.trace(*arrays).jaxpr.jaxpr
    except Exception:  # the check that looks at the sample fails with it
        return frozenset[OwnPart]({"derivative", "reverse", "batching"})
    return frozenset[OwnPart]().union(*map(_parts, _equations(jaxpr)))


def _parts(eqn: Any) -> frozenset[OwnPart]:
    if eqn.primitive.name == "function_call":
        return frozenset({"derivative", "reverse"} if _given_in_reverse(eqn) else {"derivative"})
    return _parts_of(eqn.primitive)


@ft.cache
def _parts_of(primitive: Any) -> frozenset[OwnPart]:
    if primitive.name in _CUTS:
        return frozenset({"derivative"})
    if primitive.name in _RULES:
        return frozenset({"derivative", "reverse"})
    if primitive.name == "custom_vmap_call" or any(map(_is_own, _rules_of(primitive))):
        return frozenset({"derivative", "reverse", "batching"})
    return frozenset()


def _rules_of(primitive: Any) -> Iterator[Any]:
    return (r[primitive] for r in (ad.primitive_jvps, ad.primitive_transposes) if primitive in r)


def _is_own(rule: Any) -> bool:
    while isinstance(rule, ft.partial):
        rule = rule.func
    return _followed(getattr(rule, "__module__", None))


@ft.lru_cache(maxsize=1024)
def has_own_rules(info: OpInfo) -> bool:
    """Whether a sample's trace calls a function whose derivative is given, not derived.

    In an operator, a reverse rule must be: of a forward rule alone all other transforms are
    derived, by code that all operators share.
    """
    if not info.differentiable:
        return False
    if info.spec is not None and not mentions_reverse_rules(info.spec.rule):
        return False  # most of them: tracing all samples of all takes half a minute
    own = _given_in_reverse if info.spec is not None else _given
    dtype = next((d for d in ("float64", "float32", "complex128") if d in info.accepted), None)
    if dtype is None:
        return False
    for sample in info.draw(dtype, lanes=1):
        f, arrays = whole_function(info, sized(info, sample))
        if any(category(x.dtype) >= 2 for x in arrays):
            if any(map(own, _equations(jax.make_jaxpr(f)(*arrays).jaxpr))):
                return True
    return False


def _given(eqn: Any) -> bool:
    return eqn.primitive.name in _RULES


def _given_in_reverse(eqn: Any) -> bool:
    return eqn.primitive.name == "function_call" and eqn.params["call"].has_reverse


def _equations(jaxpr: Any) -> Iterator[Any]:
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in jaxprs_in_params(eqn.params):
            yield from _equations(inner)


def mentions_reverse_rules(f: Any) -> bool:
    """Whether any code that `f` may call gives reverse rules, by the names in it."""
    return any(map(_gives_reverse, functions_within(f)))


def functions_within(f: Any) -> Iterator[types.FunctionType]:
    """The functions that `f` may call, itself included, by the names in their code."""
    met: dict[int, Any] = {}
    waiting = [f]
    while waiting:
        x = waiting.pop()
        if id(x) in met:
            continue
        met[id(x)] = x
        if inspect.isfunction(x):
            yield x
        waiting += _mentioned(x)


# The code of every function that `derivative_rules` returns.
_RULED = derivative_rules(lambda x: x, jvp=lambda primals, output, tangents: tangents[0]).__code__


def _gives_reverse(f: types.FunctionType) -> bool:
    """Whether `f` has a reverse rule, or may make one where it calls `derivative_rules`."""
    if f.__code__ is _RULED:
        return inspect.getclosurevars(f).nonlocals["vjp"] is not None
    making = [name for name, x in f.__globals__.items() if x is derivative_rules]
    return any(
        _passes_reverse(code) for code in codes_within(f.__code__) if {*making} & {*code.co_names}
    )


def _passes_reverse(code: types.CodeType) -> bool:
    """Whether the names of arguments in its calls are not those of a forward rule alone."""
    names = [set(words) for words in code.co_consts if isinstance(words, tuple)]
    return any("vjp" in words for words in names) or not any("jvp" in words for words in names)


def _mentioned(x: Any) -> Iterator[Any]:
    """What a function, or what holds functions, refers to."""
    if isinstance(x, ft.partial):
        yield from (x.func, *x.args, *x.keywords.values())
    elif isinstance(x, Mapping):
        yield from x.values()
    elif isinstance(x, (list, tuple, set, frozenset)):
        yield from x
    elif isinstance(x, types.MethodType):
        yield from (x.__func__, x.__self__)
    elif isinstance(x, type) and _followed(x.__module__):
        yield from vars(x).values()
    elif isinstance(x, (staticmethod, classmethod)):
        yield x.__func__
    elif isinstance(x, property):
        yield x.fget
    elif isinstance(x, ft.cached_property):
        yield x.func
    elif inspect.isfunction(x):
        yield from _mentioned_in_code(x)
    yield getattr(x, "__wrapped__", None)


def _mentioned_in_code(f: types.FunctionType) -> Iterator[Any]:
    yield from f.__defaults__ or ()
    yield from (f.__kwdefaults__ or {}).values()
    for cell in f.__closure__ or ():
        with contextlib.suppress(ValueError):  # one that is not filled
            yield cell.cell_contents
    if not _followed(f.__module__):
        return
    names = {name for code in codes_within(f.__code__) for name in code.co_names}
    for found in (f.__globals__[name] for name in names & f.__globals__.keys()):
        if not isinstance(found, types.ModuleType):
            yield found
        elif _followed(found.__name__):
            yield from (vars(found)[name] for name in names & vars(found).keys())


_FOREIGN = {"jax", "jaxlib", "numpy", *sys.stdlib_module_names}


def _followed(module: str | None) -> bool:
    """All but JAX and what it stands on, where no rule of functx is met."""
    return (module or "").partition(".")[0] not in _FOREIGN


def codes_within(code: types.CodeType) -> Iterator[types.CodeType]:
    """That of a function, and of those that are written in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from codes_within(inner)

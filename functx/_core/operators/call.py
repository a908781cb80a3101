"""The path of a call, from the user to the operator's compiled program.

The arguments of a call pass these stages, in this order. At every call, in `public_call`, each only
if the operator and the arguments need it:

- given: as the user wrote them.
- renamed: keywords have their declared names, `dim` for NumPy's `axis` (`Parameters.renamed`).
- strong: weakly typed arrays have their own dtype (`weak_types.strong_sequence`).
- rewritten: a call in another of PyTorch's signatures is one in the declared signature
  (`other_signatures=`).
- settled: static lists are tuples; Python numbers in place of arrays are refused
  (`Parameters.settled`).
- checked: integers that the dtype of the arrays cannot hold are refused
  (`python_integers.number_check`, `wide_integers.refuse_wide`).

JAX then looks the program up by the types of traced arguments and the values of static ones. Where
it cannot, because one is not hashable or no argument of JAX's, the call is tried once more:

- mended: all static arguments are hashable (`Parameters.frozen`), sequences of arrays of a user's
  class are plain ones (`Parameters.mended`).

While JAX traces, so once for each signature, in `tracing.trace_operator`:

- bound: by name, in the order of the declaration, what was left out still left out
  (`Parameters.bound`); their kinds are checked.
- promoted: arrays that decide the dtype are in the dtype of computation, and coefficients too.
- canonical: dimensions are not negative, shapes are tuples, dtypes NumPy's, keys typed
  (`tracing.canonicalize`).

The rule receives them so. What must hold of values (`requires=`) is asked of arguments that are
bound and canonical, before promotion.

`add` needs nothing of the first part, and pays for a bare `try`. Where something has to be done
before the program runs or after (a key drawn, a size counted, values judged, a result placed), one
more function each does it, and an operator wears those that its declaration asks for.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from functx._core.context.user_contexts import checking_results
from functx._core.devices.placement import as_device, place
from functx._core.errors import OfCaller, Refused
from functx._core.jax_compat import staging_trace, StaticOptions, straight_to_eager
from functx._core.numbers.vast_floats import refuse_vast
from functx._core.numbers.weak_types import (
    caller_among,
    found_among,
    PLAIN,
    strong_sequence,
    TO_CONVERT,
)
from functx._core.numbers.wide_integers import refuse_wide, wide_integers_fit
from functx._core.randomness.ambient_generator import drawable
from functx._core.randomness.generators import Draw, Generator
from functx._core.randomness.keys import as_key
from functx._core.shapes.symbolic_sizes import known

from .block_splitting import split_in_blocks
from .catalog import OpSpec
from .concrete_values import agreed_size, peek, peek_on_cpu
from .parameters import Parameters, WrongKind
from .python_integers import number_check
from .tracing import required_of, requirements, trace_operator
from .value_requirements import enforce, Requirement


OperatorFunction = Callable[..., Any]


def _program(spec: OpSpec) -> OperatorFunction:
    call = compiled(spec, ft.partial(trace_operator, spec))
    if spec.splits is not None:
        call = split_in_blocks(spec, call, spec.splits)
    if spec.requires is not None and spec.checked_on_request:
        call = _judged_on_request(call, _judged(spec, call))
    elif spec.requires is not None:
        call = _judged(spec, call)
    elif spec.parameters.numbers_to_fit:
        call = _judged_if_given(spec.parameters, plain=call, judged=_judged(spec, call))
    if spec.sizes_from_values:
        call = _measuring(spec, call)
    if "device" in spec.roles:
        call = _placing(call)
    if spec.random:
        call = _with_key(spec, call)
    return call


def compiled(spec: OpSpec, function: OperatorFunction) -> OperatorFunction:
    """One cached XLA program per signature; in what JAX traces, one call named after it."""
    named = ft.wraps(spec.rule)(function)
    named.__name__ = spec.name  # pyright: ignore[reportAttributeAccessIssue]
    named.__signature__ = spec.signature  # pyright: ignore[reportAttributeAccessIssue]
    static = frozenset(spec.static)
    order = enumerate(spec.signature.parameters)
    options = StaticOptions(frozenset(i for i, name in order if name in static), static)
    return straight_to_eager(jax.jit(named, static_argnames=spec.static), options)


def public_call(spec: OpSpec) -> OperatorFunction:
    """What users call: it settles arguments, and words errors in the operator's name.

    All else is made at the first call, not by the import.
    """
    made: tuple[OperatorFunction, Callable[..., bool], Any, Any, Any] | None = None

    def operator(*args: Any, **kwargs: Any) -> Any:
        nonlocal made
        if made is None:
            made = _made(spec)
        call, declared_alone, rewritten, settled, check_numbers = made
        try:
            if kwargs and not declared_alone(kwargs):
                kwargs = spec.parameters.renamed(kwargs)
            found = found_among(args)
            if kwargs:
                found = max(found, found_among(kwargs.values()))
            if found == TO_CONVERT:
                if (caller := caller_among((*args, *kwargs.values()))) is not None:
                    return caller.__functx_operator__(spec, operator, args, kwargs)
                args = strong_sequence(args)
                kwargs = {name: strong_sequence(x) for name, x in kwargs.items()}
            if rewritten is not None:
                args, kwargs = rewritten(args, kwargs)
            if settled is not None:
                args, kwargs = settled(args, kwargs)
            if found != PLAIN and check_numbers is not None:
                check_numbers(args, kwargs)
            if found == TO_CONVERT:
                _refuse_wide(spec, args, kwargs)
            return call(*args, **kwargs)
        except Refused as refused:
            worded = _of_given(spec, args, kwargs, refused).by(spec.name)
        except OfCaller as passed:
            passed.passed_by(spec.name)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            worded_already = str(error).startswith(f"{spec.name}: ")
            if worded_already or isinstance(error, jax.errors.JAXTypeError):
                raise
            return _second_attempt(spec, call, args, kwargs, error)
        except jax.errors.JaxRuntimeError as error:
            if not str(error).startswith("RESOURCE_EXHAUSTED"):
                raise
            worded = MemoryError(f"{spec.name}: {str(error).partition(': ')[2]}")
        raise worded from None

    return operator


def _made(spec: OpSpec) -> tuple[OperatorFunction, Callable[..., bool], Any, Any, Any]:
    """What a call needs: the program, the test of keywords, and what prepares the arguments.

    Last what refuses integers that do not fit, if any may be given.
    """
    parameters = spec.parameters
    declared_alone = parameters.synonyms.keys().isdisjoint
    settled = parameters.settled if parameters.settles else None
    check_numbers = number_check(parameters, spec.promote, spec.zero_dim_promotes_alike)
    return _program(spec), declared_alone, spec.other_signatures, settled, check_numbers


def _refuse_wide(spec: OpSpec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if wide_integers_fit(args) and wide_integers_fit(kwargs.values()):
        return
    for name, value in spec.parameters.bound(args, kwargs).items():
        if name in spec.traced:
            refuse_wide(name, value)


def _second_attempt(
    spec: OpSpec,
    call: OperatorFunction,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    error: Exception,
) -> Any:
    """Calls with arguments in forms that JAX takes; if that fails too, says what is wrong."""
    parameters = spec.parameters
    try:
        mended = parameters.mended(args, kwargs)
        if not _alike((args, *kwargs.values()), (mended[0], *mended[1].values())):
            args, kwargs = mended
            try:
                return call(*args, **kwargs)
            except (TypeError, ValueError, OverflowError) as again:
                error = again
        parameters.diagnose(parameters.bound(args, kwargs))
    except Refused as refused:
        worded = refused.by(spec.name)
    else:
        raise error
    raise worded from None


def _of_given(
    spec: OpSpec, args: tuple[Any, ...], kwargs: dict[str, Any], refused: Refused
) -> Refused:
    """The refusal in terms of what was given: while JAX traces, numbers in a list are arrays."""
    if isinstance(refused, WrongKind):
        try:
            spec.parameters.check_kinds(spec.parameters.bound(args, kwargs))
        except WrongKind as same:
            return same
    return refused


def _alike(a: Any, b: Any) -> bool:
    """Whether nothing had to change to make `b` of `a`."""
    if type(a) is not type(b) or not isinstance(a, tuple):
        return type(a) is type(b)
    return len(a) == len(b) and all(map(_alike, a, b))


def _judged(spec: OpSpec, plain: OperatorFunction) -> OperatorFunction:
    """Refuses values that the operator must not be given, where they are at hand.

    The program says whether there are any; which one is looked up only then. While a program is
    being recorded there are no values, except those of constants.
    """
    judging = compiled(spec, ft.partial(trace_operator, spec, judged=True))
    numbers = spec.parameters.numbers_to_fit
    glance = None if numbers else getattr(spec.requires, "glance", None)

    def operator(*args: Any, **kwargs: Any) -> Any:
        if numbers and not jax.config.read("jax_enable_x64"):
            given = spec.parameters.bound(args, kwargs)
            for name in numbers:
                refuse_vast(name, given.get(name))
        if staging_trace() is not None:
            out = plain(*args, **kwargs)
            if not spec.checked_on_request:
                _enforce_on_constants(spec, args, kwargs)
            return out
        if glance is not None:
            try:
                known = glance(*args, **kwargs)
            except Exception:  # whatever is wrong, the operator words it
                known = False
            if known:
                return plain(*args, **kwargs)
        out, held = judging(*args, **kwargs)
        if held is None:
            return out
        verdict = peek(held) if spec.checked_on_request else peek_on_cpu(held)
        if verdict is not None and not (verdict.all() if verdict.ndim else verdict):
            enforce(_required(spec, spec.parameters.bound(args, kwargs), _value))
        return out

    return operator


def _judged_on_request(plain: OperatorFunction, judged: OperatorFunction) -> OperatorFunction:
    """Judges calls in a region of `functx.debug.checking`, on any device."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        return (judged if checking_results.value else plain)(*args, **kwargs)

    return operator


def _judged_if_given(
    parameters: Parameters, *, plain: OperatorFunction, judged: OperatorFunction
) -> OperatorFunction:
    """Judges calls that give one of `numbers_to_fit`: the others pay nothing."""
    numbers, names = parameters.numbers_to_fit, parameters.positional
    before = min((names.index(name) for name in numbers if name in names), default=len(names))

    def operator(*args: Any, **kwargs: Any) -> Any:
        if len(args) > before or (kwargs and any(name in kwargs for name in numbers)):
            return judged(*args, **kwargs)
        return plain(*args, **kwargs)

    return operator


def _required(
    spec: OpSpec, bound: dict[str, Any], known: Callable[[Any], Any]
) -> Iterable[Requirement]:
    return requirements(spec, *required_of(spec, bound, known))


def _enforce_on_constants(spec: OpSpec, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuses constants of a program being recorded, as eager calls would; it leaves no trace."""
    given = spec.parameters.bound(args, kwargs)
    arrays = jax.tree.leaves([given[name] for name in spec.traced if name in given])
    if all(isinstance(x, Tracer) for x in arrays):
        return
    if not all(known(*np.shape(x)) for x in arrays):  # nothing is computed of symbolic sizes
        return
    try:
        with jax.ensure_compile_time_eval():
            enforce(_required(spec, given, _constant))
    except (TypeError, AttributeError, NotImplementedError):
        # It depends on values of more than constants, or on symbolic sizes.
        return


def _value(x: Any) -> jax.Array:
    return lax.stop_gradient(jnp.asarray(x))  # `jet` has no rules for all that a judgement takes


def _constant(x: Any) -> Any:
    """A constant as an array, and the shape and dtype alone of any other value."""
    return jax.ShapeDtypeStruct(x.shape, x.dtype) if isinstance(x, Tracer) else jnp.asarray(x)


def _measuring(spec: OpSpec, call: OperatorFunction) -> OperatorFunction:
    """Counts the sizes that were left out, where values are at hand."""
    counts = {
        name: compiled(spec, ft.partial(trace_operator, spec, rule=count))
        for name, count in spec.sizes_from_values.items()
    }
    left_out = {name: spec.parameters.defaults[name] for name in counts}

    def operator(*args: Any, **kwargs: Any) -> Any:
        for name, default in left_out.items():
            if kwargs.get(name, default) == default:
                break
        else:
            return call(*args, **kwargs)
        given = spec.parameters.bound(args, kwargs)
        for name, count in counts.items():
            if given.get(name, left_out[name]) == left_out[name]:
                given[name] = agreed_size(count(**given), name)
        return call(**given)

    return operator


def _placing(call: OperatorFunction) -> OperatorFunction:
    """Puts the result where `device=` says."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.pop("device", None)
        if device is None:
            return call(*args, **kwargs)
        device = as_device(device)
        return place(call(*args, **kwargs), device)

    return operator


def _with_key(spec: OpSpec, call: OperatorFunction) -> OperatorFunction:
    """Draws from `generator=`, by default the ambient one, where no key is given.

    A call that is refused draws nothing.
    """
    name, parameters, needs_key = spec.key_parameter, spec.parameters, spec.needs_key

    def operator(*args: Any, **kwargs: Any) -> Any:
        key = kwargs.pop(name, None)
        if key is not None and not isinstance(key, (Draw, Generator)):
            key = as_key(key, name, "generator= takes a functx.Generator")
        if needs_key is not None:
            bound = parameters.defaults | parameters.bound(args, kwargs)
            if not needs_key(**bound):
                return call(*args, **kwargs)
        if key is None:
            generator, what = drawable(name), "the ambient generator"
        elif isinstance(key, Generator):
            generator, what = key, "`generator`"
        else:
            return call(*args, **kwargs, **{name: key})
        draw = generator.take(f"a draw from {what}")
        try:
            return call(*args, **kwargs, **{name: draw})
        except BaseException:
            generator.take_back(draw)
            raise

    return operator

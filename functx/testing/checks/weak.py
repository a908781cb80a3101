"""Arrays that JAX types weakly, which are arrays like others: held by comparing what is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

import functx
from functx._core import available, describe
from functx.testing.opinfo import OpInfo, Sample

from .cases import differentiable_case, jvp_of, sized, vjp_of, whole_function
from .forward import fits_32_bits


def check_weak(info: OpInfo, sample: Sample) -> bool:
    """Weakly typed arrays are taken for arrays of their dtype, and no result is weakly typed.

    The program is the same as of other arrays, but for the conversion of these: so it is of each
    such array alone, with 64 bit off, of the lanes of a map and of the carry of a scan.
    """
    sample = sized(info, sample)
    f, arrays = whole_function(info, sample)
    if not any(map(_can_be_weak, arrays)):
        return False
    what = f"{info.id}{sample!r}"
    for x64 in (True, False):
        if x64 or fits_32_bits((sample.args, dict(sample.kwargs))):
            with jax.enable_x64(x64 and jax.config.read("jax_enable_x64")):
                _hold(f, arrays, what + ", x64 off" * (not x64), alone=x64)
    several = [jax.ShapeDtypeStruct((2, *x.shape), x.dtype) for x in arrays]
    _hold(functx.vmap(f, randomness="same"), several, f"vmap of {what}", alone=False)
    _hold(_scanned(f), arrays, f"a scan of {what}", alone=False)
    return True


def check_weak_derivatives(info: OpInfo, sample: Sample) -> bool:
    """Derivatives at weakly typed arrays, along such, are those at others, and strong."""
    case = differentiable_case(info, sample)
    if case is None:
        return False
    pushed, pulled = jvp_of(case.f, len(case.xs)), vjp_of(case.f, len(case.xs))
    _hold(pushed, [*case.xs, *case.tangents], f"jvp of {case.what}", alone=False)
    _hold(pulled, [*case.xs, *case.cotangents], f"vjp of {case.what}", alone=False)
    return True


def _can_be_weak(x: Any) -> bool:
    return not jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended)


def _scanned(f: Callable[..., Any]) -> Callable[..., Any]:
    def scanned(*arrays: Any) -> Any:
        return jax.lax.scan(lambda carry, _: (carry, f(*carry)), arrays, None, length=1)[1]

    return scanned


def _hold(f: Callable[..., Any], arrays: Sequence[Any], what: str, *, alone: bool = True) -> None:
    """That `f` traces to one program, whichever of `arrays` are weakly typed."""
    types = [jax.ShapeDtypeStruct(x.shape, available(x.dtype)) for x in arrays]
    want = jax.make_jaxpr(f)(*types)
    _require_strong(want, what)
    every = [i for i, x in enumerate(types) if _can_be_weak(x)]
    for weak in [every, *([i] for i in every if alone and len(every) > 1)]:
        which = f"{what}, weakly typed: {', '.join(f'array {i}' for i in weak)}"
        given = [x.update(weak_type=i in weak) for i, x in enumerate(types)]
        got = jax.make_jaxpr(f)(*given)
        _require_strong(got, which)
        difference = next(_differences(got, want), None)
        assert difference is None, f"{which}: {difference}"


def _require_strong(program: ClosedJaxpr, what: str) -> None:
    for y in program.out_avals:
        assert not getattr(y, "weak_type", False), (
            f"{what}: the result {describe(y)} is weakly typed"
        )


class _Step(NamedTuple):
    """An equation, and where each of its operands comes from."""

    equation: JaxprEqn
    operands: tuple[Any, ...]


def _steps(program: Jaxpr) -> tuple[list[_Step], list[Any]]:
    """The equations, conversions of weakly typed arrays apart, and where the results come from."""
    sources: dict[Any, Any] = {}
    for name, variables in (("constant", program.constvars), ("argument", program.invars)):
        sources |= {x: (name, i) for i, x in enumerate(variables)}
    steps: list[_Step] = []

    def source(x: Any) -> Any:
        return ("number", str(x)) if isinstance(x, Literal) else sources[x]

    for equation in program.eqns:
        operands = tuple(map(source, equation.invars))
        if _makes_strong(equation):
            sources[equation.outvars[0]] = operands[0]
            continue
        sources |= {y: (len(steps), i) for i, y in enumerate(equation.outvars)}
        steps.append(_Step(equation, operands))
    return steps, list(map(source, program.outvars))


def _makes_strong(equation: JaxprEqn) -> bool:
    if equation.primitive.name != "convert_element_type" or equation.params["weak_type"]:
        return False
    before: Any = equation.invars[0].aval
    after: Any = equation.outvars[0].aval
    return before.dtype == after.dtype


def _differences(got: Any, want: Any, *, within: str = "") -> Iterator[str]:
    """In what two programs differ, in the order of their equations."""
    (steps, results), (others, theirs) = _steps(_opened(got)), _steps(_opened(want))
    for step, other in zip(steps, others, strict=False):
        name = str(step.equation.params.get("name", step.equation.primitive.name))
        path = f"{within} > {name}" if within else name
        if step.equation.primitive is not other.equation.primitive:
            yield f"{path}, in place of {other.equation.primitive.name}"
            return
        if step.operands != other.operands:
            yield f"{path} has other operands"
        types, expected = _types(step.equation.outvars), _types(other.equation.outvars)
        if types != expected:
            yield f"{path} gives {types}, expected {expected}"
        yield from _of_params(step.equation, other.equation, path)
    if len(steps) != len(others):
        yield f"{within or 'the program'} has {len(steps)} equations, expected {len(others)}"
    if results != theirs:
        yield f"{within or 'the program'} returns other results"


def _of_params(got: JaxprEqn, want: JaxprEqn, path: str) -> Iterator[str]:
    """In what the programs inside two equations differ; that of a scan takes what the scan does."""
    for inner, other in zip(_programs(got), _programs(want), strict=True):
        if inner is other:
            continue
        if got.primitive.name != "scan":
            types, expected = _types(_opened(inner).invars), _types(_opened(other).invars)
            if types != expected:
                yield f"{path} takes {types}, expected {expected}"
        yield from _differences(inner, other, within=path)


def _types(variables: Sequence[Any]) -> str:
    weak = lambda aval: "weak " * bool(getattr(aval, "weak_type", False))
    return ", ".join(weak(x.aval) + describe(x.aval) for x in variables)


def _programs(equation: JaxprEqn) -> Iterator[Any]:
    for value in equation.params.values():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(part, (Jaxpr, ClosedJaxpr)):
                yield part


def _opened(program: Any) -> Jaxpr:
    return getattr(program, "jaxpr", program)

"""Result dtypes, held against what was recorded from PyTorch; gradients in those of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp

from functx._core import default_float, Promote, result_dtype
from functx.testing.differences import Departure
from functx.testing.dtype_facts import (
    answer,
    cases,
    CODES,
    DtypeCase,
    INFERRED,
    known,
    OR,
    PROMOTED,
    promoting,
    recorded,
    REFUSED,
)
from functx.testing.dtypes import HALVES
from functx.testing.opinfo import OpInfo, Sample

from .cases import differentiable_case, DifferentiableCase
from .sample_selection import telling_of_options


# PyTorch's dtypes that XLA does not have, and what functx has in their place.
MISSING = {"c32": "c64"}


def check_dtypes(info: OpInfo, sample: Sample) -> None:
    """Every output has PyTorch's dtype, in all mixtures of dtypes, ranks and Python numbers.

    Gradients of halves are halves, as their arguments.
    """
    if sample.drawn in HALVES and info.differentiable:
        _check_gradients(info, sample.drawn)
    if info.spec is None or not _has_facts(info):
        _outputs(info, sample)
        return
    wrong, unrecorded = [], False
    for case in cases(info, sample.drawn):
        fact = known(info, case, sample.drawn)
        if fact is None and _own(info, case.key(info, sample.drawn), sample.drawn) is None:
            unrecorded = True
            continue
        found = complaint(info, case, sample.drawn, fact)
        wrong += [found] if found else []
    said = [_not_recorded(info)] if unrecorded else []
    said += [f"{info.id} in {sample.drawn}: " + "; ".join(wrong)] if wrong else []
    assert not said, "\n".join(said)


def _not_recorded(info: OpInfo) -> str:
    """What is said once of an entry, in the same words in all dtypes."""
    return (
        f"PyTorch's answer is not recorded; `python -m tests.parity.record_dtypes {info.name}` "
        "records it; where PyTorch has no such operator, "
        'departures=(Departure("dtype", reason, answer="^"),) in the entry says so'
    )


def _check_gradients(info: OpInfo, dtype: str) -> None:
    """Reverse mode hands every array a cotangent of the array's dtype; nothing is computed.

    JAX looks at that in no primitive's transpose, and other dtypes' gradients are compared.
    """
    for sample in telling_of_options(info, list(info.draw(dtype, lanes=1))):
        case = differentiable_case(info, sample)
        for i, (x, cotangent) in enumerate(_cotangents(case) if case else ()):
            assert cotangent.dtype == x.dtype, (
                f"{info.id}{sample!r}: the gradient of array {i} is {cotangent.dtype}, "
                f"expected {x.dtype}"
            )


def _cotangents(case: DifferentiableCase) -> Iterator[tuple[Any, Any]]:
    def pulled(*xs: Any) -> Any:
        outputs, pullback = jax.vjp(case.f, *xs)
        return pullback(outputs)

    yield from zip(case.xs, jax.eval_shape(pulled, *case.xs), strict=True)


def _has_facts(info: OpInfo) -> bool:
    """Operators of functx's own must; those of others have no place in the table."""
    assert info.spec is not None
    return info.spec.rule.__module__.startswith("functx.") or info.name in recorded()


def complaint(info: OpInfo, case: DtypeCase, dtype: str, fact: str | None) -> str:
    """What is wrong of a call's result dtypes, where PyTorch's are `fact`; or nothing."""
    key = case.key(info, dtype)
    own = _own(info, key, dtype)
    if own is None and fact is None:
        return f"{key}: {_not_recorded(info)}"
    try:
        got = _outputs(info, case.sample)
    except (TypeError, ValueError, RuntimeError, IndexError) as error:
        strict = info.spec is not None and info.spec.promote is Promote.SAME
        theirs_too = fact is None or fact[0] in (REFUSED, INFERRED, PROMOTED)
        declared = own is not None and own.answer == REFUSED
        fine = declared or (case.varied and (strict or theirs_too))
        return "" if fine else f"{key}: PyTorch {fact}, refused: {error}".partition("\n")[0]
    if own is not None:
        want = _own_answer(info, own, case, key, dtype)
        same = fact is not None and want in _readings(fact)
        if same and PROMOTED not in own.answer:
            return f"{key}: {want} is PyTorch's by now: drop it from `departures`"
        return "" if got == want else f"{key}: {got}, expected {want} of its own"
    if fact == REFUSED:
        fact = _with_number(info, case) or fact
    assert fact is not None
    if fact == REFUSED:
        return f"{key}: {got}, where PyTorch refuses: say so in `departures`, or refuse"
    return "" if got in _readings(fact) else f"{key}: {got}, PyTorch {fact}"


def _own(info: OpInfo, key: str, dtype: str) -> Departure | None:
    default = default_float().name
    for own in info.dtype_departures:
        drawn, chosen = own.dtypes or {dtype}, own.defaults or {default}
        if dtype in drawn and default in chosen and re.search(own.match, key):
            return own
    return None


def _with_number(info: OpInfo, case: DtypeCase) -> str | None:
    """The answer where PyTorch takes arrays only: a Python number promotes, or is cast to them."""
    assert info.spec is not None
    given = info.spec.arguments(case.sample.args, case.sample.kwargs)
    operands = jax.tree.leaves([given.get(name) for name in info.spec.promoting])
    arrays = [x for x in operands if isinstance(x, jax.Array)]
    if len(arrays) == len(operands):
        return None
    promotes = info.spec.promote is not Promote.NONE
    common = result_dtype(map(jnp.asarray, operands if promotes else arrays))
    return CODES[common.name]


def _own_answer(info: OpInfo, own: Departure, case: DtypeCase, key: str, dtype: str) -> str:
    found = re.search(own.match, key)
    assert found is not None
    answer = found.expand(own.answer).replace("*", CODES[dtype])
    if PROMOTED not in answer:
        return answer
    operands = case.operands or [case.sample.arrays()[i] for i in promoting(info, case.sample)]
    assert info.spec is not None
    common = result_dtype(
        map(jnp.asarray, operands), zero_dim_promotes_alike=info.spec.zero_dim_promotes_alike
    )
    return answer.replace(PROMOTED, CODES[common.name])


def _readings(fact: str) -> list[str]:
    """The answers that a recorded one stands for."""
    bare = fact.replace(INFERRED, "").replace(PROMOTED, "")
    for theirs, ours in MISSING.items():
        bare = bare.replace(theirs, ours)
    return bare.split(OR)


def _outputs(info: OpInfo, sample: Sample) -> str:
    """The outputs' dtypes, as the table writes them; none may be weakly typed."""
    op = info.with_key(jax.random.key(7)) if info.random else info.op
    sizes = dict.fromkeys(info.unmeasured(sample), 2)
    if sizes:
        assert info.spec is not None
        given = info.spec.arguments(sample.args, sample.kwargs)
        sample = Sample((), {**given, **sizes})
    out = jax.tree.leaves(jax.eval_shape(sample.over_arrays(op), *sample.arrays()))
    for y in out:
        assert not y.weak_type, f"{info.id}{sample!r}: weakly typed {y.dtype}"
    return answer(y.dtype.name for y in out)

"""How what was found is raised: at once, or by `functx.debug.checked` outside."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import Array
from jax.interpreters import ad, batching, mlir

from functx._core import fail
from functx._core.context.user_contexts import checking_values
from functx._core.operators.concrete_values import peek
from functx._core.operators.value_requirements import check_told, raised_by
from functx._core.primitives.by_reference import Primitive
from functx._core.primitives.taylor_mode import constant_along_curves

from .report import anomaly_of, AnomalyError, FIELDS, MAPS, Table


def raise_found(record: Array, table: Table) -> None:
    """Raises what `record` is about, of the first lane that has something."""
    record = first_lane.bind(record)
    values = peek(record)
    if values is not None:
        error = anomaly_of(values.tolist(), table)
        if error is not None:
            raise error
    elif checking_values.value:
        check_told(~_failing(record), _NAME, _entered(table), list(record))
    else:
        fail(
            "detect_anomaly",
            "what it finds cannot be raised while a program is being recorded",
            hint="put it outside, functx.debug.detect_anomaly(jax.jit(f)), or "
            "functx.debug.checked around it all",
        )


_RANK, _RESULT = FIELDS.index("rank"), FIELDS.index("result")
_LANES = slice(len(FIELDS), len(FIELDS) + MAPS)


def _failing(record: Array) -> Array:
    return (record[..., _RANK] == 2) | (record[..., _RESULT] > 0)


def _batch(operands: Sequence[Array], dims: Sequence[int]) -> tuple[Array, None]:
    records = jnp.moveaxis(operands[0], dims[0], 0)
    lane = jnp.argmax(_failing(records))
    record = records[lane]
    lanes = jnp.concatenate([lane.astype(record.dtype)[None], record[_LANES][:-1]])
    return first_lane.bind(record.at[_LANES].set(lanes)), None


# A record, and of those of all lanes of a map the first that has something, with its lane.
first_lane = Primitive("first_lane", __name__)
first_lane.def_impl(lambda record: record)
first_lane.def_abstract_eval(lambda record: record)
ad.primitive_jvps[first_lane] = lambda primals, _: (
    first_lane.bind(*primals),
    ad.Zero(jax.typeof(primals[0]).to_tangent_aval()),
)
batching.primitive_batchers[first_lane] = _batch
mlir.register_lowering(first_lane, lambda _, record: [record])
constant_along_curves(first_lane)


_NAME = AnomalyError.__name__
_tables: dict[str, Table] = {}  # a program carries only a message, which says which table


def _entered(table: Table) -> str:
    key = hashlib.sha256(repr(table).encode()).hexdigest()
    _tables[key] = table
    return key


def _error_of(said: str) -> Exception:
    key, *numbers = said.split()
    error = anomaly_of([*map(int, numbers)], _tables[key])
    assert error is not None
    return error


raised_by(_NAME, _error_of)

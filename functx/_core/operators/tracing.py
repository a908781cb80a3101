"""What happens around an operator's rule while it is traced, once per signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functx._core.context.grad_modes import apply_grad_mode
from functx._core.context.user_contexts import checking_values, in_place_of_rules
from functx._core.errors import describe, refuse, Refused
from functx._core.numbers.conversion import converted, promoted
from functx._core.numbers.dtypes import (
    Accepts,
    accumulator,
    as_dtype,
    category,
    only_stores,
    real_of,
    refuse_storage,
)
from functx._core.numbers.product_precision import as_in_pytorch
from functx._core.numbers.promotion import compute_and_result, joined, Promote, result_dtype
from functx._core.numbers.wide_integers import refuse_wide
from functx._core.randomness.generators import Draw
from functx._core.randomness.keys import as_key
from functx._core.shapes.dimensions import canonical_dim, canonical_dims, canonical_shape
from functx._core.shapes.size_limits import check_sizes

from .autocasting import autocast
from .catalog import OpSpec
from .roles import Fits, Role, RoleKind
from .value_requirements import all_hold, check_inside, Requirement, value_fits


def trace_operator(
    spec: OpSpec,
    *args: Any,
    rule: Callable[..., Any] | None = None,
    judged: bool = False,
    **kwargs: Any,
) -> Any:
    """The rule as users meet it: arguments checked, cast and canonical; results cast back.

    If `judged`, a pair: the result, and whether values are as the operator requires, or None if it
    requires nothing of such arguments.
    """
    with jax.numpy_rank_promotion("allow"), as_in_pytorch():  # of users' own code, not of ours
        return _trace(spec, args, kwargs, rule or spec.rule, judged)


def _trace(
    spec: OpSpec, args: tuple[Any, ...], kwargs: dict[str, Any], rule: Any, judged: bool
) -> Any:
    given = spec.parameters.bound(args, kwargs)
    spec.parameters.check_kinds(given)
    given = autocast(spec, given)
    came = dict(given)
    arrays, result = _promoted(spec, given)
    canonicalize(spec, given)
    other = in_place_of_rules.value if rule is spec.rule else None
    try:
        out = rule(**given) if other is None else other(spec, given)
    except jax.errors.InconclusiveDimensionOperation as error:
        raise _undecided(arrays, error) from error
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, jax.errors.JAXTypeError):
            raise
        if isinstance(error, OverflowError):
            for name, value in given.items():
                refuse_wide(name, value)
        raise _reworded(spec, given, arrays, error) from error
    compute = arrays[0].dtype if arrays else None
    outputs, tree = jax.tree.flatten(out)
    if result == np.bool_ != compute and outputs:  # positions beside bools are none
        outputs[0] = jnp.asarray(outputs[0]).astype(bool)
    outputs = [_finish(y, compute, result) for y in outputs]
    check_sizes(outputs)
    out = tree.unflatten(apply_grad_mode(outputs))
    if checking_values.value:
        check_inside(spec.name, requirements(spec, came, given))
    return (out, all_hold(requirements(spec, came, given))) if judged else out


def requirements(
    spec: OpSpec, came: dict[str, Any], given: dict[str, Any]
) -> Iterator[Requirement]:
    """What must hold of a call's values; `came` are the arguments before promotion."""
    numbers = [name for name in spec.parameters.numbers_to_fit if came.get(name) is not None]
    if numbers:
        arrays = jax.tree.leaves([came.get(name) for name in spec.promoting])
        dtype = result_dtype(
            map(_as_array, arrays), zero_dim_promotes_alike=spec.zero_dim_promotes_alike
        )
        for name in numbers:
            computed = spec.roles[name].fits is Fits.COMPUTATION
            fitting = accumulator(dtype) if computed else dtype
            yield value_fits(_as_array(came[name]), fitting, name)
    if spec.requires is not None:
        yield from spec.requires(**_unpromoted(spec, came, given))


def required_of(
    spec: OpSpec, bound: dict[str, Any], known: Callable[[Any], Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Bound arguments as they came and in canonical form, arrays passed through `known`."""
    came = {name: _known_value(spec, name, value, known) for name, value in bound.items()}
    came = autocast(spec, came)
    given = dict(came)
    canonicalize(spec, given)
    return came, given


def _known_value(spec: OpSpec, name: str, value: Any, known: Callable[[Any], Any]) -> Any:
    role = spec.parameters.roles[name]
    return jax.tree.map(known, value) if role.traced and role.kind is not RoleKind.KEY else value


def _unpromoted(spec: OpSpec, came: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """All arguments by name: arrays as they came, the others as the rule receives them."""
    every = spec.parameters.defaults | given
    for name, role in spec.parameters.roles.items():
        if role.kind is RoleKind.KEY:
            every.pop(name, None)
        elif role.traced:
            value = came.get(name, every[name])
            every[name] = jax.tree.map(_as_array, value)
            if role.kind is RoleKind.SCALAR and every[name] is not None:
                every[name] = _counted(every[name])
    return every


def _counted(value: Any) -> Any:
    """A bool as the number that it is where numbers are taken."""
    if isinstance(value, jax.ShapeDtypeStruct) or category(value.dtype) > 0:
        return value
    return jnp.where(value, 1, 0)


def _as_array(x: Any) -> Any:
    return x if isinstance(x, jax.ShapeDtypeStruct) else jnp.asarray(x)


def canonicalize(spec: OpSpec, given: dict[str, Any]) -> None:
    """Dimensions become non-negative ints, shapes tuples, dtypes NumPy's, keys typed.

    So do defaults: `dim=1` of some rank.
    """
    for name, role in spec.parameters.roles.items():
        value = given.get(name, spec.parameters.defaults.get(name))
        if value is None and (role.optional or name not in given):
            continue
        if role.kind is RoleKind.DIM:
            given[name] = canonical_dim(value, _ndim(spec, given), name)
        elif role.kind is RoleKind.DIMS:
            given[name] = canonical_dims(value, _ndim(spec, given), name)
        elif role.kind is RoleKind.SHAPE:
            given[name] = canonical_shape(value, name)
        elif role.option_type is not None and name in given:
            given[name] = role.option_type.settled(value, name)
        elif role.kind is RoleKind.DTYPE:
            given[name] = as_dtype(value, name)
            if only_stores(given[name]) and not spec.takes_storage_dtypes:
                refuse_storage(given[name], f"{name}={given[name].name}")
        elif role.kind is RoleKind.KEY:
            given[name] = value.derive() if isinstance(value, Draw) else as_key(value, name)


def _ndim(spec: OpSpec, given: dict[str, Any]) -> int:
    """The rank that `dim` counts in: that of the first array."""
    traced = spec.parameters.traced
    first = jax.tree.leaves(given[next(name for name in traced if name in given)])
    return len(np.shape(first[0])) if first else 0


def _promoted(spec: OpSpec, given: dict[str, Any]) -> tuple[list[jax.Array], np.dtype | None]:
    """Casts the promoting arguments in place; gives them, and the dtype of the result."""
    names = [name for name in spec.promoting if given.get(name) is not None]
    arrays, tree = jax.tree.flatten([given[name] for name in names])
    _check_dtypes(spec, arrays)
    arrays = [jnp.asarray(x) for x in arrays]
    if spec.promote is Promote.SAME:
        _check_alike(arrays)
    result = None
    if spec.promote is not Promote.NONE and arrays:
        asked = given.get("dtype")
        common = result_dtype(arrays, zero_dim_promotes_alike=spec.zero_dim_promotes_alike)
        _check_numbers_alone(spec, arrays, common)
        if asked is not None:
            asked = as_dtype(asked)
            if not spec.dtype_may_narrow:
                _check_wider(asked, common, arrays[0])
            common = asked
        compute, result = compute_and_result(spec.promote, common, asked=asked is not None)
        if asked is None:
            unrounded = _unrounded(spec, names, given)
            arrays = [
                promoted(x, common, compute, unrounded=flag)
                for x, flag in zip(arrays, unrounded, strict=True)
            ]
        else:
            arrays = [converted(x, compute) for x in arrays]
    given.update(zip(names, jax.tree.unflatten(tree, arrays), strict=True))
    for name, value in given.items():
        role = spec.parameters.roles[name]
        if role.kind is RoleKind.SCALAR and value is not None:
            if np.ndim(value):
                refuse(f"`{name}` must be {role.words}, got {describe(value)}", error=TypeError)
            if arrays:
                given[name] = _scalar(value, arrays[0].dtype, name, role, result)
    return arrays, result


def _unrounded(spec: OpSpec, names: Sequence[str], given: dict[str, Any]) -> list[bool]:
    """For each promoting array of a call, whether a 0-d one keeps its value beside halves."""
    return [spec.roles[name].unrounded for name in names for _ in jax.tree.leaves(given[name])]


def _scalar(value: Any, dtype: np.dtype, name: str, role: Role, result: np.dtype | None) -> Any:
    """A coefficient in the dtype of computation; one of a wider kind is refused.

    One that the arrays' own dtype must hold is rounded to it, as PyTorch does.
    """
    value = jnp.asarray(value)
    kind = category(value.dtype)
    widest = max(min(category(dtype), 2 if role.real else 3), 1 if role.same_kind else 2)
    if kind > widest and only_stores(dtype):
        refuse_storage(dtype, f"`{name}` beside it")
    if kind > widest or (kind == 0 < category(dtype) and not role.bool_counts):
        refuse(
            f"`{name}` must not be {('bool', 'an integer', 'floating', 'complex')[kind]} for "
            f"{dtype.name} arrays, got {describe(value)}",
            error=TypeError,
        )
    if kind == 0:
        value, kind = _counted(value), 1
    if role.fits is Fits.ARRAYS and result is not None and accumulator(result) != result:
        return promoted(value, result, dtype)
    if jax.typeof(value).weak_type and 0 < kind <= category(dtype):
        return value  # a number written by hand: takes the dtype of what it meets
    return lax.convert_element_type(value, real_of(dtype) if role.real else dtype)


def _check_dtypes(spec: OpSpec, arrays: list[Any]) -> None:
    for x in arrays:
        if getattr(jax.typeof(x), "weak_type", False):
            if category(x.dtype) == 3 and "complex64" not in spec.accepts.value:
                refuse(f"expected {spec.accepts.words} numbers, got {describe(x)}", error=TypeError)
            continue
        if only_stores(x.dtype):
            _check_storage(spec, x, arrays)
        elif x.dtype.name not in spec.accepts.value and x.dtype.name in Accepts.ANY.value:
            refuse(f"expected {spec.accepts.words} arrays, got {describe(x)}", error=TypeError)


def _check_storage(spec: OpSpec, x: jax.Array, arrays: list[Any]) -> None:
    """Refuses an array that only stores numbers, but where it is moved beside its likes."""
    if not spec.takes_storage_dtypes:
        refuse_storage(x.dtype, describe(x))
    others = [y for y in arrays if y.dtype != x.dtype and not jax.typeof(y).weak_type]
    if others and spec.promote is not Promote.NONE:
        refuse(
            f"arrays must have the same dtype, got {describe(x)} and {describe(others[0])}",
            hint="x.astype(y.dtype) converts",
            error=TypeError,
        )


def _check_numbers_alone(spec: OpSpec, arrays: list[Any], common: np.dtype) -> None:
    """Refuses Python numbers without an array whose dtype the operator does not take."""
    weak = all(jax.typeof(x).weak_type for x in arrays)
    if weak and common.name not in spec.accepts.value and common.name in Accepts.ANY.value:
        got = ", ".join(str(x.dtype) for x in arrays)
        refuse(f"expected {spec.accepts.words} numbers, got {got}", error=TypeError)


def _check_wider(asked: np.dtype, common: np.dtype, x: jax.Array) -> None:
    if category(asked) != category(common) or joined([asked, common]) != asked:
        refuse(
            f"`dtype` must hold the values of {describe(x)}, got {asked.name}",
            hint="x.astype(dtype) converts all the same",
            error=TypeError,
        )


def _check_alike(arrays: list[jax.Array]) -> None:
    strong = [x for x in arrays if not getattr(jax.typeof(x), "weak_type", False)]
    kind = max((category(x.dtype) for x in strong), default=3)
    for x in arrays:
        if category(x.dtype) > max(kind, 1):
            refuse(
                f"numbers must be real beside {describe(strong[0])}, got {describe(x)}",
                error=TypeError,
            )
    if any(x.dtype != strong[0].dtype for x in strong):
        refuse(
            f"arrays must have the same dtype, got {', '.join(map(describe, strong))}",
            hint="x.astype(y.dtype) converts",
            error=TypeError,
        )


def _reworded(
    spec: OpSpec, given: dict[str, Any], arrays: list[jax.Array], error: Exception
) -> Refused:
    """JAX's objection to what the rule did, in the operator's name and arguments."""
    if "_DimExpr" in str(error):  # a symbolic size in the place of an int
        return _undecided(arrays, error)
    if str(error).startswith("Incompatible shapes for broadcasting"):
        named = {
            name: given[name] for name in spec.traced if isinstance(given.get(name), jax.Array)
        }
        if len(named) > len(arrays):  # arrays that do not promote, as a mask, stand beside
            words = ", ".join(f"`{name}` {describe(x)}" for name, x in named.items())
            return Refused(f"shapes do not fit: {words}", f"JAX says: {error}", RuntimeError)
    got = ", ".join(map(describe, arrays))
    try:
        jnp.broadcast_shapes(*(x.shape for x in arrays))
    except (TypeError, ValueError):
        return Refused(f"shapes do not fit: {got}", f"JAX says: {error}", RuntimeError)
    kinds = (OverflowError, MemoryError, TypeError, ValueError)  # NumPy's own need more arguments
    what = f"cannot take {got}" if got else "cannot be computed"
    said = str(error) or "more memory than there is"
    return Refused(f"{what}: {said}", "", next(kind for kind in kinds if isinstance(error, kind)))


def _undecided(arrays: list[jax.Array], error: Exception) -> Refused:
    """The error that says that the rule would have to know a symbolic size."""
    got = ", ".join(map(describe, arrays)) if arrays else "symbolic sizes"
    said = str(error).partition("\n")[0]
    if isinstance(error, jax.errors.InconclusiveDimensionOperation):
        hint = "`constraints=` of jax.export.symbolic_shape can say what is true of sizes"
        return Refused(f"cannot take {got}: {said}", hint, type(error))
    return Refused(f"cannot take {got}: a size must be a number here: {said}", "", TypeError)


def _finish(out: Any, compute: np.dtype | None, result: np.dtype | None) -> jax.Array:
    """Casts what has the dtype of computation to the promised one and drops weak typing.

    An output of another kind (positions beside values, real parts of complex results)
    keeps it, at the result's width.
    """
    out = jnp.asarray(out)
    dtype = np.dtype(out.dtype) if not jnp.issubdtype(out.dtype, jax.dtypes.extended) else None
    if result is not None and dtype is not None:
        if out.dtype == compute:
            dtype = result
        elif category(dtype) == 2 and category(result) >= 2:
            dtype = real_of(result)
    return lax.convert_element_type(out, dtype or out.dtype)

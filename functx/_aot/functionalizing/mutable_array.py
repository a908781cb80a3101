"""`MutableArray`: an array with PyTorch's in-place interface, of which the storage is pure."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, fail, nearest, OPERATORS, OpSpec, Refused
from functx._core.numbers.weak_types import strong
from functx._transforms.arguments import kind_of
from functx._transforms.numbers import as_array

from . import indexing, own_methods
from .in_place import in_place_operator, operator_of, suffix_names, write_result
from .operator_calls import call_operator
from .python_operators import PythonOperators
from .refusals import REFUSED
from .storage import current_call, Storage
from .view_methods import METADATA_METHODS, VIEW_ATTRIBUTES, view_method, VIEW_METHODS
from .views import View


class MutableArray(PythonOperators):
    """An array that can be written in place, inside of a functionalized function.

    `functx.aot.functionalize` gives them to the function in the place of arrays, and
    `functx.aot.mutable` makes one. Nothing else does.

    - Writes: `x[index] = value` for ints, slices, None, Ellipsis, arrays of integers and masks;
      `x.copy_`, `x.zero_`, `x.fill_`, `x.add_` and all other operators with a suffix;
      `x += y`; operators with `inplace=True` or `out=x`. What is written is cast to the dtype of
      the array, and refused (RuntimeError) where PyTorch refuses: a result of another shape, a
      float into integers, a number into bools. All but `copy_` and index writes of one number keep
      that rule.
    - Views, which share the storage, so that a write to one is seen by all: `x[...]` with ints,
      slices, None and Ellipsis, `view`, `reshape` and `flatten` where the elements lie so (else
      `reshape` copies), `t`, `transpose`, `permute`, `movedim`, `select`, `narrow`, `diagonal`,
      `unbind`, `split`, `chunk`, `expand`, `squeeze`, `unsqueeze`, `unflatten`, `unfold`,
      `as_strided`, `detach`, `conj`, and the attributes `T`, `mT`, `H`, `mH`, `real`, `imag` and
      `data`. Iteration gives views of rows.
    - `t_`, `transpose_`, `squeeze_`, `unsqueeze_`, `as_strided_` change which elements this array
      shows, and no other view.
    - All else reads: operators of functx, methods without a suffix, functions of `jax.numpy`, and
      Python's operators give plain arrays. In a tree it is the array that it holds, so transforms
      hand plain arrays to the function they transform.

    With symbolic sizes all views work but `unfold` and `as_strided`, whose places must be known.

    In a `functx.no_grad` region, and through `detach()` and `data`, a write changes the values and
    keeps the derivative that the array had, as in PyTorch.

    >>> @functx.aot.functionalize
    ... def f(x):
    ...     x.t()[0].mul_(10)
    ...     x += 1
    ...     return x
    >>> f(jnp.ones((2, 2), "float32"))
    Array([[11.,  2.],
           [11.,  2.]], dtype=float32)
    """

    __slots__ = ("__weakref__", "_view")
    _view: View

    def __init__(self, view: View) -> None:
        if not isinstance(view, View):
            fail(
                "MutableArray",
                f"it is made by functionalize and mutable alone, got {describe(view)}",
                hint="functx.aot.mutable(x) makes one of an array",
                error=TypeError,
            )
        object.__setattr__(self, "_view", view)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes of the array."""
        return self._view.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array, which no write changes."""
        return self._view.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._view.shape)

    def _read(self) -> jax.Array:
        return _asked("MutableArray", self._view.read)

    def __jax_array__(self) -> jax.Array:
        return self._read()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._read(), dtype)

    def __functx_operator__(
        self, spec: OpSpec, call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return call_operator(spec, call, args, kwargs, view_of)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_view":
            raise AttributeError(name)
        if name in VIEW_ATTRIBUTES:
            return MutableArray(_asked(name, VIEW_ATTRIBUTES[name], self._view))
        if (make := _maker(name)) is not None:
            method = ft.partial(make, self)
            method.__name__ = name  # pyright: ignore[reportAttributeAccessIssue]
            return method
        if name in REFUSED:
            fail(name, "it does not exist here", hint=REFUSED[name], error=AttributeError)
        if not name.startswith("_") and hasattr(value := self._read(), name):
            return getattr(value, name)
        near = nearest(name, dir(self))
        raise AttributeError(
            f"'MutableArray' has no attribute {name!r}" + f"\n  hint: {near}" * bool(near),
            name=name,
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_view":
            object.__setattr__(self, name, value)
        elif name in ("real", "imag"):
            getattr(self, name).copy_(value)
        else:
            hint = REFUSED.get(f"{name} =", "write its elements: x.copy_(value)")
            fail(f"x.{name}", "it cannot be assigned", hint=hint, error=AttributeError)

    def __dir__(self) -> list[str]:
        own = [*object.__dir__(self), *VIEW_METHODS, *VIEW_ATTRIBUTES, *own_methods.METHODS]
        return sorted({*own, *suffix_names()})

    def __getitem__(self, index: Any) -> Any:
        return _shown(_asked("x[index]", indexing.read, self._view, _plain(index)))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, MutableArray):
            if _asked("x[index]", _is_itself, self._view, index, value):
                return  # `x[0] += 1` has written to the view that it now assigns
            value = value._read()
        _asked("x[index] = value", indexing.write, self._view, _plain(index), strong(value))

    def __iter__(self) -> Iterator[MutableArray]:
        return iter(self.unbind())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __contains__(self, value: Any) -> bool:
        return bool(jnp.any(self == value))

    def __repr__(self) -> str:
        if not self._view.storage.alive:
            return f"MutableArray({describe(self._view.like)}, of a call that has returned)"
        return f"Mutable{self._read()!r}"

    def __format__(self, spec: str) -> str:
        return format(self._read(), spec)

    def __reduce__(self) -> Any:
        raise TypeError(
            "MutableArray lives in one call and cannot be pickled or copied\n"
            "  hint: x.clone() is an array that can"
        )


def mutable(x: Any) -> MutableArray:
    """A mutable array with the elements of `x`, inside of a functionalized function.

    - `x`: an array of any dtype, or a number. A mutable array is copied.

    The array itself never changes. Derivatives go through: what is written, and what is kept, has
    the derivative of where it comes from.

    Errors: RuntimeError outside of a call of `functx.aot.functionalize`'s result, TypeError if `x`
    is no array of numbers.

    >>> @functx.aot.functionalize
    ... def squares(n):
    ...     out = functx.aot.mutable(jnp.zeros(n, "int32"))
    ...     for i in range(n):
    ...         out[i] = i * i
    ...     return out
    >>> squares(4)
    Array([0, 1, 4, 9], dtype=int32)
    """
    call = current_call("mutable")
    value = _plain(x)
    if kind_of(value) == "other":
        fail("mutable", f"`x` must be an array of numbers, got {describe(x)}", error=TypeError)
    return MutableArray(View.of(Storage(jnp.asarray(as_array(value)), call)))


def view_of(x: Any) -> View | None:
    """The view that a mutable array reads and writes; None of anything else."""
    return x._view if isinstance(x, MutableArray) else None


def _asked(who: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function gives; its refusals in the name of `who`."""
    try:
        return function(*args, **kwargs)
    except Refused as refused:
        worded = refused.by(who)
    raise worded from None


def _shown(found: Any) -> Any:
    """Views as mutable arrays, and all else as it is."""
    if isinstance(found, View):
        return MutableArray(found)
    if isinstance(found, tuple) and any(isinstance(x, View) for x in found):
        return tuple(map(_shown, found))
    return found


def _plain(x: Any) -> Any:
    """An index, or arguments, with arrays in the place of mutable ones."""
    if isinstance(x, MutableArray):
        return x._read()
    if isinstance(x, slice):
        return slice(*map(_plain, (x.start, x.stop, x.step)))
    if type(x) in (tuple, list):
        return type(x)(map(_plain, x))
    return x


def _is_itself(view: View, index: Any, value: MutableArray) -> bool:
    found = indexing.indexed(view, _plain(index))
    return not found.picked and found.view.is_view_of_same(value._view)


def _maker(name: str) -> Callable[..., Any] | None:
    """The function of a mutable array and of arguments that a method's name stands for."""
    if name in own_methods.METHODS:
        return ft.partial(_own, name)
    if name in METADATA_METHODS:
        return ft.partial(_change_view, name)
    if (method := view_method(name)) is not None:
        return ft.partial(_make_view, name, method)
    if (operator_name := in_place_operator(name)) is not None:
        return ft.partial(_write, operator_name)
    if (operator_name := operator_of(name)) is not None:
        return ft.partial(_call, operator_name)
    return None


def _on_view(
    name: str,
    function: Callable[..., Any],
    x: MutableArray,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """What a function of a view gives for the method `name`, with arrays for mutable ones."""
    kwargs = {key: _plain(value) for key, value in kwargs.items()}
    return _asked(name, function, x._view, *_plain(args), **kwargs)


def _own(name: str, x: MutableArray, *args: Any, **kwargs: Any) -> Any:
    found = _on_view(name, own_methods.METHODS[name], x, args, kwargs)
    if found is own_methods.ITSELF:
        return x
    return _shown(found)


def _change_view(name: str, x: MutableArray, *args: Any, **kwargs: Any) -> MutableArray:
    method = view_method(name[:-1])
    assert method is not None
    x._view = _on_view(name, method, x, args, kwargs)
    return x


def _make_view(
    name: str, method: Callable[..., Any], x: MutableArray, *args: Any, **kw: Any
) -> Any:
    return _shown(_on_view(name, method, x, args, kw))


def _write(name: str, x: MutableArray, *args: Any, **kwargs: Any) -> MutableArray:
    _asked(f"{name}_", x._view.check_writable)
    result = _call(name, x, *args, **kwargs)
    _asked(f"{name}_", write_result, x._view, result, name)
    return x


def _call(name: str, x: MutableArray, *args: Any, **kwargs: Any) -> Any:
    return OPERATORS[name](x, *args, **kwargs)


class _Inside:
    """The place of the array that a mutable one is in trees: none of its own."""

    def __str__(self) -> str:
        return ""


jax.tree_util.register_pytree_with_keys(
    MutableArray,
    lambda x: (((_Inside(), x._read()),), None),
    lambda _, children: next(iter(children)),
    lambda x: ((x._read(),), None),
)

"""`@operator`: the one way into the catalog.

Whatever depends only on dtypes, shapes and static arguments (promotion, checks) runs while
tracing, so a second call with the same signature pays for none of it.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from functx._core.numbers.dtypes import Accepts
from functx._core.numbers.promotion import Promote

from .block_splitting import Splits
from .call import public_call
from .catalog import Autocast, OpSpec, register, SignatureRewrite, torch_path
from .roles import check_annotations
from .value_requirements import Requirements


_P = ParamSpec("_P")
_R = TypeVar("_R")

_NOTHING: Mapping[str, Any] = {}


def operator(
    *,
    name: str | None = None,
    promote: Promote = Promote.DEFAULT,
    accepts: Accepts = Accepts.ANY,
    autocast: Autocast = Autocast.KEEP,
    autocast_cpu: Autocast | None = None,
    differentiable: bool = True,
    random: bool = False,
    needs_key: Callable[..., bool] | None = None,
    sizes_from_values: Mapping[str, Callable[..., Any]] | None = None,
    requires: Requirements | None = None,
    checked_on_request: bool = False,
    splits: Callable[..., Splits] | None = None,
    other_signatures: SignatureRewrite | None = None,
    needs_array: bool = False,
    zero_dim_promotes_alike: bool = False,
    dtype_may_narrow: bool = True,
    takes_storage_dtypes: bool | None = None,
    synonyms: Mapping[str, str] | None = None,
    aliases: tuple[str, ...] = (),
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Adds a function to the catalog as a compiled, promoting, torch-named operator.

    - `name`: its full name, such as `"linalg.cholesky"`, where that is not the namespace of its
      folder and the name of the function.
    - `promote`, `accepts`, `autocast`: what happens to dtypes; see the enumerations.
    - `autocast_cpu`: what autocast does on a CPU, where PyTorch's lists differ.
    - `differentiable`: false if no output ever carries a tangent.
    - `random`: the function has a parameter `key: Key = None` and always receives a key. One
      that PyTorch calls `key` itself may name it otherwise: the annotation counts.
    - `needs_key`: a function of all arguments by name that says whether a call of a random operator
      needs a key; if not, none is drawn, and the function receives None.
    - `sizes_from_values`: for each size that depends on values, a function of the same arguments
      that counts it; most callers then leave the static parameter of that name out.
    - `requires`: what the values of the arguments must satisfy. Checked eagerly on the
      CPU, and inside `functx.debug.checked`.
    - `checked_on_request`: whether eager calls check what `requires` says in a region of
      `functx.debug.checking` alone, because the check costs as much as the operator, whose result
      shows what is wrong.
    - `splits`: for an operator that splits its first argument, a function of all arguments by name,
      in canonical form, that says where. Eager calls with many results need few programs.
    - `other_signatures`: a function that rewrites `(args, kwargs)` of PyTorch's other signatures
      into the declared one.
    - `needs_array`: whether a call is refused in which all arguments that decide the dtype are
      Python numbers.
    - `zero_dim_promotes_alike`: whether 0-d arrays promote as arrays with dimensions do, because
      PyTorch expands them first.
    - `dtype_may_narrow`: whether `dtype=` may lose parts or digits of the input.
    - `takes_storage_dtypes`: whether arrays may have a dtype that only stores numbers (float8,
      int4), because the operator moves elements and does not compute with them. By default it does
      if it takes any dtype and promotes by `NO_OPMATH`.
    - `synonyms`: other names that PyTorch gives to parameters, and the declared ones.
    - `aliases`: other full names, such as `"absolute"` or `"linalg.inverse"`.
    """

    def declare(rule: Callable[_P, _R]) -> Callable[_P, _R]:
        path = name or torch_path(rule)
        moves = accepts is Accepts.ANY and promote is Promote.NO_OPMATH
        check_annotations(path, rule)
        spec = OpSpec(
            name=path,
            rule=rule,
            promote=promote,
            accepts=accepts,
            autocast=autocast,
            autocast_cpu=autocast if autocast_cpu is None else autocast_cpu,
            differentiable=differentiable,
            random=random,
            needs_key=needs_key,
            sizes_from_values=sizes_from_values or _NOTHING,
            requires=requires,
            checked_on_request=checked_on_request,
            splits=splits,
            other_signatures=other_signatures,
            needs_array=needs_array,
            zero_dim_promotes_alike=zero_dim_promotes_alike,
            dtype_may_narrow=dtype_may_narrow,
            takes_storage_dtypes=moves if takes_storage_dtypes is None else takes_storage_dtypes,
            synonyms=synonyms or _NOTHING,
            aliases=aliases,
        )
        public: Any = ft.wraps(rule)(public_call(spec))
        public.spec = spec
        public.__name__ = spec.name.rpartition(".")[2]
        register(spec, public)
        return public

    return declare

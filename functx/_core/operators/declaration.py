"""`@operator`: the one way into the catalog.

Whatever depends only on dtypes, shapes and static arguments (promotion, checks,
autocast) runs while tracing, so a second call with the same signature pays for none
of it.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from functx._core.numbers.dtypes import Accepts
from functx._core.numbers.promotion import Promote

from .block_splitting import Splits
from .call import public_call
from .catalog import Autocast, Form, OpSpec, register, torch_path
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
    differentiable: bool = True,
    random: bool = False,
    draws: Callable[..., bool] | None = None,
    measured: Mapping[str, Callable[..., Any]] | None = None,
    requires: Requirements | None = None,
    on_request: bool = False,
    splits: Callable[..., Splits] | None = None,
    form: Form | None = None,
    one_array: bool = False,
    ranked: bool = True,
    narrowing: bool = True,
    takes_storage: bool | None = None,
    synonyms: Mapping[str, str] | None = None,
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
    - `on_request`: whether eager calls check that in a region of `functx.debug.checking` alone,
      because it costs as much as the operator, whose result shows it.
    - `splits`: of an operator that splits its first argument, a function of all arguments by name,
      in canonical form, that says where. Eager calls with many results need few programs.
    - `form`: rewrites `(args, kwargs)` of another of PyTorch's signatures into the declared one.
    - `one_array`: of the arguments that decide the dtype, not all may be Python numbers.
    - `ranked`: false if 0-d arrays promote as arrays with dimensions do, because PyTorch expands
      them first.
    - `narrowing`: whether `dtype=` may lose parts or digits of the input.
    - `takes_storage`: whether arrays may have a dtype that only stores numbers (float8, int4),
      because the operator moves elements and does not compute with them. By default it does if
      it takes any dtype and promotes by `NO_OPMATH`.
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
            differentiable=differentiable,
            random=random,
            draws=draws,
            measured=measured or _NOTHING,
            requires=requires,
            on_request=on_request,
            splits=splits,
            form=form,
            one_array=one_array,
            ranked=ranked,
            narrowing=narrowing,
            takes_storage=moves if takes_storage is None else takes_storage,
            synonyms=synonyms or _NOTHING,
            aliases=aliases,
        )
        public: Any = ft.wraps(rule)(public_call(spec))
        public.spec = spec
        public.__name__ = spec.name.rpartition(".")[2]
        register(spec, public)
        return public

    return declare

"""The interface of `torch.autograd.functional`: products and Jacobians of one or several arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np

from functx._core import describe, fail
from functx._transforms.arguments import kind_of, require_bools, require_callable
from functx._transforms.grad import grad
from functx._transforms.jacobian import jacfwd, jacrev
from functx._transforms.jvp import jvp as push
from functx._transforms.products import hvp as hessian_times, vhp as times_hessian
from functx._transforms.vjp import vjp as pull_of

from .strictness import require_dependence


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_WITH_GRAPH = " when create_graph=True"
_MODES = {"forward-mode": jacfwd, "reverse-mode": jacrev}


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs of `func`, and `v` times its Jacobian: `torch.autograd.functional.vjp`.

    - `func`: a function of the inputs that returns an array or a tuple of arrays.
    - `inputs`: an array or a tuple of arrays, the arguments of `func`; the product is like them.
    - `v`: like the outputs; may be left out where there is one output, of one element.
    - `create_graph`: results can be differentiated always. With `strict` it demands that the
      product depends on the inputs.
    - `strict`: whether it is an error that an output depends on no input, or no output on an input.

    `functx.vjp` also takes trees, and several cotangents for one evaluation.

    Errors: RuntimeError for a `v` that does not fit, and with `strict`.

    >>> functx.autograd.functional.vjp(lambda x: x**2, jnp.float32(3))
    (Array(9., dtype=float32), Array(6., dtype=float32))
    """
    call = _FunctionalCall("vjp", func, inputs, create_graph=create_graph, strict=strict)
    outputs, pull = pull_of(call.function, *call.inputs)
    v = _vector("vjp", v, outputs, "outputs")
    direction = v if isinstance(outputs, tuple) else v[0]
    products = pull(direction)
    if strict:
        call.require("Output {} of `func`", all_inputs=True)
    if strict and create_graph:
        call.require(
            "The product for input {}",
            lambda *xs: pull_of(func, *xs)[1](direction),
            when=_WITH_GRAPH,
        )
    return outputs, call.like_inputs(products)


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs of `func`, and its Jacobian times `v`: `torch.autograd.functional.jvp`.

    - `func`: a function of the inputs that returns an array or a tuple of arrays.
    - `inputs`: an array or a tuple of arrays, the arguments of `func`.
    - `v`: like the inputs; may be left out where there is one input, of one element.
    - `create_graph`: results can be differentiated always. With `strict` it demands that the
      product depends on the inputs.
    - `strict`: whether it is an error that an output depends on no input, or no output on an input.

    Shapes and dtypes: the product is like the outputs. Forward mode computes it, not two backward
    passes.
    Errors: RuntimeError for a `v` that does not fit, and with `strict`.

    >>> functx.autograd.functional.jvp(lambda x: x**2, jnp.float32(3), jnp.float32(2))
    (Array(9., dtype=float32), Array(12., dtype=float32))
    """
    call = _FunctionalCall("jvp", func, inputs, create_graph=create_graph, strict=strict)
    v = _vector("jvp", v, call.given, "inputs")
    outputs, products = push(call.function, call.inputs, v)
    if strict:
        call.require("Output {} of `func`", all_inputs=True)
    if strict and create_graph:
        call.require("Product {}", lambda *xs: push(func, xs, v)[1], when=_WITH_GRAPH)
    return outputs, products


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of `func`: `torch.autograd.functional.jacobian`.

    - `func`: a function of the inputs that returns an array or a tuple of arrays.
    - `inputs`: an array or a tuple of arrays, the arguments of `func`.
    - `create_graph`: results can be differentiated always. With `strict` it demands that the result
      depends on the inputs.
    - `strict`: whether it is an error that an output does not depend on an input.
    - `vectorize`: whether all rows (or columns) are computed at once, which is quicker, or one
      after the other, which needs less memory.
    - `strategy`: `"reverse-mode"` computes by rows, `"forward-mode"` by columns.

    Shapes: `[*m, *n]` for an output `[*m]` and an input `[*n]`. A tuple of outputs, of inputs, or
    of both gives a tuple, the outputs outside. Complex numbers are as in `functx.jacrev` and
    `functx.jacfwd`.
    Errors: RuntimeError with `strict`, ValueError for another `strategy`.

    >>> functx.autograd.functional.jacobian(jnp.exp, jnp.zeros(2, "float32"))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    options = {"create_graph": create_graph, "strict": strict, "vectorize": vectorize}
    call = _FunctionalCall("jacobian", func, inputs, **options)
    compute = call.jacobian_of(call.function, strategy, "strategy", vectorize)
    jac = compute(*call.inputs)
    if strict:
        call.require("Output {} of `func`", pairs=True)
    if strict and create_graph:
        call.require("Block {} of the Jacobian", compute, when=_WITH_GRAPH)
    return jac


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of `func`, which returns one element: `torch.autograd.functional.hessian`.

    - `func`: a function of the inputs that returns an array of one element.
    - `inputs`: an array or a tuple of arrays, the arguments of `func`.
    - `create_graph`: results can be differentiated always. With `strict` it demands that the result
      depends on the inputs.
    - `strict`: whether it is an error that the output, or its gradient, does not depend on an
      input.
    - `vectorize`: whether all rows are computed at once, which is quicker, or one after the other,
      which needs less memory.
    - `outer_jacobian_strategy`: `"reverse-mode"` or `"forward-mode"`: how the gradient, which
      reverse mode computes, is differentiated.

    Shapes: `[*n, *n]` for an input `[*n]`; a tuple of inputs gives a tuple of tuples.
    Errors: RuntimeError for an output of several elements and with `strict`, TypeError for inputs
    that cannot be differentiated.

    >>> functx.autograd.functional.hessian(lambda x: (x**3).sum(), jnp.ones(2, "float32"))
    Array([[6., 0.],
           [0., 6.]], dtype=float32)
    """
    options = {"create_graph": create_graph, "strict": strict, "vectorize": vectorize}
    call = _FunctionalCall("hessian", func, inputs, **options)
    gradient = call.gradient()
    compute = call.jacobian_of(
        gradient, outer_jacobian_strategy, "outer_jacobian_strategy", vectorize
    )
    result = compute(*call.inputs)
    if strict:
        call.require("The output of `func`")
        call.require("Gradient {}", gradient, pairs=True)
    if strict and create_graph:
        call.require("Block {} of the Hessian", compute, when=_WITH_GRAPH)
    return result


def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The output of `func`, of one element, and `v` times its Hessian.

    - `func`: a function of the inputs that returns an array of one element.
    - `inputs`: an array or a tuple of arrays, the arguments of `func`; the product is like them.
    - `v`: like the inputs; may be left out where there is one input, of one element.
    - `create_graph`: results can be differentiated always. With `strict` it demands that the
      product depends on the inputs.
    - `strict`: whether it is an error that the output, or its gradient, does not depend on an
      input.

    Reverse over reverse mode, as in `torch.autograd.functional.vhp`; `hvp` is quicker.

    Errors: RuntimeError for an output of several elements, a `v` that does not fit, and with
    `strict`.

    >>> functx.autograd.functional.vhp(lambda x: x**3, jnp.float32(2))
    (Array(8., dtype=float32), Array(12., dtype=float32))
    """
    return _hessian_product("vhp", times_hessian, func, inputs, v, create_graph, strict)


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The output of `func`, of one element, and its Hessian times `v`.

    - `func`: a function of the inputs that returns an array of one element.
    - `inputs`: an array or a tuple of arrays, the arguments of `func`; the product is like them.
    - `v`: like the inputs; may be left out where there is one input, of one element.
    - `create_graph`: results can be differentiated always. With `strict` it demands that the
      product depends on the inputs.
    - `strict`: whether it is an error that the output, or its gradient, does not depend on an
      input.

    Forward over reverse mode, which is quicker than `vhp`; `torch.autograd.functional.hvp` takes
    reverse over reverse mode.

    Errors: RuntimeError for an output of several elements, a `v` that does not fit, and with
    `strict`.

    >>> functx.autograd.functional.hvp(lambda x: x**3, jnp.float32(2))
    (Array(8., dtype=float32), Array(12., dtype=float32))
    """
    return _hessian_product("hvp", hessian_times, func, inputs, v, create_graph, strict)


def _hessian_product(
    who: str,
    product: Callable[..., tuple[Any, ...]],
    func: Callable[..., Any],
    inputs: Any,
    v: Any,
    create_graph: bool,
    strict: bool,
) -> tuple[Any, Any]:
    call = _FunctionalCall(who, func, inputs, create_graph=create_graph, strict=strict)
    v = _vector(who, v, call.given, "inputs")
    _, products, output = product(call.scalar, call.inputs, v, has_aux=True)
    if strict:
        call.require("The output of `func`", all_inputs=True)
        call.require("Gradient {}", call.gradient(), all_inputs=True)
    if strict and create_graph:
        call.require(
            "The product for input {}", lambda *xs: product(call.loss, xs, v)[1], when=_WITH_GRAPH
        )
    return output, call.like_inputs(products)


class _FunctionalCall:
    """One of PyTorch's calls: a function of one array or of several, and where it is asked."""

    def __init__(self, name: str, func: Callable[..., Any], inputs: Any, **options: bool):
        self.who = f"autograd.functional.{name}"
        require_callable(self.who, func)
        require_bools(self.who, **options)
        self.func, self.given = func, inputs
        self.inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        _require_arrays(self.who, "inputs", inputs)
        if not self.inputs:
            fail(self.who, "`inputs` must not be empty", error=ValueError)

    def function(self, *values: Any) -> Any:
        outputs = self.func(*values)
        _require_arrays(self.who, "the outputs of `func`", outputs)
        return outputs

    def scalar(self, *values: Any) -> tuple[Any, Any]:
        """The one element that `func` must return, and how it is returned."""
        output = self.function(*values)
        if isinstance(output, tuple):
            self._refuse(f"`func` must return a single array, got a tuple of {len(output)}")
        if np.size(output) != 1:
            self._refuse(f"`func` must return a single element, got {describe(output)}")
        return jnp.reshape(output, ()), output

    def loss(self, *values: Any) -> Any:
        return self.scalar(*values)[0]

    def gradient(self) -> Callable[..., Any]:
        """The gradient of `func`, a tuple if its inputs are a tuple."""
        return grad(self.loss, self._argnums())

    def jacobian_of(
        self, function: Callable[..., Any], strategy: str, name: str, vectorize: bool
    ) -> Callable[..., Any]:
        """The Jacobian of `function` by rows or by columns, all at once or one by one."""
        if strategy not in _MODES:
            self._refuse(
                f"`{name}` must be 'forward-mode' or 'reverse-mode', got {describe(strategy)}",
                ValueError,
            )
        return _MODES[strategy](function, self._argnums(), chunk_size=None if vectorize else 1)

    def _argnums(self) -> Any:
        return tuple(range(len(self.inputs))) if isinstance(self.given, tuple) else 0

    def like_inputs(self, products: tuple[Any, ...]) -> Any:
        return products if isinstance(self.given, tuple) else products[0]

    def require(self, what: str, of: Callable[..., Any] | None = None, **demands: Any) -> None:
        """Refuses outputs of `of`, or of `func` itself, that depend on no input."""
        require_dependence(self.who, of or self.func, self.inputs, what, **demands)

    def _refuse(self, message: str, error: type[Exception] = RuntimeError) -> NoReturn:
        fail(self.who, message, error=error)


def _vector(name: str, v: Any, likes: Any, of: str) -> tuple[Any, ...]:
    """`v` as a tuple, like `likes`; ones if it is left out and may be."""
    who = f"autograd.functional.{name}"
    several = isinstance(likes, tuple)
    likes = likes if several else (likes,)
    if v is None:
        if len(likes) != 1 or np.size(likes[0]) != 1:
            fail(who, f"`v` can only be None where `{of}` are a single array of a single element")
        return (jnp.ones_like(likes[0]),)
    _require_arrays(who, "v", v)
    v = v if isinstance(v, tuple) else (v,)
    if len(v) != len(likes):
        fail(who, f"`v` must have one entry for each of `{of}`, {len(likes)}, got {len(v)}")
    for i, (x, like) in enumerate(zip(v, likes, strict=True)):
        if np.shape(x) != np.shape(like):
            entry = f"entry {i} of `v`" if several else "`v`"
            fail(who, f"{entry} has an invalid size: expected {describe(like)}, got {describe(x)}")
    return v


def _require_arrays(who: str, name: str, given: Any) -> None:
    for x in given if isinstance(given, tuple) else (given,):
        if kind_of(x) == "other":
            fail(
                who,
                f"{name} must be an array or a tuple of arrays, got {describe(given)}",
                error=TypeError,
            )

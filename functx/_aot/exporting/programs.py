"""`export`, `export_joint`, `export_module`: StableHLO for several platforms, with a signature."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.export
import jax.numpy as jnp

from functx._core import describe, fail
from functx._core.rules.tangent_types import inexact
from functx._transforms.arguments import leaves_with_paths, numbered, require_bool, require_callable
from functx._transforms.concretization import tracing
from functx._transforms.conjugation import conjugate
from functx._transforms.functional_call import functional_call

from .signature import Signature


__all__ = ["ExportedProgram", "export", "export_joint", "export_module"]

PLATFORMS = ("cpu", "cuda", "tpu")


@dataclasses.dataclass(frozen=True, eq=False)
class ExportedProgram:
    """A program that needs neither the function nor functx; it is called like the function.

    - `exported`: what `jax.export` made: StableHLO, the platforms, trees, shapes and dtypes.
    - `signature`: what its inputs and outputs are.
    - `vjp_order`: how often it can be differentiated once it has been written and read.
    """

    exported: jax.export.Exported
    signature: Signature
    vjp_order: int

    def __call__(self, *args: Any) -> Any:
        """What the program computes of `args`, in reverse mode differentiable, under `jit` too.

        Errors: those of JAX, for other trees, shapes, dtypes or an unknown platform.
        """
        return self.exported.call(*args)

    def __str__(self) -> str:
        taken = ", ".join(map(describe, self.exported.in_avals))
        given = ", ".join(map(describe, self.exported.out_avals))
        return f"({taken}) -> ({given}) for {', '.join(self.exported.platforms)}"


def export(
    func: Callable[..., Any],
    *specs: Any,
    platforms: Sequence[str] = PLATFORMS,
    vjp_order: int = 1,
) -> ExportedProgram:
    """`func` as a program for several platforms.

    - `func`: a function of trees of arrays. It must not print or call back.
    - `specs`: the arguments: arrays, or `jax.ShapeDtypeStruct`s, whose sizes may be symbolic:
      `jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 20"), jnp.float32)` takes any batch.
    - `platforms`: where it will run, of `"cpu"`, `"cuda"`, `"rocm"` and `"tpu"`; none of them need
      be there now.
    - `vjp_order`: how often the program can be differentiated, in reverse mode, once it has been
      written to a file and read.

    Errors: TypeError for an argument of a wrong type, ValueError for a negative order, those of
    `jax.export`.

    >>> spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 2"), jnp.float32)
    >>> program = functx.aot.export(lambda x: functx.sum(x * x, dim=1), spec)
    >>> program(jnp.ones((3, 2), "float32"))
    Array([2., 2., 2.], dtype=float32)
    """
    return _exported("export", func, specs, platforms, vjp_order, _signature(specs))


def export_joint(
    func: Callable[..., Any],
    *specs: Any,
    argnums: int | Sequence[int] | None = None,
    platforms: Sequence[str] = PLATFORMS,
    vjp_order: int = 1,
) -> ExportedProgram:
    """`func` and its gradients as one program, which returns the pair of both.

    - `func`: a function of trees of arrays. If it returns one real number, the gradients are those
      of it; else the program takes cotangents, a tree like the output, as a last argument.
    - `specs`, `platforms`, `vjp_order`: as for `functx.aot.export`.
    - `argnums`: the positions of the arguments that the gradients are of; None means all, and
      gradients come as a tuple, unless `argnums` is one position.

    Errors: TypeError for an argument or an output without floating or complex arrays, those of
    `functx.aot.export`.

    >>> w, x = jnp.ones(2, "float32"), jnp.asarray([3.0, 4.0], "float32")
    >>> program = functx.aot.export_joint(lambda w, x: functx.sum(w * x), w, x)
    >>> value, gradients = program(w, x)
    >>> gradients
    (Array([3., 4.], dtype=float32), Array([1., 1.], dtype=float32))
    """
    require_callable("export_joint", func)
    chosen = tuple(range(len(specs))) if argnums is None else argnums
    output = jax.eval_shape(func, *specs)
    leaves = jax.tree.leaves(output)
    alone = len(leaves) == 1 and leaves[0].shape == () and leaves[0].dtype.kind in "fV"
    if not all(map(inexact, leaves)) or not leaves:
        types = ", ".join(map(describe, leaves)) or "none"
        message = f"`func` must return floating or complex arrays, it returns {types}"
        fail("export_joint", message, error=TypeError)
    positions = (chosen,) if isinstance(chosen, int) else tuple(chosen)
    for n in positions:
        if not all(map(inexact, jax.tree.leaves(specs[n]))):
            message = f"argument {n} must be of floating or complex arrays, got "
            types = ", ".join(map(describe, jax.tree.leaves(specs[n])))
            hint = "name the arguments that have gradients by `argnums`"
            fail("export_joint", message + types, hint=hint, error=TypeError)

    def joint(*arguments: Any) -> tuple[Any, Any]:
        args, cotangents = arguments[: len(specs)], arguments[len(specs) :]

        def at(*moved: Any) -> Any:
            full = list(args)
            for n, x in zip(positions, moved, strict=True):
                full[n] = x
            return func(*full)

        value, pull = jax.vjp(at, *(args[n] for n in positions))
        given = cotangents[0] if cotangents else jax.tree.map(jnp.ones_like, value)
        gradients = conjugate(pull(conjugate(given)))
        return value, gradients[0] if isinstance(chosen, int) else gradients

    signature = dataclasses.replace(
        _signature(specs),
        gradients_to_user_inputs=tuple(
            path for n in positions for path in _paths([specs[n]], [f"args[{n}]"])
        ),
        takes_cotangents=not alone,
    )
    given = specs if alone else (*specs, output)
    return _exported("export_joint", joint, given, platforms, vjp_order, signature, output)


def export_module(
    module: Callable[..., Any],
    parameters: Mapping[str, Any],
    *specs: Any,
    buffers: Mapping[str, Any] | None = None,
    updates_buffers: bool = False,
    gradients: bool = False,
    platforms: Sequence[str] = PLATFORMS,
    vjp_order: int = 1,
) -> ExportedProgram:
    """`functional_call` of a model as a program of its parameters, its buffers and its inputs.

    - `module`: a callable pytree, or a function of parameters and arguments, as for
      `functx.functional_call`; it is given the parameters and buffers as one dict.
    - `parameters`, `buffers`: dicts of arrays or `jax.ShapeDtypeStruct`s, by dotted path.
    - `specs`, `platforms`, `vjp_order`: as for `functx.aot.export`.
    - `updates_buffers`: whether the model returns a pair of its output and a dict of new buffers.
    - `gradients`: whether the program returns the gradients by the parameters, too; the output must
      then be one real number, a loss.

    The program takes the dict of parameters, the dict of buffers if there are any, and the inputs.
    It returns the output; a tuple of it, the dict of new buffers and the dict of gradients if more
    is asked for.

    Errors: TypeError for an output that is no loss where gradients are asked for, those of
    `functx.functional_call` and of `functx.aot.export`.

    >>> def loss(parameters, x):
    ...     return functx.sum(parameters["w"] * x)
    >>> parameters, x = {"w": jnp.ones(2, "float32")}, jnp.asarray([3.0, 4.0], "float32")
    >>> program = functx.aot.export_module(loss, parameters, x, gradients=True)
    >>> program.signature.gradients_to_parameters
    ('w',)
    >>> program(parameters, x)
    (Array(7., dtype=float32), {'w': Array([3., 4.], dtype=float32)})
    """
    require_bool("export_module", "updates_buffers", updates_buffers)
    require_bool("export_module", "gradients", gradients)
    held = () if buffers is None else (dict(buffers),)

    def call(weights: Any, state: Any, args: Any) -> tuple[Any, Any]:
        found = functional_call(module, {**weights, **state}, tuple(args))
        return found if updates_buffers else (found, {})

    def program(weights: Any, *rest: Any) -> Any:
        state, args = (rest[0] if held else {}), rest[len(held) :]
        if gradients:
            run = lambda weights: call(weights, state, args)
            (output, updated), found = jax.value_and_grad(run, has_aux=True)(weights)
            found = conjugate(found)
        else:
            (output, updated), found = call(weights, state, args), None
        parts = (output, *((updated,) if updates_buffers else ()), *((found,) if gradients else ()))
        return parts if len(parts) > 1 else output

    shapes = jax.eval_shape(call, dict(parameters), held[0] if held else {}, specs)
    output = jax.tree.leaves(shapes[0])
    if gradients and not (len(output) == 1 and output[0].shape == () and inexact(output[0])):
        types = ", ".join(map(describe, output)) or "none"
        message = f"with `gradients=True` `module` must return one real number, it returns {types}"
        fail("export_module", message, error=TypeError)
    mutated = sorted(shapes[1]) if updates_buffers else []
    signature = Signature(
        parameters=tuple(sorted(parameters)),
        buffers=tuple(sorted(buffers or ())),
        user_inputs=_paths(specs, numbered("args", len(specs))),
        buffers_to_mutate=tuple(mutated),
        gradients_to_parameters=tuple(sorted(parameters)) if gradients else (),
    )
    given = (dict(parameters), *held, *specs)
    return _exported("export_module", program, given, platforms, vjp_order, signature, shapes[0])


def _exported(
    who: str,
    func: Callable[..., Any],
    specs: Sequence[Any],
    platforms: Sequence[str],
    vjp_order: int,
    signature: Signature,
    output: Any = None,
) -> ExportedProgram:
    require_callable(who, func)
    if isinstance(vjp_order, bool) or not isinstance(vjp_order, int) or vjp_order < 0:
        kind = ValueError if type(vjp_order) is int else TypeError
        message = f"`vjp_order` must be an int from 0, got {describe(vjp_order)}"
        fail(who, message, error=kind)
    if isinstance(platforms, str):
        fail(who, f"`platforms` must be a sequence of names, got {platforms!r}", error=TypeError)
    output = jax.eval_shape(func, *specs) if output is None else output
    named = dataclasses.replace(signature, user_outputs=_paths([output], ["output"]))
    run = jax.jit(lambda *args: tracing(who, func, *args))
    return ExportedProgram(
        jax.export.export(run, platforms=list(platforms))(*specs), named, vjp_order
    )


def _signature(specs: Sequence[Any]) -> Signature:
    return Signature(user_inputs=_paths(specs, numbered("args", len(specs))))


def _paths(values: Sequence[Any], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(path for path, _ in leaves_with_paths(tuple(values), tuple(names)))

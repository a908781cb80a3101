"""The same models by torchax, which runs a module's own calls on JAX's arrays."""

import contextlib
import functools as ft

import jax

from benchmarks.importing import torchax_if_there

from .building import build
from .comparing import error, errors_of_each, floating, NEAR, numbers, objective, slopes
from .widening import widened


def torchax(spec):
    """Values and gradients by all parameters of what `extract_jax` gives, in evaluation.

    Models that cast to float32 are computed in double too.
    """
    try:
        report = _compared(spec, contextlib.nullcontext)
    except RuntimeError:  # of a model that mixes dtypes
        with widened():
            return _compared(spec, widened)
    if any(not x <= NEAR for x in report["errors"].values()):
        with widened():
            again = _compared(spec, widened)
        report["errors"] |= {f"{name} in double": x for name, x in again["errors"].items()}
    return report


def _compared(spec, inside):
    library = torchax_if_there()
    if library is None:
        raise ImportError("this check needs the package `torchax`")
    library.enable_accuracy_mode()
    case = build(spec)
    out = case.call(case.module, case.leaves)
    wanted = numbers(slopes(objective(out), case.parameters.values()))
    _enter_in_calls(case.module, inside)
    states, function = library.extract_jax(case.module)
    params = {name: states[name] for name in case.parameters}

    def weighted(params, given):
        call = lambda *args, **kwargs: function(states | params, args, kwargs)
        out = case.call(call, given)
        return objective(out), floating(out)

    step = jax.jit(jax.grad(weighted, has_aux=True))
    of_params, got = step(params, [jax.numpy.asarray(x) for x in case.arrays()])
    return {
        "errors": {
            "values": errors_of_each(got, numbers(floating(out))),
            "gradients": error([of_params[name] for name in params], wanted),
        }
    }


def _enter_in_calls(module, context):
    """Enters a context in each forward pass of a module, within torchax's own."""
    forward = module.forward

    @ft.wraps(forward)
    def inside(*args, **kwargs):
        with context():
            return forward(*args, **kwargs)

    module.forward = inside

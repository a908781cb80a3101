"""The same models by torchax, which runs a module's own calls on JAX's arrays."""

import jax

from benchmarks.importing import torchax_if_there

from .building import build
from .comparing import error, errors_of_each, floating, numbers, objective, slopes


def torchax(spec):
    """Values and gradients by all parameters of what `extract_jax` gives, in evaluation."""
    library = torchax_if_there()
    if library is None:
        raise ImportError("this check needs the package `torchax`")
    library.enable_accuracy_mode()
    case = build(spec)
    out = case.call(case.module, case.leaves)
    wanted = numbers(slopes(objective(out), case.parameters.values()))
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

"""The comparisons of an imported model with PyTorch, each the greatest relative error.

Of values the error is relative to the greatest entry of the same output, of derivatives and of
buffers to the greatest entry of all of them. What is differentiated is a sum of all outputs with
random weights. What a model casts to float32 is computed in double, and in evaluation as the model
has it too.
"""

import contextlib
import copy
import functools as ft
import os
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch.nn.attention import sdpa_kernel, SDPBackend

import functx
from functx.interop import from_torch
from functx.testing.checks.programs import cheaper_flags

from .building import BATCH, build, for_training
from .by_torchax import torchax
from .comparing import error, errors_of_each, first_line, floating, NEAR, numbers, objective, slopes
from .graphs import graphs
from .widening import casts_to_float32, widened


def values(spec):
    """Values and gradients by all parameters, in evaluation: as they are written, or in double."""
    try:
        report, casts = _values(spec)
    except RuntimeError as refusal:  # of a model that mixes dtypes
        with widened():
            report, _ = _values(spec)
        return report | {"reason": f"in double alone: as it is, {first_line(refusal)}"}
    if casts and not all(x <= NEAR for x in report["errors"].values()):
        with widened():
            again, _ = _values(spec)
        report["errors"] |= {f"{name} in double": x for name, x in again["errors"].items()}
        report["casts"] = casts[0]
    return report


def _values(spec):
    """A report, and the lines that cast to float32."""
    case = build(spec)
    params = case.parameters
    out = case.call(case.module, case.leaves)
    wanted = numbers(slopes(objective(out), params.values()))
    want = numbers(floating(out))
    model = from_torch(case.module)

    def weighted(params, given):
        out = case.call(ft.partial(model, params), given)
        return objective(out), floating(out)

    step = functx.jit(functx.grad(weighted, has_aux=True))
    of_params, got = step(model.params, case.arrays())
    ours = [of_params[name] for name in params]
    found = {"values": errors_of_each(got, want), "gradients": error(ours, wanted)}
    report = {"errors": found, "parameters": sum(p.numel() for p in params.values())}
    if not all(np.isfinite(x).all() for x in want):
        report["reason"] = "as it is, PyTorch's own results are not finite in double"
    return report, casts_to_float32(model)


@widened()
def training(spec):
    """Values, gradients and new buffers in training mode, without dropout."""
    case = for_training(build(spec))
    with torch.no_grad():
        case.call(case.module, case.leaves)  # some modules make buffers in their first call
    twin = copy.deepcopy(case.module)
    out = case.call(twin, case.leaves)
    named = {name: p for name, p in twin.named_parameters() if p.requires_grad}
    wanted = numbers(slopes(objective(out), named.values()))
    model = from_torch(case.module)

    def weighted(params, given):
        out, buffers = case.call(ft.partial(model.apply, params, model.buffers), given)
        return objective(out), (floating(out), buffers)

    step = functx.jit(functx.grad(weighted, has_aux=True))
    of_params, (got, buffers) = step(model.params, case.arrays())
    after = [(buffers[name], x.numpy()) for name, x in twin.named_buffers()]
    return {
        "errors": {
            "values": errors_of_each(got, numbers(floating(out))),
            "gradients": error([of_params[name] for name in named], wanted),
            # Together: a running mean may be 0 but for rounding.
            "buffers": error(*zip(*after, strict=True)) if after else 0.0,
        }
    }


@widened()
def samples(spec):
    """Gradients of each sample, beside `torch.func`, or PyTorch's one by one where it refuses."""
    case = build(spec)
    model = from_torch(case.module)

    def ours(params, *sample):
        return objective(case.call(ft.partial(model, params), [x[None] for x in sample]))

    lanes = (None, *(0 for _ in case.leaves))
    got = functx.jit(functx.vmap(functx.grad(ours), lanes))(model.params, *case.arrays())
    ours_of = [got[name] for name in case.parameters]
    report = {"errors": {}}
    try:
        want = of_each_sample(case, lanes)
        report["errors"]["torch.func"] = error(ours_of, want)
    except Exception as refusal:
        report["torch.func"] = first_line(refusal)
        report["errors"]["one by one"] = error(ours_of, one_by_one(case))
    return report


def of_each_sample(case, lanes):
    """`torch.func`'s gradients of each sample."""

    def theirs(params, *sample):
        run = lambda *args, **named: torch.func.functional_call(case.module, params, args, named)
        return objective(case.call(run, [x[None] for x in sample]))

    params = {name: p.detach() for name, p in case.parameters.items()}
    found = torch.func.vmap(torch.func.grad(theirs), lanes)(params, *case.leaves)
    return numbers(found[name] for name in params)


def one_by_one(case):
    """PyTorch's gradients of each sample alone."""
    rows = []
    for at in range(BATCH):
        value = objective(case.call(case.module, [x[at : at + 1] for x in case.leaves]))
        rows.append(numbers(slopes(value, case.parameters.values())))
    return [np.stack(each) for each in zip(*rows, strict=True)]


@widened()
def hessian(spec):
    """Products of a Hessian and a vector, forward and reverse over reverse."""
    case = build(spec)
    generator = torch.Generator().manual_seed(1)
    draw = lambda p: torch.randn(p.shape, generator=generator, dtype=p.dtype)
    direction = {name: draw(p) for name, p in case.parameters.items()}
    along = {name: d.numpy() for name, d in direction.items()}
    report = {"errors": {}}
    want, report["double backward"] = second_derivative(case, direction)
    model = from_torch(case.module)  # after the first call, in which some make their buffers

    def slope(params, given):
        value = lambda params: objective(case.call(ft.partial(model, params), given))
        return functx.grad(value)(params)

    def forward(params, given, along):
        return functx.jvp(lambda p: slope(p, given), (params,), (along,))[1]

    def directed(params, given, along):
        return sum(jnp.sum(g * along[name]) for name, g in slope(params, given).items())

    for name, product in {"forward": forward, "reverse": functx.grad(directed)}.items():
        got = functx.jit(product)(model.params, case.arrays(), along)
        got = [got[each] for each in case.parameters]
        if want is None:  # the two ways beside each other
            want = [np.asarray(x) for x in got]
        else:
            report["errors"][f"{name} over reverse"] = error(got, want)
    return report


def second_derivative(case, direction):
    """PyTorch's product of the Hessian and a vector, and what it needed or refused."""
    refusals = []
    for kernels in (contextlib.nullcontext(), sdpa_kernel(SDPBackend.MATH)):
        try:
            with kernels:
                params = list(case.parameters.values())
                value = objective(case.call(case.module, case.leaves))
                first = slopes(value, params, create_graph=True)
                pairs = zip(first, direction.values(), strict=True)
                inner = sum((g * d).sum() for g, d in pairs)
                found = numbers(slopes(inner, params))
            if all(np.isfinite(x).all() for x in found):
                return found, "; ".join(refusals)
            refusals.append("its result is not finite")
        except RuntimeError as refusal:
            refusals.append(first_line(refusal))
    return None, "; ".join(dict.fromkeys(refusals))


CHECKS = {each.__name__: each for each in (values, graphs, training, samples, hessian, torchax)}


def run(check, spec):
    """A check's report, without the libraries' warnings about themselves."""
    # Each program runs once, so that compiling it is most of its cost.
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {cheaper_flags()}".strip()
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CHECKS[check](spec)

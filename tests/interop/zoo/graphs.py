"""An imported model as a graph of `functx.aot`: divided, on a budget, and saved for any batch."""

import functools as ft
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import numpy as np
import torch

import functx
from functx.interop import from_torch

from .building import build, forget
from .comparing import (
    error,
    errors_of_each,
    first_line,
    floating,
    numbers,
    objective,
    slopes,
    weights,
)
from .widening import widened


MOST = 64  # samples of a batch
EXPORTED, CALLED = 3, (2, 5)  # the size that the export sees, and those of the calls
BUDGETS = (0.5, 0.75, 0.9)  # the first that the derivative can keep to

# Runs a saved model, with its first derivatives, where neither PyTorch nor functx can be imported.
ALONE = """
import sys
sys.modules |= {"torch": None, "functx": None}
import jax, numpy as np
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)
program = jax.export.deserialize(bytearray(open("program", "rb").read()))
listed = lambda path: list(np.load(path).values())
params = listed("params.npz")
for at in sys.argv[1:]:
    given, weights = listed(f"given{at}.npz"), listed(f"weights{at}.npz")
    def both(params):
        out, pull = jax.vjp(lambda params: program.call(params, given), params)
        return out, *pull(weights)
    out, slopes = jax.jit(both)(params)
    np.savez(f"values{at}.npz", *out)
    np.savez(f"slopes{at}.npz", *slopes)
"""


@widened()
def graphs(spec):
    """Gradients by a partition, on a budget, and of a file that JAX runs alone at other sizes."""
    case = build(spec)
    # Some modules make their buffers in the first call, so the import comes after it.
    value = objective(case.call(case.module, case.leaves))
    wanted = numbers(slopes(value, case.parameters.values()))
    model, arrays = from_torch(case.module), case.arrays()
    loss = lambda params, given: objective(case.call(ft.partial(model, params), given))
    difference = lambda got: error([got[name] for name in case.parameters], wanted)
    report = {"errors": {}}

    joint = functx.aot.joint_graph(loss, model.params, arrays, argnums=0)
    partition = functx.aot.min_cut_partition(joint)
    report |= {"nodes": len(joint.graph.nodes), "operations": joint.graph.cost().flops}
    assert report["nodes"] and report["operations"]
    report["errors"]["partition"] = difference(_divided(partition, model.params, arrays))

    budget, got = _on_a_budget(loss, model.params, arrays)
    report["errors"]["budget"] = difference(got)
    report["budget"] = "" if budget == BUDGETS[0] else budget

    try:
        program = exported(case)
    except Exception as refusal:
        return report | {"one batch": first_line(refusal)}
    with tempfile.TemporaryDirectory() as folder:
        report["errors"] |= saved(case, from_torch(program), Path(folder))
    return report


def _divided(partition, params, arrays):
    """The gradients by the two passes of a partition, which take and return leaves."""

    def both(params, arrays):
        _, *kept = partition.forward(*jax.tree.leaves((params, arrays)))
        found = partition.backward(*kept, np.float64(1))
        return jax.tree.unflatten(jax.tree.structure(params), found)

    return functx.jit(both)(params, arrays)


def _on_a_budget(loss, params, arrays):
    """The smallest of the budgets that is enough, and the gradients on it."""
    for budget in BUDGETS:
        try:
            halved = functx.checkpoint(loss, budget=budget)
            return budget, functx.jit(functx.grad(halved))(params, arrays)
        except ValueError as refusal:
            if "`budget` must be at least" not in str(refusal) or budget == BUDGETS[-1]:
                raise


def sized(leaves, size):
    """Other inputs of a kind, of a batch of this size."""
    return [torch.cat([x.roll(at, -1) for at in range(size)])[:size].contiguous() for x in leaves]


def exported(case):
    """PyTorch's program of the case for any batch."""
    forget(case.module)
    leaves = sized(case.leaves, EXPORTED)
    args, kwargs = jax.tree.unflatten(case.structure, leaves)
    shapes, batch = torch.export.ShapesCollection(), torch.export.Dim("batch", min=2, max=MOST)
    for x in leaves:
        shapes[x] = {0: batch}
    given = shapes.dynamic_shapes(case.module, args, kwargs)
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # kernels of whole layers have no derivatives
    try:
        return torch.export.export(case.module, args, kwargs, dynamic_shapes=given, strict=False)
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)


def saved(case, model, folder):
    """The errors of a file with a model for any batch, run and differentiated by JAX alone."""
    names = list(case.parameters)
    scope = jax.export.SymbolicScope([f"batch <= {MOST}", "batch >= 2"])

    def listed(params, leaves):
        params = dict(zip(names, params, strict=True))
        return floating(case.call(ft.partial(model, params), leaves))

    def of_any(x):
        sizes = ", ".join(["batch", *map(str, x.shape[1:])])
        return jax.ShapeDtypeStruct(jax.export.symbolic_shape(sizes, scope=scope), x.dtype)

    params = [np.asarray(model.params[name]) for name in names]
    leaves = list(map(of_any, case.arrays()))
    program = functx.aot.export(listed, params, leaves, platforms=["cpu"])
    (folder / "program").write_bytes(program.exported.serialize(vjp_order=program.vjp_order))
    np.savez(folder / "params.npz", *params)
    wanted = [_wanted(case, folder, size) for size in CALLED]
    command = [sys.executable, "-c", ALONE, *map(str, CALLED)]
    subprocess.run(command, cwd=folder, check=True)
    errors = {"saved values": 0.0, "saved gradients": 0.0}
    for size, (values, gradients) in zip(CALLED, wanted, strict=True):
        got = [_arrays(folder / f"{name}{size}.npz") for name in ("values", "slopes")]
        errors["saved values"] = max(errors["saved values"], errors_of_each(got[0], values))
        errors["saved gradients"] = max(errors["saved gradients"], error(got[1], gradients))
    return errors


def _wanted(case, folder, size):
    """PyTorch's results and gradients at a size; the inputs of the call are written."""
    leaves = sized(case.leaves, size)
    forget(case.module)
    out = case.call(case.module, leaves)
    values = numbers(floating(out))
    np.savez(folder / f"given{size}.npz", *map(np.asarray, leaves))
    np.savez(folder / f"weights{size}.npz", *(weights(at, x) for at, x in enumerate(values)))
    return values, numbers(slopes(objective(out), case.parameters.values()))


def _arrays(path):
    with np.load(path) as found:
        return list(found.values())

"""`from_torch`: a PyTorch module or an exported program as a function of its parameters."""

from __future__ import annotations

from typing import Any

from functx._core import require_bool
from functx._interop.needing_torch import module_needing_torch

from .model import ImportedModel


def from_torch(module_or_exported_program: Any, *, roll: bool = False) -> ImportedModel:
    """A PyTorch model as a function of its parameters, to transform, compile and save.

    - `module_or_exported_program`: a `torch.nn.Module`, which is exported (`torch.export`) whenever
      it is called with shapes, dtypes, a structure of arguments or a mode that are new; or a
      `torch.export.ExportedProgram`, which keeps its mode and its shapes, and runs at any size in
      the range of its dynamic dimensions.
    - `roll`: whether equal layers that follow each other run as one loop, as by `functx.aot.roll`,
      so that a deep model compiles sooner. Parameters, buffers and gradients keep their names. A
      call records the program anew: compile it.

    Returns an `ImportedModel`: `.params`, `.frozen` and `.buffers` are dicts from PyTorch's names
    to arrays, which share the module's memory where that is possible; `model(params, x)` evaluates,
    and `model.apply(params, buffers, x, train=True, key=key)` trains. Only an import and an export
    need PyTorch: a function that was compiled or saved (`functx.aot`) does not.

    Example, where PyTorch is installed::

        model = functx.interop.from_torch(torch.nn.Linear(3, 2))
        loss = lambda params: functx.sum(model(params, functx.ones(4, 3)))
        functx.grad(loss)(model.params)["bias"]  # [4., 4.]

    Errors: ImportError without PyTorch; TypeError for anything else, and for a `roll` that is no
    bool. A call whose module contains
    an operator that functx lacks raises NotImplementedError with the operator, the line of the
    model and the remedy, `functx.interop.register`.

    >>> import torch
    >>> model = functx.interop.from_torch(torch.nn.Linear(2, 3))
    >>> {name: p.shape for name, p in model.params.items()}
    {'weight': (3, 2), 'bias': (3,)}
    >>> loss = lambda params, x: functx.sum(model(params, x) ** 2)
    >>> functx.grad(loss)(model.params, jnp.ones((4, 2), "float32"))["weight"].shape
    (3, 2)
    """
    require_bool("from_torch", "roll", roll)
    sources = module_needing_torch("from_torch", "functx._interop.from_torch.torch_side.sources")
    return ImportedModel(sources.source_of(module_or_exported_program), roll)

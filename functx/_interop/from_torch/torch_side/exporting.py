"""`torch.export` of a module, which is left as it was."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from .backward_passes import BackwardPass, OwnCalls
from .grad_regions import without_grad_regions
from .unrecorded_writes import with_unrecorded_writes


_exporting = threading.RLock()


def exported(
    module: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    train: bool,
    replaced: Mapping[torch.Tensor, torch.Tensor],
    calls: OwnCalls,
) -> Any:
    """The functional program of a module in this mode, for arguments of these shapes and dtypes.

    `replaced` are tensors that stand for parameters and buffers meanwhile, in other dtypes. `calls`
    takes those of the model's `autograd.Function`s.
    """
    with _exporting, _unchanged(module), _quiet(), _without_values(), calls.recorded():
        module.train(train)
        _replace(module, replaced)
        with torch.enable_grad():
            program = torch.export.export(module, args, kwargs, strict=False)
            return functional(program)


def exported_backward(backward: BackwardPass, calls: OwnCalls) -> Any:
    """The functional program of a backward pass; `calls` takes those of functions in it."""
    with _exporting, _quiet(), _without_values(), calls.recorded(), torch.enable_grad():
        program = torch.export.export(backward, backward.examples(), strict=False)
        return functional(program)


def functional(program: Any) -> Any:
    """An exported program without writes, of which composite operators are whole."""
    with _quiet():
        program = with_unrecorded_writes(without_grad_regions(program))
        return program.run_decompositions({})


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the fused kernels of PyTorch's layers, and without its warnings about itself."""
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)


@contextlib.contextmanager
def _without_values() -> Iterator[None]:
    """PyTorch's own modules look at no values of tensors, since an export has none.

    Layers of transformers compare a mask with the causal one and choose a kernel by that, which
    gives the same results. Distributions check their arguments.
    """
    layers: dict[str, Any] = torch.nn.modules.transformer.__dict__
    comparison = "_detect_is_causal_mask"
    distribution = torch.distributions.Distribution
    compares, checks = layers.get(comparison), distribution._validate_args
    distribution.set_default_validate_args(False)
    if compares is not None:  # it is private to PyTorch
        layers[comparison] = lambda mask, is_causal=None, size=None: is_causal is True
    try:
        yield
    finally:
        distribution.set_default_validate_args(checks)
        if compares is not None:
            layers[comparison] = compares


@contextlib.contextmanager
def _unchanged(module: torch.nn.Module) -> Iterator[None]:
    """Puts back what modules have as attributes, and what is in their lists and dicts."""
    held = [(part, dict(part.__dict__)) for part in module.modules()]
    inside = [
        (value, value.copy())
        for _, names in held
        for value in names.values()
        if type(value) in (list, dict, set)
    ]
    try:
        yield
    finally:
        for part, names in held:
            part.__dict__.clear()
            part.__dict__.update(names)
        for value, before in inside:
            if isinstance(value, list):
                value[:] = before
            else:
                value.clear()
                value.update(before)


def _replace(module: torch.nn.Module, replaced: Mapping[torch.Tensor, torch.Tensor]) -> None:
    if not replaced:
        return
    by_id = {id(old): new for old, new in replaced.items()}
    for part in module.modules():
        names: dict[str, Any] = vars(part)
        for held in (names["_parameters"], names["_buffers"]):
            for name, x in held.items():
                if id(x) in by_id:
                    held[name] = by_id[id(x)]

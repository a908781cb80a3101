"""Where forward passes come from: a module, which is exported when needed, or one program."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import torch

from functx._core import describe, fail
from functx._interop.from_torch.calls import is_array
from functx._interop.from_torch.forward import Forward
from functx._interop.from_torch.model import Source
from functx._interop.from_torch.own_derivatives import as_it_is, OwnBackward
from functx._interop.from_torch.sizes import ArrayInput

from .backward_passes import BackwardPass, OwnCall, OwnCalls
from .exporting import exported, exported_backward, functional
from .reading import OwnFunctions, read_graph
from .refusals import explained
from .signatures import array_inputs, filled_inputs, places_of_inputs, ranges_of, results_of
from .tensors import array_of, described, dtype_name, empty_like_array


def source_of(given: Any) -> Source:
    """The source that `from_torch` was given."""
    if isinstance(given, torch.export.ExportedProgram):
        return ProgramSource(given)
    if isinstance(given, torch.nn.Module):
        return ModuleSource(given)
    fail(
        "from_torch",
        f"`module_or_exported_program` must be a torch.nn.Module or an ExportedProgram, "
        f"got {describe(given)}",
        hint="a module that was saved is loaded first: torch.load, or load_state_dict",
        error=TypeError,
    )


class _State:
    """Parameters and buffers as arrays, and under which name each tensor is known."""

    def __init__(
        self,
        name: str,
        parameters: Mapping[str, torch.Tensor],
        buffers: Mapping[str, torch.Tensor],
    ):
        self.name = name
        self.names: dict[str, str] = {}  # by all names of a tensor the first one
        self.tensors: dict[str, torch.Tensor] = {}
        first: dict[int, str] = {}
        for path, x in (*parameters.items(), *buffers.items()):
            if x is None:
                continue
            self.names[path] = first.setdefault(id(x), path)
            self.tensors.setdefault(self.names[path], x)
        arrays = {path: array_of(repr(path), x) for path, x in self.tensors.items()}
        own = [path for path in self.tensors if path in parameters]
        self.params = {p: arrays[p] for p in own if self.tensors[p].requires_grad}
        self.frozen = {p: arrays[p] for p in own if not self.tensors[p].requires_grad}
        self.buffers = {p: arrays[p] for p in self.tensors if p not in parameters}
        self.dtypes = {path: dtype_name(x.dtype) for path, x in self.tensors.items()}
        self.ranges: Mapping[str, tuple[int, int | None]] = {}

    def forward(
        self,
        program: Any,
        leaves: tuple[int, ...],
        inputs: tuple[ArrayInput, ...] = (),
        own: OwnFunctions | None = None,
    ) -> Forward:
        """The forward pass of a functional exported program, with backward passes of its `own`."""
        signature = program.graph_signature
        constants, parameters, buffers, users = {}, {}, {}, []
        for spec in signature.input_specs:
            kind, name = spec.kind.name, spec.arg.name
            target = self.names.get(spec.target or "", spec.target)
            if kind == "PARAMETER":
                parameters[name] = target
            elif kind == "BUFFER" and target in self.buffers:
                buffers[name] = target
            elif kind == "USER_INPUT":
                if hasattr(spec.arg, "value"):  # a fixed value
                    constants[name] = spec.arg.value
                else:
                    users.append(name)
            else:
                constants[name] = value = program.constants.get(spec.target)
                self._check_constant(value)
        takes = [*parameters, *buffers, *users]
        read = read_graph(program.graph_module, constants, takes, own)
        written, kept = [], []
        places: list[int | None] = []
        for spec, out in zip(signature.output_specs, read.outputs, strict=True):
            kind, target = spec.kind.name, self.names.get(spec.target or "", spec.target)
            if kind == "BUFFER_MUTATION":
                written.append((target, out))
            elif kind == "USER_OUTPUT":
                places.append(None if out is None else len(kept))
                if out is not None:
                    kept.append(out)
        read = dataclasses.replace(read, outputs=(*(out for _, out in written), *kept))
        return Forward(
            program=read,
            parameters=tuple(parameters.values()),
            buffers=tuple(buffers.values()),
            leaves=leaves,
            written=tuple(name for name, _ in written),
            results=results_of(program, places),
            inputs=inputs,
            default_dtype=dtype_name(torch.get_default_dtype()),
        )

    def _check_constant(self, value: Any) -> None:
        """Refuses a tensor of an earlier call: its derivatives by parameters would be lost."""
        if isinstance(value, torch.Tensor) and value.grad_fn is not None:
            fail(
                "from_torch",
                f"{self.name} keeps a tensor {described(value)} that an earlier call computed from "
                "parameters, whose derivatives would be lost",
                hint="import the module before it is called, or empty what it keeps; a call under "
                "torch.no_grad() keeps a constant",
                error=ValueError,
            )


class ModuleSource(_State):
    """A module, exported for each combination of arguments and mode."""

    def __init__(self, module: torch.nn.Module):
        super().__init__(type(module).__name__, *_state_of(module))
        self._module = module
        self._imported = _facts_of(module)

    def fixed(self) -> None:
        """None: each combination has its own."""

    def structure(self) -> Any:
        """None: any is exported."""

    def exported(
        self, structure: Any, leaves: list[Any], train: bool, dtypes: Mapping[str, str]
    ) -> Forward:
        """The forward pass for these arguments, with state of these dtypes."""
        self._check_unchanged()
        wide = bool(jax.config.read("jax_enable_x64"))
        given = [empty_like_array(x, wide) if is_array(x) else x for x in leaves]
        args, kwargs = jax.tree.unflatten(structure, given)
        replaced = {
            x: _in_dtype(x, dtypes[path]) for path, x in self.tensors.items() if path in dtypes
        }
        calls = OwnCalls()
        with explained(self.name, leaves):
            program = exported(self._module, args, kwargs, train, replaced, calls)
        numbers = jax.tree.unflatten(structure, range(len(leaves)))
        places = places_of_inputs(program, *numbers)
        own = _OwnDerivatives(calls, self.tensors.values())
        found = self.forward(
            program, tuple(at for at in places if is_array(leaves[at])), own=own.function
        )
        own.warn()
        return found

    def _check_unchanged(self) -> None:
        """Refuses a module whose tensors are no longer those that were imported.

        Some replace a buffer at their first call, for the sizes that they see.
        """
        present = _facts_of(self._module)
        for name in (*self._imported, *present):
            before, now = self._imported.get(name), present.get(name)
            if before != now:
                fail(
                    "from_torch",
                    f"{name!r} of {self.name} was {before or 'not there'} when the module was "
                    f"imported, and is {now or 'not there'} now",
                    hint="import the module again: functx.interop.from_torch(module)",
                    error=ValueError,
                )


class _OwnDerivatives:
    """What stands for the backward passes of a model's functions, each imported when it is met."""

    def __init__(self, calls: OwnCalls, tensors: Iterable[torch.Tensor]):
        self._calls, self._lost = calls, dict[str, str]()
        self._held = {x.data_ptr() for x in tensors if x.numel()}
        self._functions: dict[int, Callable[..., Any]] = {}

    def function(self, number: int) -> Callable[..., Any]:
        """The function of the results, inputs and saved tensors of a call."""
        if number not in self._functions:
            self._functions[number] = as_it_is  # for a backward pass that calls its own function
            self._functions[number] = self._imported(self._calls.calls[number])
        return self._functions[number]

    def _imported(self, call: OwnCall) -> Callable[..., Any]:
        name = call.function.__name__
        try:
            if call.dirty:
                raise NotImplementedError("its forward pass writes into its arguments")
            backward = BackwardPass(call)
            program = exported_backward(backward, self._calls)
            self._check_constants(program)
            leaves = tuple(range(len(jax.tree.leaves(backward.examples()))))
            read = _State(name, {}, {}).forward(program, leaves, own=self.function)
        except Exception as refusal:  # the forward pass may be all that is wanted
            said = str(refusal).partition("\n")[0]
            self._lost.setdefault(name, f"{call.line}: {type(refusal).__name__}: {said}")
            return as_it_is
        return OwnBackward(name, read, backward.once)

    def _check_constants(self, program: Any) -> None:
        """Refuses what is computed from the state of the model, which would be a constant."""
        for value in program.constants.values():
            if isinstance(value, torch.Tensor) and (
                value.requires_grad or value.data_ptr() in self._held
            ):
                raise NotImplementedError(
                    "its backward pass reads a parameter or a buffer that `ctx` does not save"
                )

    def warn(self) -> None:
        """Warns of backward passes that could not be imported."""
        for name, why in self._lost.items():
            warnings.warn(
                f"from_torch: the backward pass of {name} is lost, and the derivative is that of "
                f"its forward pass{why}\n"
                "  hint: make it an operator (torch.library.custom_op), and give functx.interop."
                "register a functx.Function for it",
                stacklevel=6,  # where the model is called
            )


class ProgramSource(_State):
    """An exported program, for the arguments and the mode of its export."""

    def __init__(self, program: Any):
        super().__init__(
            "ExportedProgram", dict(program.named_parameters()), dict(program.named_buffers())
        )
        program = functional(program)
        inputs = array_inputs(program)
        self.ranges: Mapping[str, tuple[int, int | None]] = ranges_of(program)
        self._structure = filled_inputs(program, inputs)
        leaves = jax.tree.leaves(self._structure)
        order = tuple(next(i for i, leaf in enumerate(leaves) if leaf is each) for each in inputs)
        self._forward = self.forward(program, order, tuple(inputs))

    def fixed(self) -> Forward:
        """The only forward pass."""
        return self._forward

    def structure(self) -> Any:
        """The structure of its arguments, with what was exported as leaves."""
        return self._structure

    def exported(
        self, structure: Any, leaves: list[Any], train: bool, dtypes: Mapping[str, str]
    ) -> Forward:
        """The only forward pass."""
        return self._forward


def _state_of(
    module: torch.nn.Module,
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """All parameters and buffers, by all their names."""
    return (
        dict(module.named_parameters(remove_duplicate=False)),
        dict(module.named_buffers(remove_duplicate=False)),
    )


def _facts_of(module: torch.nn.Module) -> dict[str, str]:
    """The dtype and shape of each parameter and buffer."""
    return {name: described(x) for each in _state_of(module) for name, x in each.items()}


def _in_dtype(x: torch.Tensor, dtype: str) -> torch.Tensor:
    """A tensor of the shape of another, of which only the dtype is read."""
    new = torch.empty(x.shape, dtype=getattr(torch, dtype))
    if isinstance(x, torch.nn.Parameter):
        floating = new.is_floating_point() or new.is_complex()
        return torch.nn.Parameter(new, requires_grad=x.requires_grad and floating)
    return new

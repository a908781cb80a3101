"""A functional exported program of PyTorch's as a program of functx's operators."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import torch
from torch.fx import GraphModule, Node

from functx._core import fail, nearest
from functx._interop.from_torch.aten import normalizing, resampling
from functx._interop.from_torch.aten.binding import (
    bound_call,
    BoundCall,
    known_names,
    Parameter,
    REQUIRED,
)
from functx._interop.from_torch.aten.left_out import AtenSchema, left_out
from functx._interop.from_torch.aten.other_names import HIGHER_ORDER, OF_LIBRARIES
from functx._interop.from_torch.programs import (
    CatalogCall,
    ImportedProgram,
    ImportedStep,
    Numbered,
    numbered,
    SizedCall,
    spent_values,
)
from functx._interop.from_torch.registered import registered

from .tensors import array_of, dtype_name


# What stands for operators of which all readers take the first result.
_FIRST_ALONE: dict[str, Callable[..., Any]] = {
    "native_dropout": normalizing.dropped_alone,
    **{f"max_pool{d}d_with_indices": resampling.greatest_alone for d in (1, 2, 3)},
    **{f"adaptive_max_pool{d}d": resampling.adaptive_greatest_alone for d in (1, 2, 3)},
}
_PYTHON = {
    "sym_float": float,
    "sym_int": int,
    "sym_max": max,
    "sym_min": min,
    "sym_not": operator.not_,
    "sym_sum": sum,
}


OwnFunctions = Callable[[int], Callable[..., Any]]


def read_graph(
    graph: GraphModule,
    constants: Mapping[str, Any],
    inputs: Iterable[str] | None = None,
    own: OwnFunctions | None = None,
) -> ImportedProgram:
    """The program of a graph. `constants` are values of placeholders that are no inputs.

    `inputs` are the names of placeholders in the order in which the program takes them. `own` gives
    what stands for a backward pass by its number.
    """
    return _Reader(graph, constants, inputs, own).program()


class _Reader:
    def __init__(
        self,
        graph: GraphModule,
        constants: Mapping[str, Any],
        inputs: Iterable[str] | None,
        own: OwnFunctions | None,
    ):
        self.graph, self.own = graph, own
        self.given = constants
        held = [n.name for n in graph.graph.nodes if n.op == "placeholder"]
        self.inputs = [n for n in held if n not in constants] if inputs is None else list(inputs)
        self.numbers: dict[str, int] = {name: i for i, name in enumerate(self.inputs)}
        self.constants: list[Any] = []
        self.plain: dict[str, Any] = {}  # values of nodes that are no arrays: programs, numbers
        self.steps: list[tuple[Node, BoundCall, str]] = []

    def program(self) -> ImportedProgram:
        """Reads all nodes."""
        nodes = list(self.graph.graph.nodes)
        for node in nodes:
            if node.op == "placeholder" and node.name not in self.numbers:
                self._constant(node.name, self.given.get(node.name))
            elif node.op == "get_attr":
                self._attribute(node)
        count = len(self.inputs) + len(self.constants)
        outputs: tuple[Any, ...] = ()
        for node in nodes:
            if node.op == "call_function":
                call, target = self._call(node)
                self.steps.append((node, call, target))
                self.numbers[node.name] = count
                count += 1
            elif node.op == "output":
                out = self._value(node.args[0])
                outputs = out if isinstance(out, tuple) else (out,)
        read = [numbered((c.args, tuple(v for _, v in c.kwargs))) for _, c, _ in self.steps]
        spent = spent_values(read, numbered(outputs))
        steps = tuple(
            ImportedStep(
                target,
                call.function,
                call.args,
                call.kwargs,
                self.numbers[node.name],
                gone,
                written(node),
            )
            for (node, call, target), gone in zip(self.steps, spent, strict=True)
        )
        return ImportedProgram(len(self.inputs), tuple(self.constants), steps, outputs, count)

    def _constant(self, name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            self.numbers[name] = len(self.inputs) + len(self.constants)
            self.constants.append(array_of(f"the constant {name}", value))
        else:
            self.plain[name] = value

    def _attribute(self, node: Node) -> None:
        value = operator.attrgetter(str(node.target))(self.graph)
        if isinstance(value, GraphModule):
            self.plain[node.name] = read_graph(value, {}, own=self.own)
        else:
            self._constant(node.name, value)

    def _value(self, x: Any) -> Any:
        """An argument with numbers for nodes, and nothing of PyTorch's."""
        if isinstance(x, Node):
            return self.plain[x.name] if x.name in self.plain else Numbered(self.numbers[x.name])
        if isinstance(x, (list, tuple)):
            return tuple([self._value(item) for item in x])
        return plain_value(x)

    def _call(self, node: Node) -> tuple[BoundCall, str]:
        args = tuple([self._value(x) for x in node.args])
        kwargs = {name: self._value(x) for name, x in node.kwargs.items()}
        target: Any = node.target
        if isinstance(target, torch._ops.OpOverload):
            return self._operator(node, target, args, kwargs), _name(target)
        if isinstance(target, torch._ops.HigherOrderOperator):
            name = target.name() if callable(target.name) else target.name
            function = HIGHER_ORDER.get(name) or registered("higher_order", name, "default")
            if function is None:
                _refuse(node, f"higher_order.{name}", _higher_order_hint(name))
            return BoundCall(function, args, tuple(kwargs.items())), f"higher_order.{name}"
        name = getattr(target, "__name__", str(target))
        if target is torch.sym_ite:
            return BoundCall(_either, args, ()), name
        if name in _PYTHON:
            return BoundCall(_PYTHON[name], args, ()), name
        if getattr(target, "__module__", "") in ("_operator", "operator", "math"):
            return BoundCall(target, args, tuple(kwargs.items())), f"operator.{name}"
        _refuse(node, name, "move what it computes out of forward")

    def _operator(
        self, node: Node, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> BoundCall:
        space, _, name = target._schema.name.partition("::")
        if self.own is not None and target._schema.name == "functx::own_backward":
            return BoundCall(self.own(args[-1]), args[:-1], ())
        own = registered(space, name, target._overloadname)
        own = own or OF_LIBRARIES.get(f"{space}::{name}")
        if own is not None:
            return BoundCall(own, args, tuple(kwargs.items()))
        if space != "aten":
            _refuse(node, f"{space}::{name}", _register_hint(f"{space}::{name}"))
        parameters = [_parameter(each) for each in target._schema.arguments]
        kwargs |= _default_dtype(node, target._schema, kwargs)
        call = bound_call(name, target._overloadname, parameters, args, kwargs)
        if call is None:
            _refuse(node, f"aten::{name}", _aten_hint(target))
        if isinstance(call.function, CatalogCall) and _reads_size(node):
            return call._replace(function=SizedCall(call.function.operator))
        if name in _FIRST_ALONE and all(_takes_first(user) for user in node.users):
            return call._replace(function=_FIRST_ALONE[name])
        return call


def _default_dtype(node: Node, schema: Any, given: Mapping[str, Any]) -> dict[str, str]:
    """The floating dtype of what is made of numbers: PyTorch's default as it was at the export."""
    names = [each.name for each in schema.arguments]
    if "dtype" not in names or given.get("dtype") is not None:
        return {}
    made = node.meta.get("val")
    if any("Tensor" in str(each.type) for each in schema.arguments):
        return {}
    if not isinstance(made, torch.Tensor) or not (made.is_floating_point() or made.is_complex()):
        return {}
    return {"dtype": dtype_name(made.dtype)}


def _either(condition: Any, then: Any, otherwise: Any) -> Any:
    return then if condition else otherwise


def _reads_size(node: Node) -> bool:
    """Whether an argument is a size that is known when the program runs."""
    symbols = (torch.SymInt, torch.SymFloat)
    return any(isinstance(each.meta.get("val"), symbols) for each in node.all_input_nodes)


def _takes_first(user: Node) -> bool:
    return user.target is operator.getitem and bool(user.args[1] == 0)


def _parameter(argument: Any) -> Parameter:
    if not argument.has_default_value():
        return Parameter(argument.name, REQUIRED)
    default = argument.default_value
    if argument.name == "dtype" and isinstance(default, int):
        default = None
    return Parameter(argument.name, plain_value(default))


def plain_value(x: Any) -> Any:
    """A fixed argument without anything of PyTorch's."""
    if isinstance(x, torch.dtype):
        return dtype_name(x)
    if isinstance(x, (torch.device, torch.layout, torch.memory_format, torch.Generator)):
        return None
    if isinstance(x, (list, tuple)):
        return tuple([plain_value(item) for item in x])
    if isinstance(x, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return x.node.maybe_as_int() if isinstance(x, torch.SymInt) else x.node.constant
    return x


def written(node: Node) -> str:
    """The file, the line and the code from which a step is; the last that is not PyTorch's."""
    trace = node.meta.get("stack_trace") or ""
    found = re.findall(r'File "(.+?)", line (\d+), in (\w+)\n\s*(.*)', trace)
    users = [each for each in found if "/torch/" not in each[0] and "<eval" not in each[0]]
    if not (users or found):
        return ""
    file, line, _, code = (users or found)[-1]
    return f"{file}:{line}: {code.strip()}"


def _name(target: Any) -> str:
    return target._schema.name.replace("::", ".") + "." + target._overloadname


def _refuse(node: Node, name: str, hint: str) -> NoReturn:
    where = f", in {written(node)}" if written(node) else ""
    fail(
        "from_torch",
        f"functx has no operator for {name}{where}",
        hint=hint,
        error=NotImplementedError,
    )


def _register_hint(name: str) -> str:
    return f'give a function of arrays for it: functx.interop.register("{name}")(f)'


def _aten_hint(target: Any) -> str:
    schema = target._schema
    name = schema.name.partition("::")[2]
    found = left_out(aten_schema(schema))
    if found is not None:
        return f"of {found.family}: {found.remedy}"
    near = nearest(name, known_names())
    return _register_hint(schema.name) + (f"; {near}" if near else "")


def aten_schema(schema: Any) -> AtenSchema:
    """PyTorch's declaration of an operator as plain values."""
    return AtenSchema(
        schema.name.partition("::")[2],
        schema.overload_name,
        tuple((each.name, str(each.type)) for each in schema.arguments),
        tuple(str(each.type) for each in schema.returns),
        schema.is_mutable,
    )


def _higher_order_hint(name: str) -> str:
    if "autograd_function" in name:
        return "export keeps no backward pass of an autograd.Function: see register"
    return f'register it: functx.interop.register("higher_order::{name}")(f)'

"""What the name of a compiled operation says: operator, transforms, scopes.

JAX names what it compiles by a path, `jit(loss)/transpose(jvp(jit(nn.functional.gelu)))/mul`: the
functions, scopes and transforms around it, and at the end its primitive.
"""

from __future__ import annotations

import functools as ft
import re
from collections.abc import Collection
from typing import NamedTuple

from functx._core import REGISTRY


__all__ = ["BACKWARD", "BATCHED", "FORWARD", "PHASES", "TANGENT", "KernelOrigin", "origin_of"]

FORWARD, BACKWARD, TANGENT = "forward", "backward", "tangent"
PHASES = (FORWARD, BACKWARD, TANGENT)
BATCHED = "batched"
UNNAMED = "(unnamed)"
_TRANSFORMS = {"jvp", "transpose", "vmap"}
_CALLS = {"jit", "pjit"}
# What JAX puts into the path of its control flow and of its own calls.
_STRUCTURE = re.compile(
    r"while|body|cond|scan|closed_call|core_call|checkpoint|remat\d*|rematted_computation"
    r"|branch_\d+_fun|custom_[jv][vj]p_call\w*|shard_map|pallas_call|run_state"
)
_PRODUCTS = {"dot": "lax.dot_general", "convolution": "lax.conv_general_dilated"}
_RULE = "functx.rule:"


class KernelOrigin(NamedTuple):
    """Where a compiled operation comes from, the outermost first.

    - `name`: the operator that it is a part of; of what is no operator, its primitive.
    - `scopes`: the named scopes around it.
    - `functions`: the functions of the user that are compiled around it.
    - `chain`: the transforms of derivatives around its operator.
    - `batched`: whether `vmap` is among the transforms.
    """

    name: str
    scopes: tuple[str, ...]
    functions: tuple[str, ...]
    chain: tuple[str, ...]
    batched: bool

    def phase(self, reverses: Collection[tuple[str, ...]]) -> str:
        """Forward, backward or tangent.

        `reverses` are the chains of the program that begin with a transposition. JAX names a
        forward pass `jvp` too: it is one where a backward pass transposes it.
        """
        chain = self.chain
        while chain:
            if chain[0] == "transpose":
                return BACKWARD
            if not any(reverse[1 : 1 + len(chain)] == chain for reverse in reverses):
                return TANGENT
            chain = chain[1:]
        return FORWARD


class _PathStep(NamedTuple):
    transforms: tuple[str, ...]
    called: bool
    name: str


def _steps(path: str) -> list[_PathStep]:
    """The path taken apart where no parenthesis is open."""
    found, start, depth = [], 0, 0
    for at, character in enumerate(f"{path}/"):
        depth += (character == "(") - (character == ")")
        if character == "/" and depth <= 0:
            found.append(_step(path[start:at]))
            start = at + 1
    return found


def _step(written: str) -> _PathStep:
    transforms = []
    while match := re.fullmatch(r"(\w+)\((.*)\)", written):
        name, inside = match.groups()
        if name in _CALLS:
            return _PathStep(tuple(transforms), True, inside)
        if name not in _TRANSFORMS:
            break
        transforms.append(name)
        written = inside
    return _PathStep(tuple(transforms), False, written)


@ft.cache
def origin_of(op_name: str, opcode: str = "", *, of_functx: bool = True) -> KernelOrigin:
    """The origin that a path tells of.

    `opcode` is what XLA computes: a product into which it took a transposition goes by the name of
    the transposition. `of_functx` says whether an operator of functx was called at all: `jit(sin)`
    is `jax.numpy`'s name for its function too.
    """
    steps = _steps(op_name.partition(";")[0])  # of two that XLA merged, the first
    operator = ""
    scopes, functions = [], []
    around: list[str] = []  # the transforms outside of the operator
    inside: list[str] = []
    rule = False
    for at, step in enumerate(steps):
        rule = rule or step.name.startswith(_RULE)
        (inside if operator or rule else around).extend(step.transforms)
        last = at == len(steps) - 1
        if operator or rule:
            continue
        if step.called:
            if of_functx and step.name in REGISTRY:
                operator = step.name
            elif not (last or step.name.startswith("_")):
                functions.append(step.name)
        elif (step.transforms or not last) and _is_scope(step.name):
            scopes.append(step.name)
    chain = tuple(t for t in around if t != "vmap")
    if not chain and operator:  # an operator that is a program of its own
        chain = ("transpose", "jvp") if rule else tuple(t for t in inside if t == "jvp")[:1]
    return KernelOrigin(
        operator or _PRODUCTS.get(opcode) or _primitive(steps, opcode),
        tuple(scopes),
        tuple(functions),
        chain,
        "vmap" in around or "vmap" in inside,
    )


def _is_scope(name: str) -> bool:
    return bool(name) and not _STRUCTURE.fullmatch(name) and not name.startswith(_RULE)


def _primitive(steps: list[_PathStep], opcode: str) -> str:
    """The name of what is no operator: a primitive of `jax.lax`, or a compiled function.

    A path of one step is the name of an argument, on a copy that XLA makes of it.
    """
    last = steps[-1]
    if last.called:
        return f"jit({last.name})"
    if len(steps) == 1:
        return f"xla.{opcode}" if opcode else UNNAMED
    return f"lax.{last.name}" if last.name and not last.transforms else UNNAMED

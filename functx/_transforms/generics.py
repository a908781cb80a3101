"""What transforms keep of a function's type: its parameters, first argument, output and aux."""

from __future__ import annotations

from typing import Literal, ParamSpec, TypeAlias, TypeVar


P = ParamSpec("P")  # all parameters, or those after the first
X = TypeVar("X")  # the first argument; gradients are like it
X1 = TypeVar("X1")  # the second and the third
X2 = TypeVar("X2")
Y = TypeVar("Y")  # the output
Aux = TypeVar("Aux")
K = TypeVar("K")  # of a dict of outputs
Y_co = TypeVar("Y_co", covariant=True)

# `argnums` that keep the types of the arguments; others are typed by `Any`.
FirstOne: TypeAlias = tuple[Literal[0]]
FirstTwo: TypeAlias = tuple[Literal[0], Literal[1]]
FirstThree: TypeAlias = tuple[Literal[0], Literal[1], Literal[2]]

"""What transforms keep of a function's type: its parameters, first argument, output and aux."""

from __future__ import annotations

from typing import ParamSpec, TypeVar


P = ParamSpec("P")  # all parameters, or those after the first
X = TypeVar("X")  # the first argument; gradients are like it
Y = TypeVar("Y")  # the output
Aux = TypeVar("Aux")
Y_co = TypeVar("Y_co", covariant=True)

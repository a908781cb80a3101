"""A derivative by numbers: which equations read which values, how large these are, and the work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .linearized import Linearized, variables
from .work import bytes_of, is_fixed, is_heavy, work_of


class NumberedDerivative:
    """The equations and values of a forward pass by number, without inputs and constants.

    - `values`: the values; `bytes`: what each takes; `maker`: the equation that computes it.
    - `reads`, `outputs`: the values that each equation reads and computes.
    - `work`: what it is to compute each equation again; `fixed`: which of them must not run twice;
      `heavy`: which are more than element by element.
    - `linear_reads`: the values that each equation of the linear pass reads; the last of them reads
      what the tangents of the outputs are, too.
    - `needed`: the values that the linear pass reads, in the order of computing.
    """

    def __init__(self, derivative: Linearized) -> None:
        self.derivative = derivative
        eqns = derivative.forward.eqns
        self.values: list[Any] = [x for eqn in eqns for x in eqn.outvars]
        self._numbers = {x: n for n, x in enumerate(self.values)}
        self.maker = [i for i, eqn in enumerate(eqns) for _ in eqn.outvars]
        self.outputs = [self.of(eqn.outvars) for eqn in eqns]
        self.reads = [self.of(variables(eqn.invars)) for eqn in eqns]
        self.linear_reads = [self.of(variables(eqn.invars)) for eqn in derivative.linear]
        if self.linear_reads:
            self.linear_reads[-1] += self.of(variables(derivative.out_tangents))
        self.bytes = np.array([bytes_of(x) for x in self.values], np.int64)
        self.work = np.array([work_of(eqn) for eqn in eqns], float)
        self.fixed = np.array([is_fixed(eqn) for eqn in eqns], bool)
        self.heavy = np.array([is_heavy(eqn) for eqn in eqns], bool)
        self.needed = sorted({n for read in self.linear_reads for n in read})

    def of(self, variables: Iterable[Any]) -> list[int]:
        """The numbers of those of the variables that are values of the forward pass, each once."""
        found = dict.fromkeys(variables)
        return [self._numbers[x] for x in found if x in self._numbers]

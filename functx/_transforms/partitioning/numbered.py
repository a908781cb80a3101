"""A derivative by numbers: which equations read which values, how large these are, and the work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from functx._core.jax_compat import JaxprEqn

from .linearized import Linearized, variables
from .work import bytes_of, is_fixed, is_heavy, work_of


class NumberedValues:
    """The equations and values of a forward pass by number, and what a later pass reads of them.

    - `values`: the values; `bytes`: what each takes; `maker`: the equation that computes it.
    - `reads`, `outputs`: the values that each equation reads and computes.
    - `work`: what it is to compute each equation again; `fixed`: which of them must not run twice;
      `heavy`: which are more than element by element.
    - `later_reads`: the values that each equation of the later pass reads; the last of them reads
      what the results of that pass are, too.
    - `needed`: the values that the later pass reads, in the order of computing.

    Inputs count as values if they are given: a first equation, which must not run twice, computes
    them.
    """

    def __init__(
        self,
        forward: Sequence[JaxprEqn],
        later: Sequence[JaxprEqn],
        results: Sequence[Any],
        inputs: Sequence[Any] = (),
    ) -> None:
        made = [*([list(inputs)] if inputs else []), *(eqn.outvars for eqn in forward)]
        first = len(made) - len(forward)
        self.values: list[Any] = [x for some in made for x in some]
        self._numbers = {x: n for n, x in enumerate(self.values)}
        self.maker = [i for i, some in enumerate(made) for _ in some]
        self.outputs = [self.of(some) for some in made]
        self.reads = [[]] * first + [self.of(variables(eqn.invars)) for eqn in forward]
        self.later_reads = [self.of(variables(eqn.invars)) for eqn in later]
        if self.later_reads:
            self.later_reads[-1] += self.of(variables(results))
        self.bytes = np.array([bytes_of(x) for x in self.values], np.int64)
        self.work = np.array([0] * first + [work_of(eqn) for eqn in forward], float)
        self.fixed = np.array([True] * first + [is_fixed(eqn) for eqn in forward], bool)
        self.heavy = np.array([False] * first + [is_heavy(eqn) for eqn in forward], bool)
        self.needed = sorted({n for read in self.later_reads for n in read})

    def of(self, variables: Iterable[Any]) -> list[int]:
        """The numbers of those of the variables that are values of the forward pass, each once."""
        found = dict.fromkeys(variables)
        return [self._numbers[x] for x in found if x in self._numbers]


class NumberedDerivative(NumberedValues):
    """A derivative by numbers, without inputs and constants: its later pass is the linear one."""

    def __init__(self, derivative: Linearized) -> None:
        self.derivative = derivative
        super().__init__(derivative.forward.eqns, derivative.linear, derivative.out_tangents)

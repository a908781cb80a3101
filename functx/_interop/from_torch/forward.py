"""An imported program with what its inputs and outputs are in the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from functx._aot.rolling.roll import roll
from functx._core.context.user_contexts import chosen_default

from .programs import ImportedProgram
from .sizes import ArrayInput


@dataclasses.dataclass(frozen=True)
class Forward:
    """A forward pass. Nothing in it is PyTorch's.

    The program takes parameters, buffers and arguments, and returns buffers and results.
    """

    program: ImportedProgram
    parameters: tuple[str, ...]
    buffers: tuple[str, ...]
    leaves: tuple[int, ...]  # of the call's arguments: the places of those that it takes
    written: tuple[str, ...]  # buffers that it returns, in order
    results: Any  # a tree of the places of results, and None where the module returned None
    inputs: tuple[ArrayInput, ...] = ()  # of an exported program
    # Of what is computed from integers: PyTorch's when it exported the module, or when an exported
    # program was imported.
    default_dtype: str = "float32"

    def __call__(
        self,
        params: Mapping[str, Any],
        buffers: Mapping[str, Any],
        leaves: Sequence[Any],
        rolled: bool = False,
    ) -> tuple[Any, dict[str, Any]]:
        """What the module returns, and the buffers that it wrote.

        - `rolled`: whether its equal layers run as loops.
        """
        run = roll(self.program.__call__) if rolled else self.program
        with chosen_default(jax.numpy.dtype(self.default_dtype)):
            out = run(
                *[params[name] for name in self.parameters],
                *[buffers[name] for name in self.buffers],
                *[leaves[at] for at in self.leaves],
            )
        many = len(self.written)
        new = dict(zip(self.written, out[:many], strict=True))
        results = out[many:]
        return jax.tree.map(lambda at: results[at], self.results), new

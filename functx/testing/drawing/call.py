"""`Call`: a call of an operator that was drawn, written as the line of Python that makes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax

from functx.testing.calls import Calls
from functx.testing.opinfo import OpInfo, Sample

from .written import named, written


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """A call of `info.op` that it accepts; calling the call makes it.

    - `args`, `kwargs`, `arguments`: what is given; arrays are JAX's, or NumPy's in any layout.
    - `sample`: the same with JAX arrays alone and without a key, with `lanes`: the same call with
      other values.

    Its `repr` runs where `functx`, `jax`, `jnp` and `np` are imported.
    """

    info: OpInfo
    sample: Sample
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self) -> Any:
        return self.info.op(*self.args, **self.kwargs)

    def __repr__(self) -> str:
        order = list(Calls(self.info.op).parameters)
        place = lambda name: order.index(name) if name in order else len(order)
        by_name = [
            f"{name}={written(self.kwargs[name])}" for name in sorted(self.kwargs, key=place)
        ]
        return f"{named(self.info.op)}({', '.join([*map(written, self.args), *by_name])})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """As Hypothesis reports it, which would else list the fields."""
        printer.text(repr(self))

    @property
    def arguments(self) -> dict[str, Any]:
        """What is given, by the names of the parameters; what is left out is left out."""
        return Calls(self.info.op).arguments(self.args, self.kwargs)

    @property
    def key(self) -> dict[str, jax.Array]:
        """The key of a random operator, by name."""
        return {k: v for k, v in self.kwargs.items() if k not in self.sample.kwargs}

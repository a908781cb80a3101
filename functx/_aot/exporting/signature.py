"""What the inputs and outputs of an exported program are to the model that it came of."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Signature:
    """The names of an exported program's arrays, in the order in which it takes and returns them.

    - `parameters`, `buffers`: those of the model's, by dotted path; `user_inputs`: the other
      arguments' arrays, by path.
    - `user_outputs`: the arrays of the output, by path; `buffers_to_mutate`: the buffers whose new
      values the program returns after them.
    - `gradients_to_parameters`, `gradients_to_user_inputs`: what the program returns the gradients
      of, after all others.
    - `takes_cotangents`: whether a last argument holds cotangents of the output.
    """

    parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    user_inputs: tuple[str, ...] = ()
    user_outputs: tuple[str, ...] = ()
    buffers_to_mutate: tuple[str, ...] = ()
    gradients_to_parameters: tuple[str, ...] = ()
    gradients_to_user_inputs: tuple[str, ...] = ()
    takes_cotangents: bool = False

    def as_data(self) -> dict[str, Any]:
        """The fields as what JSON holds."""
        return dataclasses.asdict(self)

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Signature:
        """The signature whose `as_data` is `data`."""
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in data.items()
        }
        return cls(**fields)

"""The parts of a call's arguments and of its output that are no arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from functx._transforms.programs.partition import array_paths, Partition
from functx._transforms.programs.recording import output_of


class StaticArguments:
    """A call's arguments without their arrays, as a part of a program's key."""

    def __init__(self, given: Partition) -> None:
        self._given = given._replace(arrays=[])
        self._key: Any = (tuple((type(x), x) for x in given.rest), given.structure)
        try:
            self._hash = hash(self._key)
        except TypeError:
            self._key, self._hash = object(), 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StaticArguments) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def whole(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with `arrays` in the place of the arrays that are missing."""
        return self._given.whole(arrays)

    def paths(self) -> tuple[str, ...]:
        """What errors call the arrays: `args[0]['w']`."""
        return array_paths(self._given)


@jax.tree_util.register_static
class StaticOutput:
    """The output of a recorded function without its arrays. It is equal to itself alone."""

    def __init__(self, outputs: Partition) -> None:
        self._outputs = outputs

    def of(self, arrays: Sequence[Any]) -> Any:
        """The output, with `arrays` in the place of the arrays that are missing."""
        return output_of(self._outputs, arrays)[0]

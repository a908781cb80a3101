"""What goes into a program, and comes out of it, apart from arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from functx._transforms.programs.partition import array_paths, Partition
from functx._transforms.programs.recording import output_of


class Rest:
    """A call's arguments apart from arrays, as a part of a program's key."""

    def __init__(self, given: Partition) -> None:
        self._given = given._replace(arrays=[])
        self._key: Any = (tuple((type(x), x) for x in given.rest), given.structure)
        try:
            self._hash = hash(self._key)
        except TypeError:
            self._key, self._hash = object(), 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rest) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def whole(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with these arrays."""
        return self._given.whole(arrays)

    def paths(self) -> tuple[str, ...]:
        """What errors call the arrays: `args[0]['w']`."""
        return array_paths(self._given)


@jax.tree_util.register_static
class Output:
    """The output of a recorded function but for its arrays. It is equal to itself alone."""

    def __init__(self, outputs: Partition) -> None:
        self._outputs = outputs

    def of(self, arrays: Sequence[Any]) -> Any:
        """The output with these arrays."""
        return output_of(self._outputs, arrays)[0]

"""Objects that hold a recorded program, which cannot leave the process."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Self

from functx._core import fail


class HoldsProgram:
    """An object that never changes, is its own copy, and is not pickled, as JAX's programs are not.

    - `made_by`: the transform that returns it; `remedy`: what can be done instead.
    """

    made_by: ClassVar[str]
    remedy: ClassVar[str]

    def __reduce__(self) -> NoReturn:
        fail(
            self.made_by,
            f"what it returns, a {type(self).__name__}, holds a recorded program, and cannot be "
            "pickled",
            hint=self.remedy,
            error=TypeError,
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

"""Types of static options, from their annotations: `bool`, `int | Sequence[int] | None`.

Types are PyTorch's: no bool is an int, an int is a number, and so is a bool.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

import numpy as np

from functx._core.errors import describe, refuse
from functx._core.shapes.dimensions import as_int, as_size
from functx._core.shapes.symbolic_sizes import known


PLAIN = ("bool", "int", "Size", "float", "str")
SEQUENCES = ("Sequence", "tuple")
_WORDS = {
    "bool": "a bool",
    "int": "an int",
    "Size": "an int",
    "float": "a real number",
    "str": "a string",
}
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@dataclasses.dataclass(frozen=True)
class OptionType:
    """What a value may be: of a type in `plain`, a choice, a sequence of what `each` takes."""

    plain: tuple[str, ...] = ()
    choices: tuple[Any, ...] = ()
    each: OptionType | None = None
    none: bool = False

    @property
    def whole(self) -> bool:
        """Whether integers are taken, alone or in a sequence, and no other numbers."""
        integral = "int" in self.plain or "Size" in self.plain
        whole = integral and "float" not in self.plain
        return whole or (self.each is not None and self.each.whole)

    @property
    def sizes(self) -> bool:
        """Whether symbolic sizes are taken, alone or in a sequence."""
        return "Size" in self.plain or (self.each is not None and self.each.sizes)

    @property
    def words(self) -> str:
        """What errors call the type: `an int, a sequence of ints or None`."""
        words = [_WORDS[name] for name in self._widest] + [repr(choice) for choice in self.choices]
        if self.each is not None:
            words.append(f"a sequence of {self.each._several}")
        return _listed(words + ["None"] * self.none)

    @property
    def _widest(self) -> list[str]:
        integral = ("int", "Size")
        return [name for name in self.plain if name not in integral or "float" not in self.plain]

    @property
    def _several(self) -> str:
        words = [_WORDS[name].partition(" ")[2] + "s" for name in self._widest]
        if self.each is not None:
            words.append(f"sequences of {self.each._several}")
        return _listed(words + ["None"] * self.none)

    def settled(self, value: Any, name: str) -> Any:
        """`value` with its ints as Python's and its sequences as tuples, or a refusal."""
        try:
            return self._settled(value)
        except TypeError:
            hint = "" if _all_known(value) else "a symbolic size stands for a size alone"
            what = f"`{name}` must be {self.words}, got {describe(value)}"
            refuse(what, hint=hint, error=TypeError)
        except OverflowError as error:
            refuse(f"`{name}` must fit 64 bits, got {error}", error=OverflowError)

    def _settled(self, value: Any) -> Any:
        if value is None and self.none:
            return None
        if isinstance(value, (tuple, list)) and self.each is not None:
            return tuple(self.each._settled(item) for item in value)
        if isinstance(value, str) and ("str" in self.plain or self.choices):
            return value  # which ones there are, the rule knows
        if isinstance(value, (bool, np.bool_)) and "bool" in self.plain:
            return bool(value)
        if isinstance(value, _NUMBERS) and "float" in self.plain:
            return _finite(value)
        if "Size" in self.plain:
            return as_size(value)
        if "int" in self.plain:
            return as_int(value)
        raise TypeError


def _all_known(value: Any) -> bool:
    return all(map(_all_known, value)) if isinstance(value, (tuple, list)) else known(value)


def _finite(value: Any) -> Any:
    """A real number, raising OverflowError where no float holds it."""
    try:
        float(value)
    except OverflowError:
        raise OverflowError(describe(value)) from None
    return value


def parsed(node: ast.expr) -> OptionType:
    """What an annotation's alternatives take together; they must be plain types."""
    if isinstance(node, ast.BinOp):
        left, right = parsed(node.left), parsed(node.right)
        return OptionType(
            left.plain + right.plain,
            left.choices + right.choices,
            left.each or right.each,
            left.none or right.none,
        )
    if isinstance(node, ast.Subscript):
        inner = node.slice
        items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if ast.unparse(node.value) == "Literal":
            return OptionType(choices=tuple(ast.literal_eval(item) for item in items))
        return OptionType(each=parsed(items[0]))
    name = ast.unparse(node)
    return OptionType(none=True) if name == "None" else OptionType((name,))


def _listed(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)

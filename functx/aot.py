"""Ahead-of-time work on whole functions: in-place code as pure functions."""

from ._aot.functionalizing.functionalize import functionalize as functionalize
from ._aot.functionalizing.mutable_array import mutable as mutable, MutableArray as MutableArray
from ._names import equip as _equip


_equip(__name__)

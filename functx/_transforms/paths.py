"""What errors and reports call the arrays among the arguments of a call."""

from __future__ import annotations

from .arguments import leaves_with_paths, numbered
from .checkpointing.leaves import Apart


def array_paths(call: Apart) -> tuple[str, ...]:
    """The path of each array in `call`, a pair of arguments and keyword arguments, taken apart."""
    mark = object()
    args, kwargs = call.whole([mark] * len(call.rest))
    values = (*args, *(kwargs[name] for name in sorted(kwargs)))
    paths = (*numbered("args", len(args)), *(f"kwargs[{name!r}]" for name in sorted(kwargs)))
    return tuple(path for path, x in leaves_with_paths(values, paths) if x is mark)

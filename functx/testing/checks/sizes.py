"""Sizes that nothing holds: XLA aborts the process on some, the system ends it for others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax

from functx._core import describe
from functx._core.operators.roles import Role, RoleKind
from functx.testing.calls import Calls, Given
from functx.testing.opinfo import OpInfo, Sample

from .garbage import ERRORS, INTERNAL


# Bytes that no int64 counts, and bytes that do fit one, but no machine.
HUGE = (2**62, 2**50)
_LARGEST = 2**20  # bytes that a result may have all the same


def sized_by(role: Role) -> bool:
    """Whether an argument may be a size, a count or an extent."""
    return role.kind is RoleKind.SHAPE or (role.option_type is not None and role.option_type.whole)


def has_sizes(info: OpInfo) -> bool:
    """Whether an operator has such an argument."""
    return info.spec is not None and any(map(sized_by, info.spec.roles.values()))


def huge_calls(info: OpInfo, sample: Sample) -> Iterator[Given]:
    """The call with each of its sizes replaced."""
    assert info.spec is not None
    given = Calls(info.op).arguments(sample.args, sample.kwargs)
    for name, role in info.spec.roles.items():
        if sized_by(role):
            for value in _huge(given.get(name), role):
                yield given | {name: value}


def _huge(value: Any, role: Role) -> Iterator[Any]:
    several = value if isinstance(value, tuple) else ()
    if role.kind is RoleKind.SHAPE and not several:
        several = (1, 1)
    for size in HUGE:
        if not several:
            yield size
        if len(several) > 1:
            yield (size, *several[1:])
        if several:
            yield (*several[:-1], size)
    if several:
        yield (2**40,) * len(several)


def check_sizes(info: OpInfo, sample: Sample) -> None:
    """A result or an intermediate that nothing holds is refused by name before XLA sees it."""
    calls = Calls(info.op)
    for given in huge_calls(info, sample):
        what = f"{info.id}({', '.join(f'{k}={describe(v)}' for k, v in given.items())})"
        try:
            out = calls(given)
        except Exception as error:
            message = str(error)
            assert type(error) in ERRORS, f"{what}: {type(error).__name__}: {message}"
            assert message.startswith(f"{info.name}: "), f"{what}: {message!r} names no operator"
            assert not INTERNAL.search(message), f"{what}: {message!r} is not in plain words"
        else:
            total = sum(x.nbytes for x in jax.tree.leaves(out))
            assert total < _LARGEST, f"{what}: gave {total} bytes"

"""Finds what the command line names: operators, checks, dtypes, a device."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import jax

from functx._core import Device, find_device, near_names, OpSpec, REGISTRY
from functx.testing import ALL_DTYPES, CHECKS, op_db, OpInfo, Profile, PROFILES

from .usage import UsageError as UsageError


T = TypeVar("T")


def nearest(word: str, names: Iterable[str], count: int = 3) -> str:
    """`; nearest: a, b`, or nothing if no name is near.

    Of several names with the same last part, the shortest is offered.
    """
    by_lower: dict[str, str] = {}
    for name in sorted(names, key=lambda name: name.count(".")):
        by_lower.setdefault(name.lower(), name)
        by_lower.setdefault(name.lower().rpartition(".")[2], name)
    close = near_names(word.lower(), by_lower, count=2 * count, cutoff=0.5)
    found = list(dict.fromkeys(by_lower[name] for name in close))[:count]
    return f"; nearest: {', '.join(found)}" if found else ""


def matcher(pattern: str) -> Callable[[str], bool]:
    """A test of names: a glob if `pattern` has `*` or `?`, else a regular expression."""
    if re.search(r"[*?]", pattern) and not re.search(r"[\\^$|+(]|\.\*", pattern):
        glob = re.compile(fnmatch.translate(pattern.lower()))
        return lambda name: glob.match(name.lower()) is not None
    try:
        found = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise UsageError(f"{pattern!r} is no glob or regular expression: {error}") from None
    return lambda name: found.search(name) is not None


def select(
    pattern: str | None,
    items: Sequence[T],
    names: Callable[[T], Iterable[str]],
    *,
    nearest_to: Callable[[T], Iterable[str]] | None = None,
) -> list[T]:
    """The items with the name `pattern`, or else all items with a name that it matches.

    Where there are none, the nearest names are told, or those of `nearest_to`.
    """
    if not pattern:
        return list(items)
    exact = [item for item in items if pattern in names(item)]
    if exact:
        return exact
    matches = matcher(pattern)
    chosen = [item for item in items if any(map(matches, names(item)))]
    if not chosen:
        every = [name for item in items for name in (nearest_to or names)(item)]
        raise UsageError(f"no operator matches {pattern!r}{nearest(pattern, every)}")
    return chosen


def names_of(info: OpInfo) -> list[str]:
    """The names under which an entry of the database is found."""
    return [info.id, info.name, *(info.spec.aliases if info.spec else ())]


def families_of(info: OpInfo) -> list[str]:
    """The folders and the file of an entry's operator: `nn`, `nn.pooling`, `pooling`."""
    if info.spec is None:
        return []
    parts = info.spec.rule.__module__.split(".")[2:]
    whole = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
    return list(dict.fromkeys([*whole, *parts]))


def select_entries(pattern: str | None, entries: Sequence[OpInfo]) -> list[OpInfo]:
    """The entries that a pattern names, by operator or by family; an operator may have none.

    A family is a folder or a file of operators: `nn`, which reports name, `nn.pooling`, `pooling`.
    """
    having = {info.name for info in op_db}
    bare = [spec for name, spec in REGISTRY.items() if name not in having]
    for spec in bare:
        if pattern in (spec.name, *spec.aliases):
            raise _without_entry(spec)
    of_family = [info for info in entries if pattern and pattern in families_of(info)]
    if of_family and not any(pattern in names_of(info) for info in entries):
        matches = matcher(pattern or "")
        also = [info for info in entries if any(map(matches, names_of(info)))]
        return [info for info in entries if info in of_family or info in also]
    try:
        every = lambda info: [*names_of(info), *families_of(info)]
        return select(pattern, entries, names_of, nearest_to=every)
    except UsageError:
        matches = matcher(pattern or "")
        for spec in bare:
            if any(map(matches, (spec.name, *spec.aliases))):
                raise _without_entry(spec) from None
        raise


def _without_entry(spec: OpSpec) -> UsageError:
    file = spec.rule.__module__.removeprefix("functx._ops.").replace(".", "/")
    return UsageError(
        f"{spec.name} is declared, but has no entry in the database; "
        f"add an OpInfo to functx/testing/opdb/{file}.py"
    )


def _listed(words: str, known: Sequence[str], what: str) -> list[str]:
    chosen = [word.strip() for word in words.split(",") if word.strip()]
    for word in chosen:
        if word not in known:
            raise UsageError(f"no {what} is called {word!r}{nearest(word, known)}")
    if not chosen:
        raise UsageError(f"name at least one {what}")
    return list(dict.fromkeys(chosen))


def select_checks(words: str | None) -> tuple[str, ...] | None:
    """The checks in a comma-separated list; `all` is all, None those of the profile."""
    return _chosen(words, list(CHECKS), "check")


def select_dtypes(words: str | None) -> tuple[str, ...] | None:
    """The dtypes in a comma-separated list; `all` is all, None those of the profile."""
    return _chosen(words, ALL_DTYPES, "dtype")


def _chosen(words: str | None, known: Sequence[str], what: str) -> tuple[str, ...] | None:
    if words is None:
        return None
    return tuple(known if words == "all" else _listed(words, known, what))


def select_profile(word: str) -> Profile:
    """The profile of this name."""
    for profile in PROFILES:
        if word == profile:
            return profile
    raise UsageError(f"no profile is called {word!r}; there are: {', '.join(PROFILES)}")


def select_device(word: str) -> Device:
    """The device with this name; refuses one that is not there."""
    try:
        return find_device(word)
    except (RuntimeError, ValueError):
        pass
    except Exception as error:  # `refuse` objects without saying for whom
        if not hasattr(error, "message"):
            raise
    try:
        here = sorted({d.platform for d in jax.devices()})
        each = [f"{d.platform}:{d.id}" for d in jax.devices()]
    except RuntimeError:
        here, each = ["cpu"], []
    hint = nearest(word, here + each)
    if re.match("gpu|cuda", word) and "gpu" not in here:
        hint = "; JAX needs a plugin to see a GPU: see docs/how-to/check_on_a_gpu.md"
    some = f" ({each[0]} to {each[-1]})" if len(each) > 1 else ""
    raise UsageError(f"no device is called {word!r}; here: {', '.join(here)}{some}{hint}")

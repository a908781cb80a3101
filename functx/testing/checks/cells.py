"""Which cells a profile has: the triples of operator, dtype and check that apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from functx._core import available
from functx.testing.opinfo import OpInfo
from functx.testing.options import names_of
from functx.testing.samples import NoSample

from .names import require_checks, require_dtypes, require_entries, require_profile
from .registry import CHECKS, Profile, PROFILES


def cells(
    infos: Iterable[OpInfo],
    dtypes: str | Iterable[str] | None = None,
    checks: str | Iterable[str] | None = None,
    profile: Profile = "quick",
) -> Iterator[tuple[OpInfo, str, str]]:
    """The (operator, dtype, check) triples of a profile that apply, operator by operator.

    - `infos`: entries of the database.
    - `dtypes`: one name or several; None is what the profile takes. Dtypes that are named run
      wherever they apply, also where the quick profile would leave them out. With 64 bit off,
      64-bit dtypes are left out.
    - `checks`: one name of `CHECKS` or several; None is what the profile takes. Checks that are
      named run wherever they apply.
    - `profile`: `"quick"`, `"full"` or `"exhaustive"`.

    Errors: ValueError for a dtype, check or profile that does not exist, and for a gap of such a
    check.
    """
    infos = list(infos)
    dtypes = None if dtypes is None else names_of(dtypes)
    checks = None if checks is None else names_of(checks)
    require_entries("cells", infos, CHECKS)
    require_dtypes("cells", "`dtypes`", dtypes or (), infos)
    require_checks("cells", "`checks`", checks or (), CHECKS)
    require_profile("cells", profile, PROFILES)
    return _cells(infos, dtypes, checks, profile)


def _cells(
    infos: Sequence[OpInfo],
    dtypes: Sequence[str] | None,
    checks: Sequence[str] | None,
    profile: Profile,
) -> Iterator[tuple[OpInfo, str, str]]:
    for info in infos:
        for dtype in at_hand(info, dtypes):
            for name in CHECKS if checks is None else checks:
                if _runs(name, info, dtype, profile, dtypes is not None, checks is not None):
                    yield info, dtype, name


def checked_dtypes(
    info: OpInfo, dtypes: Sequence[str] | None = None, profile: Profile = "quick"
) -> list[str]:
    """Those in which a profile has any cell of an entry; the rest of its cells is not asked for.

    To find all cells of all entries, programs are traced, which takes its time.
    """
    return [
        dtype
        for dtype in at_hand(info, dtypes)
        if any(_runs(name, info, dtype, profile, dtypes is not None, False) for name in CHECKS)
    ]


def at_hand(info: OpInfo, dtypes: Sequence[str] | None) -> list[str]:
    """Of `dtypes`, those that an entry accepts, without 64 bits where these are off."""
    accepted = info.accepted if dtypes is None else [d for d in dtypes if d in info.accepted]
    return [dtype for dtype in accepted if available(dtype).name == dtype]


def _runs(
    name: str, info: OpInfo, dtype: str, profile: Profile, named_dtype: bool, named_check: bool
) -> bool:
    check, quick = CHECKS[name], profile == "quick"
    try:
        here = check.applies(info, dtype)
        here = here and (named_dtype or not quick or check.within(info, dtype))
        return here and (named_check or not quick or check.quick(info))
    except NoSample:  # which no cell would say better
        raise
    except Exception:  # of the entry, as it draws: the cell fails with it when it is run
        return True

"""Words that name a check, a dtype or a profile; those that name none are refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from functx._core import describe, fail, nearest
from functx.testing.dtypes import ALL_DTYPES
from functx.testing.opinfo import OpInfo


def require_entries(who: str, infos: Iterable[OpInfo], checks: Collection[str]) -> None:
    """Refuses what is no entry, and gaps of checks that there are not."""
    for info in infos:
        if not isinstance(info, OpInfo):
            fail(
                who,
                f"an entry must be an OpInfo, got {describe(info)}",
                hint="functx.testing.op_db holds those of functx's operators",
                error=TypeError,
            )
        stated = (*info.tolerances, *info.gaps, *info.dtype_departures)
        given = [("`dtypes`", info.dtypes)]
        given += [(f"`dtypes` of a {type(own).__name__}", own.dtypes) for own in stated]
        for what, dtypes in given:
            if isinstance(dtypes, str):
                hint = f"({dtypes!r},) holds one"
                fail(
                    who,
                    f"{what} of {info.id} must be several, got {dtypes!r}",
                    hint=hint,
                    error=TypeError,
                )
        pointless = {gap.check for gap in info.gaps if gap.at} - {"extremal"}
        if pointless:
            got = f"got one of {min(pointless)!r}"
            fail(
                who,
                f"a Gap of {info.id} with `at` must be of the check 'extremal', {got}",
                hint="other checks have no points: leave `at` out",
                error=ValueError,
            )
        gaps = [gap.check for gap in info.gaps]
        require_checks(who, f"`check` of a Gap of {info.id}", gaps, checks)


def require_checks(who: str, what: str, words: Iterable[str], known: Collection[str]) -> None:
    """Refuses a word that is no check; `what` says what it was given as."""
    _require(who, f"{what} must be a check of functx.testing.CHECKS", words, known)


def require_dtypes(who: str, what: str, words: Iterable[str], infos: Iterable[OpInfo]) -> None:
    """Refuses a word that is no dtype of the database, nor of these entries."""
    known = dict.fromkeys((*ALL_DTYPES, *(dtype for info in infos for dtype in info.accepted)))
    _require(who, f"{what} must be one of {', '.join(known)}", words, known)


def require_profile(who: str, word: str, known: Collection[str]) -> None:
    """Refuses a word that is no profile."""
    _require(who, f"`profile` must be one of {', '.join(known)}", [word], known)


def _require(who: str, expected: str, words: Iterable[str], known: Collection[str]) -> None:
    for word in words:
        if word not in known:
            hint = nearest(str(word), known, cutoff=0.5)
            fail(who, f"{expected}, got {describe(word)}", hint=hint, error=ValueError)

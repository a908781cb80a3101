"""What an entry of the database still lacks before a green cell proves every option."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from .checks.refusals import refusals
from .checks.sample_selection import arguments
from .opinfo import OpInfo, Sample


def unfinished(info: OpInfo, siblings: Sequence[OpInfo] = ()) -> list[str]:
    """What an entry lacks: refusals, a reference, dtypes, or samples that give an option or array.

    - `info`: an entry of the database.
    - `siblings`: other entries of the same operator, whose samples and refusals count too.

    Returns a list of sentences, empty if nothing is missing.

    >>> from functx.testing import call, OpInfo, unfinished
    >>> unfinished(OpInfo(abs, lambda make: iter([call(make(3))])))
    ['no reference', 'no refusals']
    """
    entries = [info, *siblings]
    missing = []
    judged = info.reference is not None or info.moments is not None
    judged |= info.random and info.conventions is not None  # a distribution without moments
    if not judged and not any(e.reference or e.moments for e in siblings):
        missing.append("no reference")
    if not any(next(refusals(e), None) for e in entries):
        missing.append("no refusals")
    drawn = {name: list(info.samples(info.make(name))) for name in info.accepted}
    missing += [f"no sample in {name}" for name, samples in drawn.items() if not samples]
    if info.spec is not None:
        samples = [(info, s) for found in drawn.values() for s in found]
        samples += [(e, s) for e in siblings for s in e.samples(e.make(e.accepted[0]))]
        missing += _never_given(info, samples)
    return missing


# Where a result is put, and which key is drawn from: checked by `layouts` and `keys`. What can be
# nothing but None: refused otherwise.
_ELSEWHERE = ("Device | None", "Key", "None")


def _never_given(info: OpInfo, samples: Sequence[tuple[OpInfo, Sample]]) -> Iterator[str]:
    assert info.spec is not None
    given: set[str] = set()
    for entry, sample in samples:
        for name, value in arguments(entry, sample).items():
            default = info.spec.signature.parameters[name].default
            plain = isinstance(value, (bool, int, float, str, tuple, list, type(None)))
            if not plain or type(value) is not type(default) or value != default:
                given.add(name)
    for parameter in info.spec.signature.parameters.values():
        elsewhere = str(parameter.annotation) in _ELSEWHERE
        optional = parameter.default is not inspect.Parameter.empty
        if optional and not elsewhere and info.takes_here(parameter.name):
            if parameter.name not in given:
                yield f"`{parameter.name}` is never given"

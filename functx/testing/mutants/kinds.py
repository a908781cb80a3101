"""The kinds of mistakes that are planted, and why each matters."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class MutantKind:
    """A kind of mistake: the group it is counted in, and what a survivor means."""

    group: str
    why: str


_NARROW = "users get a result that holds fewer digits, or smaller numbers, than PyTorch's"
_MIXED = "a dtype or rank in the other argument decides the result's dtype, unnoticed"
_ONE_VALUE = "the option is right at some values, and goes wrong at this one, so given"
_PAIR = "either option is right alone, and the two go wrong together"
_GIVES_WAY = "an array that was made of a number gives way to narrower dtypes, and wraps"
_GRADIENT = "training goes wrong where this array is differentiated"
_HALF_GRADIENT = "training in halves goes wrong where it does not in float32"
_CURVATURE = "Hessians and gradient penalties are wrong where the derivative is right"
_WEIGHT = "the derivative in a weight is 0 wherever the weight is exactly 0"
_LANES = "vmap hands an example the result of another"
_EDGE = "one such element and a result looks sound that is not"
_FLAT = "a derivative is 0, or has no digits, where it is small, as y (1 - y) for a sigmoid's"
_NEAR = "digits are lost where an absolute tolerance does not look"

KINDS: dict[str, MutantKind] = {
    "option's value": MutantKind("options", "no check looks at what the option does"),
    "option ignored": MutantKind("options", "the option could be left unread"),
    "option's gradient": MutantKind("options", "training goes wrong where the option is given"),
    "one value: result": MutantKind("options", _ONE_VALUE),
    "one value: gradient, reverse": MutantKind("options", _ONE_VALUE),
    "one value: gradient, forward": MutantKind("options", _ONE_VALUE),
    "one value: second order": MutantKind("options", _ONE_VALUE),
    "one value: lanes": MutantKind("options", _ONE_VALUE),
    "two options: result": MutantKind("options", _PAIR),
    "two options: gradient": MutantKind("options", _PAIR),
    "written in a way": MutantKind(
        "options", "an option could do something else where it is named"
    ),
    "gradient, reverse": MutantKind("gradients", _GRADIENT),
    "gradient, forward": MutantKind("gradients", _GRADIENT),
    "gradient, both modes": MutantKind("gradients", _GRADIENT),
    "gradient zero": MutantKind("gradients", _GRADIENT),
    "second order, reverse": MutantKind("second order", _CURVATURE),
    "second order, forward": MutantKind("second order", _CURVATURE),
    "second order, both modes": MutantKind("second order", _CURVATURE),
    "second order, cotangents of 0": MutantKind("second order", _WEIGHT),
    "gradient at ties": MutantKind(
        "ties", "PyTorch's convention at a tie, a kink or 0 is not held"
    ),
    "lanes, alone": MutantKind("lanes", _LANES),
    "lanes, last": MutantKind("lanes", _LANES),
    "lanes of derivatives": MutantKind("lanes", "per-example gradients are another example's"),
    "negative dim": MutantKind("shapes", "dim=-1 could mean another dimension"),
    "rank 0": MutantKind("shapes", "scalars could give anything"),
    "rank 4 and more": MutantKind("shapes", "leading dimensions could be handled wrongly"),
    "empty": MutantKind("shapes", "an empty batch could raise"),
    "broadcasting": MutantKind("shapes", "arrays of unequal shapes could give anything"),
    "size frozen": MutantKind("shapes", "no program of it can be exported for a batch of any size"),
    "wrong with symbols": MutantKind(
        "shapes", "an exported program takes the branch that is right for some sizes only"
    ),
    "not finite to 0": MutantKind("edges", _EDGE),
    "NaN to 0": MutantKind("edges", _EDGE),
    "inf to 0": MutantKind("edges", _EDGE),
    "-inf to 0": MutantKind("edges", _EDGE),
    "-0.0 to 0.0": MutantKind(
        "edges", "a sign is lost that decides the branch of what comes after"
    ),
    "0.1 % off below 0.001": MutantKind("digits", _NEAR),
    "0.1 % off above 10000": MutantKind("digits", _NEAR),
    "cancellation": MutantKind("digits", "small results have few digits, as log(1 + x) for log1p"),
    "slopes beside 1, reverse": MutantKind("digits", _FLAT),
    "slopes beside 1, forward": MutantKind("digits", _FLAT),
    "half the digits": MutantKind("digits", "the result could be computed in half the width"),
    "integers in float32": MutantKind("integers", "integers beyond 2**24 come out rounded"),
    "wrong at the extremes": MutantKind("integers", "the least and the greatest integer go wrong"),
    "uint8 as int8": MutantKind("integers", "values above 127 count as negative"),
    "bool as int32": MutantKind("integers", "bools are counted where they should be combined"),
    "int64 as int32": MutantKind("dtypes", _NARROW),
    "float64 as float32": MutantKind("dtypes", _NARROW),
    "complex128 as complex64": MutantKind("dtypes", _NARROW),
    "half as float32": MutantKind("dtypes", "a model in halves turns float32 on its way"),
    "half's gradient as float32": MutantKind(
        "dtypes", "an optimiser meets gradients in another dtype than its parameters"
    ),
    "half's gradient, reverse": MutantKind("dtypes", _HALF_GRADIENT),
    "half's gradient, forward": MutantKind("dtypes", _HALF_GRADIENT),
    "half's gradient, both modes": MutantKind("dtypes", _HALF_GRADIENT),
    "weak type": MutantKind(
        "dtypes", "what comes after promotes otherwise than after PyTorch's result"
    ),
    "weak array as a number": MutantKind("dtypes", _GIVES_WAY),
    "weak type of an argument kept": MutantKind("dtypes", _GIVES_WAY),
    "mixed dtypes": MutantKind("dtypes", _MIXED),
    "mixed with a 0-d array": MutantKind("dtypes", _MIXED),
    "mixed with a number": MutantKind("dtypes", _MIXED),
    "bad input accepted": MutantKind("refusals", "the declared refusal is not looked for"),
    "key ignored": MutantKind("randomness", "every draw is the same"),
    "one key for all lanes": MutantKind("randomness", "examples share their random numbers"),
    "elements all equal": MutantKind("randomness", "the elements of one draw depend on each other"),
    "another law": MutantKind("randomness", "mean and spread are right and the tails are not"),
    "spread 5 % too wide": MutantKind("randomness", "the distribution is another one"),
    "mean 5 % off": MutantKind("randomness", "the distribution is another one"),
}
GROUPS = tuple(dict.fromkeys(kind.group for kind in KINDS.values()))

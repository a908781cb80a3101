"""The kinds of mistakes that are planted, and why each matters."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Kind:
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

KINDS: dict[str, Kind] = {
    "option's value": Kind("options", "no check looks at what the option does"),
    "option ignored": Kind("options", "the option could be left unread"),
    "option's gradient": Kind("options", "training goes wrong where the option is given"),
    "one value: result": Kind("options", _ONE_VALUE),
    "one value: gradient, reverse": Kind("options", _ONE_VALUE),
    "one value: gradient, forward": Kind("options", _ONE_VALUE),
    "one value: second order": Kind("options", _ONE_VALUE),
    "one value: lanes": Kind("options", _ONE_VALUE),
    "two options: result": Kind("options", _PAIR),
    "two options: gradient": Kind("options", _PAIR),
    "written in a way": Kind("options", "an option could do something else where it is named"),
    "gradient, reverse": Kind("gradients", _GRADIENT),
    "gradient, forward": Kind("gradients", _GRADIENT),
    "gradient, both modes": Kind("gradients", _GRADIENT),
    "gradient zero": Kind("gradients", _GRADIENT),
    "second order, reverse": Kind("second order", _CURVATURE),
    "second order, forward": Kind("second order", _CURVATURE),
    "second order, both modes": Kind("second order", _CURVATURE),
    "second order, cotangents of 0": Kind("second order", _WEIGHT),
    "gradient at ties": Kind("ties", "PyTorch's convention at a tie, a kink or 0 is not held"),
    "lanes, alone": Kind("lanes", _LANES),
    "lanes, last": Kind("lanes", _LANES),
    "lanes of derivatives": Kind("lanes", "per-example gradients are another example's"),
    "negative dim": Kind("shapes", "dim=-1 could mean another dimension"),
    "rank 0": Kind("shapes", "scalars could give anything"),
    "rank 4 and more": Kind("shapes", "leading dimensions could be handled wrongly"),
    "empty": Kind("shapes", "an empty batch could raise"),
    "broadcasting": Kind("shapes", "arrays of unequal shapes could give anything"),
    "size frozen": Kind("shapes", "no program of it can be exported for a batch of any size"),
    "wrong with symbols": Kind(
        "shapes", "an exported program takes the branch that is right for some sizes only"
    ),
    "not finite to 0": Kind("edges", _EDGE),
    "NaN to 0": Kind("edges", _EDGE),
    "inf to 0": Kind("edges", _EDGE),
    "-inf to 0": Kind("edges", _EDGE),
    "-0.0 to 0.0": Kind("edges", "a sign is lost that decides the branch of what comes after"),
    "0.1 % off below 0.001": Kind("digits", _NEAR),
    "0.1 % off above 10000": Kind("digits", _NEAR),
    "cancellation": Kind("digits", "small results have few digits, as log(1 + x) for log1p"),
    "slopes beside 1, reverse": Kind("digits", _FLAT),
    "slopes beside 1, forward": Kind("digits", _FLAT),
    "half the digits": Kind("digits", "the result could be computed in half the width"),
    "integers in float32": Kind("integers", "integers beyond 2**24 come out rounded"),
    "wrong at the extremes": Kind("integers", "the least and the greatest integer go wrong"),
    "uint8 as int8": Kind("integers", "values above 127 count as negative"),
    "bool as int32": Kind("integers", "bools are counted where they should be combined"),
    "int64 as int32": Kind("dtypes", _NARROW),
    "float64 as float32": Kind("dtypes", _NARROW),
    "complex128 as complex64": Kind("dtypes", _NARROW),
    "half as float32": Kind("dtypes", "a model in halves turns float32 on its way"),
    "half's gradient as float32": Kind(
        "dtypes", "an optimiser meets gradients in another dtype than its parameters"
    ),
    "half's gradient, reverse": Kind("dtypes", _HALF_GRADIENT),
    "half's gradient, forward": Kind("dtypes", _HALF_GRADIENT),
    "half's gradient, both modes": Kind("dtypes", _HALF_GRADIENT),
    "weak type": Kind("dtypes", "what comes after promotes otherwise than after PyTorch's result"),
    "weak array as a number": Kind("dtypes", _GIVES_WAY),
    "weak type of an argument kept": Kind("dtypes", _GIVES_WAY),
    "mixed dtypes": Kind("dtypes", _MIXED),
    "mixed with a 0-d array": Kind("dtypes", _MIXED),
    "mixed with a number": Kind("dtypes", _MIXED),
    "bad input accepted": Kind("refusals", "the declared refusal is not looked for"),
    "key ignored": Kind("randomness", "every draw is the same"),
    "one key for all lanes": Kind("randomness", "examples share their random numbers"),
    "elements all equal": Kind("randomness", "the elements of one draw depend on each other"),
    "another law": Kind("randomness", "mean and spread are right and the tails are not"),
    "spread 5 % too wide": Kind("randomness", "the distribution is another one"),
    "mean 5 % off": Kind("randomness", "the distribution is another one"),
}
GROUPS = tuple(dict.fromkeys(kind.group for kind in KINDS.values()))

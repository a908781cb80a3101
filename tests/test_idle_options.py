"""An option that is taken does something, or its operator's docstring says that it does not."""

import functools as ft
import itertools as it
import re

import jax
import pytest

from functx._core import category, OPERATORS, Refused, REGISTRY
from functx._core.operators.tracing import trace_operator
from functx.testing import op_db, Sample
from functx.testing.calls import Calls
from functx.testing.checks.cases import sized, whole_function
from functx.testing.checks.forward import sample_dtype


ENTRIES = {name: [i for i in op_db if i.spec and i.name == name] for name in REGISTRY}
SAID = r"`{}`[^.;]* (has no effect|changes nothing)"


def choices(name):
    """The options of an operator that are bools or words out of a list, with their values."""
    calls = Calls(OPERATORS[name])
    for option in calls.options:
        default = calls.parameters[option].default
        if calls.note(option) == "bool":
            yield option, [value for value in (True, False) if value is not default]
        elif calls.note(option).startswith("Literal["):
            yield option, calls.values_of(option)


CHOICES = [(name, *choice) for name in REGISTRY for choice in choices(name)]


def samples(name, other_kind, limit):
    """Of all entries of an operator, in their usual dtypes, or in complex numbers."""
    for info in ENTRIES[name]:
        usual = sample_dtype(info)
        more = [d for d in info.accepted if category(d) == 3 and category(usual) < 3][:1]
        for dtype in more if other_kind else [usual]:
            for sample in it.islice(info.samples(info.make(dtype)), limit):
                yield info, sample


def program(info, given, text):
    """What a call computes, and what it requires of values, as text; or how it is refused."""
    calls = Calls(info.op)
    sample = sized(info, Sample(*calls.call_of(given)))
    try:
        f, arrays = whole_function(info, sample)
        if info.spec.requires is not None and not info.random:
            f = sample.over_arrays(ft.partial(trace_operator, info.spec, judged=True))
        return text(f, arrays)
    except (Refused, RuntimeError, TypeError, ValueError, IndexError) as error:
        return type(error).__name__


def recorded(f, arrays):
    return re.sub("0x[0-9a-f]+", "", str(jax.make_jaxpr(f)(*arrays)))


def lowered(f, arrays):
    """Also what is inside own rules, at a greater cost."""
    return jax.jit(f).lower(*arrays).as_text()


def changes(name, option, values, limit, texts):
    """Whether a value of `option` changes the program of some sample."""
    for text, other_kind in it.product(texts, (False, True)):
        for info, sample in samples(name, other_kind, limit):
            given = Calls(info.op).arguments(sample.args, sample.kwargs)
            rest = {key: x for key, x in given.items() if key != option}
            plain = program(info, rest, text)
            if any(program(info, rest | {option: value}, text) != plain for value in values):
                return True
    return False


@pytest.mark.parametrize(
    "name, option, values", CHOICES, ids=lambda x: x if x.__class__ is str else ""
)
def test_an_option_does_something_or_is_said_to_do_nothing(name, option, values, pytestconfig):
    said = re.search(SAID.format(option), " ".join((OPERATORS[name].__doc__ or "").split()))
    if said and pytestconfig.getoption("--profile") == "quick":
        assert not changes(name, option, values, 3, [recorded])
    else:
        assert changes(name, option, values, None, [recorded, lowered]) != bool(said)

"""What words on the command line name."""

import pytest

from functx.cli.selection import (
    families_of,
    names_of,
    nearest,
    select,
    select_checks,
    select_device,
    select_dtypes,
    select_entries,
    UsageError,
)
from functx.testing import op_db


NAMES = ["sum", "nansum", "linalg.norm", "nn.functional.gelu"]


def chosen(pattern):
    return select(pattern, NAMES, lambda name: [name])


def test_an_exact_name_is_itself_alone():
    assert chosen("sum") == ["sum"]


def test_other_words_are_found_inside_names():
    assert chosen("su") == ["sum", "nansum"]
    assert chosen("norm|gelu") == ["linalg.norm", "nn.functional.gelu"]


def test_stars_make_a_glob():
    assert chosen("*sum") == ["sum", "nansum"]
    assert chosen("linalg.*") == ["linalg.norm"]


def test_a_family_is_all_of_its_operators():
    families = {"nn", "nn.pooling", "pooling", "nn.activation", "activation", "reductions"}
    for family in families:
        found = select_entries(family, op_db)
        inside = [info for info in op_db if family in families_of(info)]
        assert inside and set(inside) <= set(found)
        assert all(info in inside or any(family in n for n in names_of(info)) for info in found)
    assert {info.name for info in select_entries("sum", op_db)} == {"sum"}, "a name goes first"
    assert {"gelu" in info.name for info in select_entries("activation", op_db)} == {True, False}
    with pytest.raises(UsageError, match="no operator matches 'activations'; nearest: activation"):
        select_entries("activations", op_db)


def test_no_pattern_is_everything():
    assert chosen(None) == NAMES


def test_what_matches_nothing_is_refused_with_the_nearest_names():
    with pytest.raises(UsageError, match="no operator matches 'gelo'; nearest: nn.functional.gelu"):
        chosen("gelo")


def test_a_broken_expression_is_refused():
    with pytest.raises(UsageError, match="no glob or regular expression"):
        chosen("a(")


def test_nothing_near_adds_nothing():
    assert nearest("zzzzzz", NAMES) == ""


def test_checks_and_dtypes_are_known():
    assert select_checks("vmap,reference,vmap") == ("vmap", "reference")
    assert select_dtypes("float32,bool") == ("float32", "bool")
    assert len(select_dtypes("all")) > 8
    with pytest.raises(UsageError, match="no check is called 'vmop'; nearest: vmap"):
        select_checks("vmop")
    with pytest.raises(UsageError, match="no dtype is called 'float31'; nearest: float32"):
        select_dtypes("float31")


@pytest.mark.parametrize("word", ["cpu:99", "gpo", "cuda:x"])
def test_a_device_that_is_not_there_is_refused_in_a_line(word):
    with pytest.raises(UsageError, match=f"no device is called '{word}'; here: ") as raised:
        select_device(word)
    assert "\n" not in str(raised.value)

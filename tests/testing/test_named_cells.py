"""Words that name no check, dtype or profile get an error that says what was meant."""

import dataclasses

import pytest

import functx
from functx.testing import call, cells, Gap, OpInfo, run_cell, run_cells


def samples(make):
    yield call(make(3))


SIN = OpInfo(functx.sin, samples)
MISTAKEN = dataclasses.replace(SIN, gaps=(Gap("vmop", "there is no such check, on purpose"),))


@pytest.mark.parametrize(
    "given, said",
    [
        ({"profile": "fast"}, "`profile` must be one of quick, full, exhaustive, got 'fast'"),
        ({"checks": ["jit", "vmop"]}, "`checks` must be a check of .*CHECKS, got 'vmop'"),
        ({"checks": ["vmop"]}, "hint: did you mean 'vmap'"),
        ({"dtypes": ["float31"]}, "`dtypes` must be one of bool, .*, got 'float31'"),
        ({"dtypes": ["float31"]}, "hint: did you mean 'float32'"),
    ],
)
def test_cells_are_of_names_that_there_are(given, said):
    with pytest.raises(ValueError, match=f"(?s)^cells: .*{said}"):
        cells([SIN], **given)


@pytest.mark.parametrize("run", [run_cell, run_cells], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "dtype, name, profile, said",
    [
        ("float31", "jit", "quick", "`dtype` must be one of .*, got 'float31'"),
        ("float32", "jti", "quick", "`names?` must be a check of .*, got 'jti'.*mean 'jit'"),
        ("float32", "jit", "fast", "`profile` must be one of .*, got 'fast'"),
    ],
)
def test_cells_that_are_run_have_names_that_there_are(run, dtype, name, profile, said):
    names = name if run is run_cell else [name]
    with pytest.raises(ValueError, match=f"(?s)^{run.__name__}: {said}"):
        run(SIN, dtype, names, profile=profile)


USES = [lambda info: cells([info]), lambda info: run_cell(info, "float32", "jit")]


@pytest.mark.parametrize("use", USES)
def test_a_gap_of_a_check_that_there_is_not_is_refused_at_first_use(use):
    said = r"`check` of a Gap of sin must be a check of .*, got 'vmop'\n  hint: did you mean 'vmap'"
    with pytest.raises(ValueError, match=said):
        use(MISTAKEN)


@pytest.mark.parametrize("use", USES)
def test_the_name_of_an_operator_is_no_entry(use):
    with pytest.raises(TypeError, match="an entry must be an OpInfo, got 'sin'\n  hint: .*op_db"):
        use("sin")


def test_dtypes_of_an_entry_of_its_own_are_known():
    own = dataclasses.replace(SIN, dtypes=("float8_e4m3fn",))
    assert {cell[1] for cell in cells([own], ["float8_e4m3fn"], ["jit"])} == {"float8_e4m3fn"}


def test_a_single_name_is_not_read_letter_by_letter():
    found = list(cells([SIN], "float32", "jit"))
    assert found == list(cells([SIN], ["float32"], ["jit"])) == [(SIN, "float32", "jit")]
    assert run_cells(SIN, "float32", "jit").keys() == {"jit"}


@pytest.mark.parametrize(
    "known",
    [{"dtypes": "float32"}, {"gaps": (Gap("jit", "on purpose", dtypes="float32"),)}],
    ids=["entry", "gap"],
)
def test_dtypes_of_an_entry_are_several(known):
    said = r"(?s)^cells: `dtypes` of .*sin must be several, got 'float32'.*\('float32',\) holds one"
    with pytest.raises(TypeError, match=said):
        cells([dataclasses.replace(SIN, **known)])

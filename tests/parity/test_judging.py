"""What the fuzzer excuses it excuses element by element: mistakes beside it are found."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
import typer


pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

from functx.testing import call
from functx.testing.mutants.derivatives import scaled

from .fuzz import __main__ as command_line
from .fuzz.declared import reason
from .fuzz.draws import to_call
from .fuzz.elements import covered, Elementwise
from .fuzz.running import ENTRIES, every_finding


pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def planted(name, sample, change):
    """A call of an operator with a change to its results, and what is found in it."""

    def changed(*args, **kwargs):
        return change(ENTRIES[name].op(*args, **kwargs))

    changed.spec = ENTRIES[name].op.spec
    called = to_call(dataclasses.replace(ENTRIES[name], op=changed), sample)
    return called, list(every_finding(called))


def undeclared(name, sample, change=lambda out: out):
    """What is found in a call, and is not excused."""
    called, found = planted(name, sample, change)
    return [f"{f.kind}: {f.what}" for f in found if reason(called, f) is None]


def put(at, value):
    return lambda out: out.at[at].set(value)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_nan_for_a_finite_complex_number_is_found(dtype):
    [found] = undeclared("exp", call(jnp.asarray([1 + 1j, np.inf], dtype)), put(0, np.nan))
    assert found.startswith("value: ") and found.endswith("(1 of 2 off)")


def test_nan_for_what_comes_of_a_complex_infinity_is_excused():
    x = jnp.asarray([1 + 1j, complex(-np.inf, 1)], "complex64")
    assert not undeclared("exp", call(x), put(1, np.nan))


@pytest.mark.parametrize("at, excused", [((0,), False), ((1,), True)])
def test_an_infinity_excuses_the_complex_sums_that_it_is_in(at, excused):
    x = jnp.asarray([[1, 2j], [np.inf, 1j]], "complex64")
    assert (not undeclared("sum", call(x, 1), put(at, np.nan))) is excused


@pytest.mark.parametrize("at, excused", [((0,), False), ((1,), True)])
def test_large_numbers_excuse_the_sums_that_they_are_in(at, excused):
    x = jnp.asarray([[1, 2], [3e38, 1]], "float32")
    assert (not undeclared("sum", call(x, 1), put(at, np.inf))) is excused


def test_any_number_for_an_overflow_is_found():
    [found] = undeclared("exp", call(jnp.asarray([1, 100], "float32")), put(1, 1.0))
    assert found == "value: 1.0 at [1], PyTorch inf (1 of 2 off)"


@pytest.mark.parametrize("factor, excused", [(1, True), (2, False)])
@pytest.mark.parametrize("dtype, size", [("float32", 1e30), ("complex128", 1e300)])
def test_the_number_for_an_overflow_of_pytorch_is_excused(dtype, size, factor, excused):
    distance = call(jnp.asarray(size, dtype)[None], jnp.zeros(1, dtype), p=3.0)
    found = undeclared("nn.functional.pairwise_distance", distance, lambda out: out * factor)
    assert (not found) is excused


@pytest.mark.parametrize("at, excused", [((0,), False), ((1,), True)])
def test_a_cast_out_of_range_excuses_what_comes_of_it(at, excused):
    x = jnp.asarray([[1, 2], [1e30, 2]], "float32")
    found = undeclared("sum", call(x, 1, dtype="int32"), lambda out: out.at[at].add(1))
    assert (not found) is excused


@pytest.mark.parametrize("change", [lambda out: out, put(1, 0.0)])
def test_zeros_for_subnormal_numbers_are_excused(change):
    x = jnp.asarray([1, 1e-40], "float32")
    assert not undeclared("mul", call(x, jnp.asarray(1e30, "float32")), change)


@pytest.mark.parametrize("at", [0, 1])
def test_wrong_numbers_beside_subnormal_ones_and_of_them_are_found(at):
    x = jnp.asarray([1, 1e-40], "float32")
    assert undeclared("mul", call(x, jnp.asarray(1e30, "float32")), put(at, 3.0))


def test_a_wrong_gradient_beside_subnormal_numbers_is_found():
    x, least = jnp.asarray([2.0, 5e-324]), jnp.asarray([3.0, 1.0])
    assert not undeclared("mul", call(x, least))
    [found] = undeclared("mul", call(x, least), scaled(1.0, 2.0))
    assert "gradient: of array 0" in found


def test_a_wrong_gradient_beside_nan_of_pytorch_is_found():
    x, y = jnp.asarray([0, 2]), jnp.asarray([0.0, 2.0])
    assert not undeclared("xlogy", call(x, y))
    [found] = undeclared("xlogy", call(x, y), scaled(1.0, 2.0))
    assert "gradient: of array 0" in found


@pytest.mark.parametrize("also, both", [([False, True, False], True), ([False] * 3, False)])
def test_elements_that_differ_may_have_different_excuses(also, both):
    x = jnp.asarray([1, 2, 3], "float32")
    called, [found] = planted("exp", call(x), lambda out: out.at[:2].set(0))
    excuses = [
        Elementwise(("value",), lambda *_, mask=mask: [np.asarray(mask)])
        for mask in ([True, False, False], also)
    ]
    assert not any(excuse(called, found) for excuse in excuses)
    assert covered(called, found, excuses) is both


def test_a_run_without_a_call_fails(monkeypatch, capsys):
    monkeypatch.setattr(command_line, "cheaply", lambda: None)
    monkeypatch.setattr(command_line, "run", lambda turns, jobs: iter(()))
    with pytest.raises(typer.Exit) as ended:
        command_line.main(0, "sin", 0.0, 1, None, None)
    assert ended.value.exit_code == 2
    assert "no call was made: give --seconds more" in capsys.readouterr().err

"""What an entry states is looked at when it is made, and it is shown in a line."""

import jax.numpy as jnp
import pytest

import functx
from functx.testing import call, cells, Gap, OpInfo, run_cell, run_cells, Tolerance


def sine(x):
    return jnp.sin(x)


@pytest.mark.parametrize(
    "stated, message",
    [
        (
            {"tolerances": (1e-5,)},
            r'`tolerances\[0\]` must be Tolerance\("reason", ulps=...\), got 1e-05',
        ),
        ({"gaps": ("vmap",)}, r"`gaps\[0\]` must be Gap\(\"check\", \"reason\"\), got 'vmap'"),
        ({"departures": ("x",)}, r"`departures\[0\]` must be a Departure, or a function .*'x'"),
        ({"tolerances": 1e-5}, "`tolerances` must be a tuple, got 1e-05"),
    ],
)
def test_what_an_entry_states_is_looked_at_when_it_is_made(stated, message):
    with pytest.raises(TypeError, match=f"^sin: {message}"):
        OpInfo(functx.sin, lambda make: iter([call(make(3))]), **stated)


def test_samples_that_are_no_calls_are_said_to_be_none_at_once():
    entry = OpInfo(functx.sin, lambda make: iter([make(3)]))
    message = r"^sin: `samples` must yield call\(...\), got f32\[3\]"
    for run in (
        lambda: run_cells(entry, "float32", ["jit", "vmap"]),
        lambda: run_cell(entry, "float32", "jit"),
        lambda: list(cells([entry], ["float32"])),
    ):
        with pytest.raises(TypeError, match=message):
            run()


def test_an_entry_is_shown_in_a_line():
    one = OpInfo(functx.sin, lambda make: iter([call(make(3))]))
    assert repr(one) == f"OpInfo(sin; {len(one.accepted)} dtypes)"
    known = {"tolerances": (Tolerance("a fact", ulps=9),), "gaps": (Gap("jit", "a fact"),) * 2}
    other = OpInfo(sine, lambda make: iter([call(make(3))]), variant="odd", **known)
    assert repr(other) == "OpInfo(sine-odd; float32, float64; 1 tolerance; 2 gaps)"

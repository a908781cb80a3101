"""Sums of large arrays are right, also where XLA has a fault that functx must avoid."""

from __future__ import annotations

import os

import jax
import jaxlib
import numpy as np
import pytest

import functx
from functx._core.devices import xla_faults
from functx._core.devices.xla_faults import avoid_wrong_reductions


OPTION = "xla_cpu_experimental_ynn_fusion_type"
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(40_000, 3), (173, 178, 3), (64, 64, 64)])
def test_what_is_left_without_a_weighted_sum(shape):
    w, x = (RNG.standard_normal(s).astype("float32") for s in (shape[1:], shape))
    got = jax.jit(lambda w, x: x - (w * x).sum(-1, keepdims=True))(w, x)
    np.testing.assert_allclose(got, x - (w * x).sum(-1, keepdims=True), atol=2e-5)


@pytest.mark.parametrize("operator", [functx.log_softmax, functx.softmax])
def test_second_derivatives_along_many_directions(operator):
    x, c = RNG.standard_normal((2, 60, 4))
    tangents = RNG.standard_normal((200, 60, 4))

    def products(dtype):
        f = lambda x: functx.sum(operator(x, -1) * c.astype(dtype))
        along = lambda t: functx.jvp(functx.grad(f), (x.astype(dtype),), (t,))[1]
        return jax.jit(functx.vmap(along))(tangents.astype(dtype))

    np.testing.assert_allclose(products("float32"), products("float64"), atol=5e-6)


@pytest.fixture
def environment(monkeypatch):
    """XLA's flags, of a process in which no backend has started."""
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    monkeypatch.setattr(xla_faults, "backends_are_initialized", lambda: False)
    monkeypatch.setattr(jaxlib.version, "__version_info__", (0, 10, 2))
    return os.environ


def test_the_flag_is_added_to_others(environment):
    environment["XLA_FLAGS"] = "--xla_dump_to=/nowhere"
    avoid_wrong_reductions()
    first, own = environment["XLA_FLAGS"].split()
    assert first == "--xla_dump_to=/nowhere"
    assert own.startswith(f"--{OPTION}=")


def test_a_setting_of_the_user_is_left_alone(environment):
    environment["XLA_FLAGS"] = f"--{OPTION}=LIBRARY_FUSION_TYPE_DOT"
    avoid_wrong_reductions()
    assert environment["XLA_FLAGS"] == f"--{OPTION}=LIBRARY_FUSION_TYPE_DOT"


def test_other_releases_get_no_flag_that_they_may_not_know(environment, monkeypatch):
    monkeypatch.setattr(jaxlib.version, "__version_info__", (0, 11, 0))
    avoid_wrong_reductions()
    assert "XLA_FLAGS" not in environment


def test_a_late_import_is_told(environment, monkeypatch):
    monkeypatch.setattr(xla_faults, "backends_are_initialized", lambda: True)
    with pytest.warns(UserWarning, match="import functx before the first array is made"):
        avoid_wrong_reductions()
    avoid_wrong_reductions()  # once is enough

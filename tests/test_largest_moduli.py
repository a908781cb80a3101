"""The largest of several moduli has the gradient, also where a program rounds them in two ways."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing.checks.programs import compiled


def normal(*shape):
    parts = np.random.default_rng(0).standard_normal((2, *shape))
    return jnp.asarray(parts[0] + 1j * parts[1])


@pytest.mark.parametrize("p", [math.inf, -math.inf])
def test_one_element_of_each_vector_has_the_gradient(p):
    norms = lambda z: functx.linalg.vector_norm(z, p, dim=-1).sum()
    slopes = compiled(functx.grad(norms))(normal(500, 3))
    assert (np.count_nonzero(slopes, axis=-1) == 1).all()

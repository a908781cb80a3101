"""Coefficients beyond float32, which JAX makes infinite while its 64 bit is off: refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


CALLS = {
    "add": lambda x, a: functx.add(x, x, alpha=a),
    "sub": lambda x, a: functx.sub(x, x, alpha=a),
    "addmm": lambda x, a: functx.addmm(x, x, x, alpha=a),
    "addbmm": lambda x, a: functx.addbmm(x, x[None], x[None], alpha=a),
    "baddbmm": lambda x, a: functx.baddbmm(x[None], x[None], x[None], alpha=a),
    "addmv": lambda x, a: functx.addmv(x[0], x, x[0], alpha=a),
    "addr": lambda x, a: functx.addr(x, x[0], x[0], alpha=a),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("compiled", [lambda f: f, functx.jit])
@pytest.mark.parametrize("name", CALLS)
def test_what_float32_cannot_hold_is_refused(name, compiled, dtype):
    x = jnp.ones((2, 2), dtype)
    call = compiled(lambda x: CALLS[name](x, 1e39))
    with functx.x64(False), pytest.raises(RuntimeError, match=f"^{name}: `alpha` must fit float"):
        call(x)


def test_the_remedy_is_one():
    x = jnp.ones(2, "float32")
    with functx.x64(False), pytest.raises(RuntimeError, match="got 1e.39\n.*functx.enable_x64"):
        functx.add(x, x, alpha=1e39)
    with functx.x64(True):
        wide = jnp.ones(2, "float64")
        assert functx.add(wide, wide, alpha=1e39).tolist() == [1e39] * 2


def test_infinities_are_taken_as_they_are():
    x = jnp.ones(2, "float32")
    with functx.x64(False):
        assert functx.add(x, x, alpha=np.inf).tolist() == [np.inf] * 2
        assert np.isnan(functx.add(x, x, alpha=np.nan)).all()
        assert functx.add(x, x, alpha=float(np.finfo("float32").max)).tolist() != [np.inf] * 2


@pytest.mark.parametrize("on", [True, False])
def test_halves_are_scaled_in_float32_as_by_pytorch(on):
    torch = pytest.importorskip("torch", reason="its answers are compared")
    one, theirs = jnp.ones((2, 2), "float16"), torch.ones((2, 2), dtype=torch.float16)
    with functx.x64(on):
        for scaled in (1.0, 2.0**-10):
            ours = functx.addmm(one, one * scaled, one, alpha=1e6)
            want = torch.addmm(theirs, theirs * scaled, theirs, alpha=1e6)
            np.testing.assert_array_equal(ours, want.numpy())
        with pytest.raises(RuntimeError, match="`alpha` must fit float16"):
            functx.add(one, one, alpha=1e6)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.add(theirs, theirs, alpha=1e6)


def test_a_traced_coefficient_is_one():
    x = jnp.ones(2, "float32")
    with functx.x64(False):
        assert jax.jit(lambda a: functx.add(x, x, alpha=a))(2.0).tolist() == [3, 3]

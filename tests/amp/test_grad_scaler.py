"""`GradScaler`: scale, unscale, skip, update, through jit, scan and vmap."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.amp import GradScaler


W = jnp.asarray([1.0, -2.0, 3.0], "float32")


def step(state, x):
    """Gradient descent on a loss whose gradient is not finite where `x` is not."""
    w, scaler = state
    grads = functx.grad(lambda w: scaler.scale(functx.sum(w * w * x)))(w)
    grads, found_inf = scaler.unscale(grads)
    w = scaler.select(found_inf, w, w - 0.125 * grads)
    return (w, scaler.update(found_inf)), (w, found_inf, scaler.get_scale())


def test_a_finite_step_is_that_without_scaling():
    (w, scaler), (_, found_inf, scale) = step((W, GradScaler()), jnp.float32(1))
    np.testing.assert_array_equal(w, W - 0.25 * W)
    assert not found_inf and scale == 65536 and w.dtype == "float32"
    assert int(scaler.state_dict()["_growth_tracker"]) == 1


def test_a_step_with_infinite_gradients_is_skipped_and_backs_off():
    (w, scaler), (_, found_inf, _) = step((W, GradScaler()), jnp.float32(jnp.inf))
    assert found_inf and scaler.get_scale() == 32768
    np.testing.assert_array_equal(w, W)
    assert int(scaler.state_dict()["_growth_tracker"]) == 0


def test_the_trajectory_inside_scan_is_that_of_a_loop():
    xs = jnp.asarray([1, 1, np.inf, 1, 1, 1, np.nan, 1, 1], "float32")
    start = (W, GradScaler(init_scale=4.0, growth_interval=2))
    (w, scaler), (_, found, scales) = jax.jit(lambda s: jax.lax.scan(step, s, xs))(start)
    state, seen = start, []
    for x in xs:
        state, (_, _, scale) = step(state, x)
        seen.append(float(scale))
    assert seen == list(map(float, scales)) == [4, 4, 8, 4, 4, 8, 8, 4, 4]
    np.testing.assert_array_equal(w, state[0])
    assert jax.tree.structure(scaler) == jax.tree.structure(start[1])
    assert list(np.isfinite(xs)) == [not x for x in found]


def test_each_lane_has_its_scale():
    xs = jnp.asarray([1, np.inf], "float32")
    scalers = jax.tree.map(lambda x: jnp.stack([x, x]), GradScaler(init_scale=8.0))
    (w, scalers), _ = functx.vmap(step)((jnp.stack([W, W]), scalers), xs)
    assert list(map(float, scalers.get_scale())) == [8, 4]
    np.testing.assert_array_equal(w[1], W)


def test_gradients_that_vanish_in_float16_do_not_when_scaled():
    x = jnp.float32(2.0**-18)

    def loss(w):
        with functx.amp.autocast(jnp.float16, device="cuda"):
            return functx.matmul(w[None], (x * jnp.ones(3, "float32"))[:, None])[0, 0]

    scaler = GradScaler(2.0**10)
    naive = functx.grad(lambda w: loss(w).astype("float32") * 2.0**-8)(W)
    scaled = functx.grad(lambda w: scaler.scale(loss(w).astype("float32") * 2.0**-8))(W)
    grads, found_inf = scaler.unscale(scaled)
    assert not naive.any() and not found_inf
    np.testing.assert_array_equal(grads, np.full(3, 2.0**-26, "float32"))


def test_a_loss_in_a_half_is_scaled_in_float32():
    y = GradScaler().scale({"loss": jnp.float16(2), "count": jnp.int32(3), "name": "a"})
    assert y["loss"].dtype == "float32" and y["loss"] == 131072
    assert y["count"].dtype == "int32" and y["name"] == "a"


def test_leaves_without_gradients_are_handed_on():
    key = jax.random.key(0)
    grads = {
        "w": W,
        "n": jnp.int32(1),
        "none": None,
        "key": key,
        "f": float,
        "z": W.astype("complex64"),
    }
    got, found_inf = GradScaler(2.0).unscale(grads)
    assert got["n"] == 1 and got["none"] is None and got["key"] is key and not found_inf
    np.testing.assert_array_equal(got["w"], W / 2)
    np.testing.assert_array_equal(got["z"], np.asarray(W) / 2)
    assert GradScaler(2.0).unscale({"z": jnp.asarray([np.nan + 1j], "complex64")})[1]


def test_a_preset_scale_composes_with_that_of_the_loss():
    scaler = GradScaler(init_scale=5.0)
    grads = jnp.full(3, 15.0, "float32")
    np.testing.assert_array_equal(scaler.unscale(grads)[0], np.full(3, 3, "float32"))
    got, _ = scaler.unscale(grads, grad_scale=3.0)
    np.testing.assert_allclose(got, np.ones(3), rtol=1e-7)


def test_the_scale_of_a_graph_of_four_steps():
    def one(scaler, x):
        grads, found_inf = scaler.unscale(functx.grad(lambda w: scaler.scale(w * x))(W[0]))
        scaler = scaler.update(found_inf)
        return scaler, (scaler.get_scale(), scaler.state_dict()["_growth_tracker"], grads)

    xs = jnp.asarray([5, np.inf, 5, np.inf], "float32")
    _, (scales, trackers, _) = jax.lax.scan(one, GradScaler(4.0, growth_interval=100), xs)
    assert list(map(float, scales)) == [4, 2, 2, 1]
    assert list(map(int, trackers)) == [1, 0, 1, 0]


def test_several_optimizers_have_one_scale():
    scaler = GradScaler(8.0)
    found = [jnp.asarray(x) for x in (False, True)]
    assert scaler.update(*found).get_scale() == 4
    assert scaler.update(found[0], found[0]).get_scale() == 8
    assert scaler.update(found[0], new_scale=32).get_scale() == 32


def test_the_scale_does_not_grow_beyond_float32():
    scaler = GradScaler(2.0**127, growth_interval=1).update(jnp.asarray(False))
    assert scaler.get_scale() == np.float32(2.0**127)
    assert int(scaler.state_dict()["_growth_tracker"]) == 0


def test_a_scaler_that_is_not_enabled_hands_on():
    scaler = GradScaler(enabled=False)
    grads = {"w": jnp.asarray([np.inf], "float32")}
    got, found_inf = scaler.unscale(grads)
    assert got is grads and not found_inf and scaler.scale(W) is W
    assert scaler.select(True, 1, 2) == 2 and scaler.update() is scaler
    assert scaler.state_dict() == {} and scaler.get_scale() == 1 and not scaler.is_enabled()


def test_its_state_goes_through_files_and_pickle():
    scaler = GradScaler(8.0, 3.0, 0.25, 7).update(jnp.asarray(False))
    for again in (
        GradScaler().load_state_dict(scaler.state_dict()),
        pickle.loads(pickle.dumps(scaler)),
        jax.tree.map(lambda x: x, scaler),
    ):
        assert repr(again) == repr(scaler)
    assert "scale" in str(jax.tree_util.tree_leaves_with_path(scaler)[0][0])
    assert GradScaler(enabled=False).load_state_dict({}).state_dict() == {}


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda: GradScaler("cuda"), TypeError, "has no device"),
        (lambda: GradScaler(device="cuda"), TypeError, "has no device"),
        (lambda: GradScaler(0.0), ValueError, "`init_scale` must be positive and finite, got 0.0"),
        (lambda: GradScaler(growth_factor=1.0), ValueError, "`growth_factor` must be more than 1"),
        (lambda: GradScaler(backoff_factor=1.0), ValueError, "`backoff_factor` must be between"),
        (lambda: GradScaler(growth_interval=0), ValueError, "`growth_interval` must be at least 1"),
        (lambda: GradScaler(enabled=1), TypeError, "`enabled` must be a bool"),
        (lambda: GradScaler().update(), TypeError, "`found_inf` is missing"),
        (lambda: GradScaler().load_state_dict({}), RuntimeError, "`state_dict` is empty"),
        (
            lambda: GradScaler().unscale({"w": [W.astype("float16")]}),
            ValueError,
            r"got grads\['w'\]\[0\] f16\[3\]",
        ),
    ],
)
def test_refusals(wrong, error, words):
    with pytest.raises(error, match=words):
        wrong()

"""How long residuals live: pullbacks for one use, long chains, references, the host's memory."""

from __future__ import annotations

import gc
import sys
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx.autograd.graph import save_on_cpu


A = jnp.array([0.7, -0.4, 1.3])
ONES = jnp.ones(3)


def alive(references):
    gc.collect()
    return [r for r in references if r() is not None]


def test_inputs_are_kept_without_a_copy():
    _, vjp_fn = functx.vjp(lambda a: a * a, A)
    (kept,) = jax.tree.leaves(vjp_fn)
    assert kept is A


def test_a_pullback_for_one_use_refuses_a_second():
    output, vjp_fn = functx.vjp(lambda a: jnp.sin(a) * a, A, retain=False)
    np.testing.assert_allclose(vjp_fn(ONES)[0], jnp.sin(A) + A * jnp.cos(A))
    for again in (lambda: vjp_fn(ONES), lambda: jax.tree.leaves(vjp_fn)):
        with pytest.raises(RuntimeError, match="after they have already been freed") as caught:
            again()
    assert "Specify retain=True, which is PyTorch's retain_graph=True" in str(caught.value)
    np.testing.assert_allclose(output, jnp.sin(A) * A)


def test_a_pullback_that_retains_may_be_used_again():
    _, vjp_fn = functx.vjp(lambda a: a * a, A, retain=True)
    assert np.array_equal(vjp_fn(ONES)[0], vjp_fn(ONES)[0])


def test_a_pullback_that_keeps_nothing_may_be_used_again():
    _, vjp_fn = functx.vjp(lambda a: a + 1, A, retain=False)
    assert np.array_equal(vjp_fn(ONES)[0], vjp_fn(2 * ONES)[0] / 2)


def test_a_refused_cotangent_does_not_use_up_a_pullback():
    _, vjp_fn = functx.vjp(lambda a: a * a, A, retain=False)
    with pytest.raises(ValueError, match="cotangents"):
        vjp_fn(jnp.ones(2))
    np.testing.assert_array_equal(vjp_fn(ONES)[0], 2 * A)


def test_use_frees_what_only_the_pullback_held():
    _, vjp_fn = functx.vjp(lambda a: jnp.sin(a) * a, A, retain=False)
    mine = [weakref.ref(x) for x in jax.tree.leaves(vjp_fn) if x is not A]
    assert len(alive(mine)) == 2
    vjp_fn(ONES)
    assert not alive(mine)
    assert not A.is_deleted()


def test_use_leaves_outputs_and_constants_alone():
    weight = jnp.array([1.0, 2.0, 3.0])
    output, vjp_fn = functx.vjp(lambda a: functx.exp(a * weight), A, retain=False)
    vjp_fn(ONES)
    np.testing.assert_allclose(output, jnp.exp(A * weight))


def test_pullbacks_for_one_use_work_while_tracing_and_leave_jit():
    def gradient(a):
        _, vjp_fn = functx.vjp(lambda a: a * a, a, retain=False)
        got = vjp_fn(ONES)[0]
        with pytest.raises(RuntimeError, match="Specify retain=True"):
            vjp_fn(ONES)
        return got

    np.testing.assert_allclose(jax.jit(functx.jacrev(gradient))(A), 2 * np.eye(3))
    vjp_fn = jax.jit(lambda a: functx.vjp(lambda a: a * a, a, retain=False)[1])(A)
    np.testing.assert_array_equal(vjp_fn(ONES)[0], 2 * A)
    with pytest.raises(RuntimeError, match="Specify retain=True"):
        vjp_fn(ONES)


def test_aux_comes_with_a_pullback_for_one_use():
    _, vjp_fn, aux = functx.vjp(lambda a: (a * a, "aux"), A, has_aux=True, retain=False)
    assert aux == "aux" and np.array_equal(vjp_fn(ONES)[0], 2 * A)


def test_chains_longer_than_the_stack_are_differentiated_and_freed():
    steps = sys.getrecursionlimit() + 500

    def chain(x):
        for _ in range(steps):
            x = lax.sin(x)
        return x

    _, vjp_fn = functx.vjp(chain, A)
    looped = functx.grad(lambda x: lax.fori_loop(0, steps, lambda i, c: lax.sin(c), x).sum())
    np.testing.assert_allclose(vjp_fn(ONES)[0], looped(A), rtol=1e-10)
    residuals = [weakref.ref(x) for x in jax.tree.leaves(vjp_fn)]
    assert len(residuals) == steps
    del vjp_fn
    assert not alive(residuals)


def test_loops_of_any_length_are_differentiated():
    loop = lambda x: lax.fori_loop(0, 100_000, lambda i, c: c * x, x)
    np.testing.assert_allclose(functx.grad(loop)(jnp.float64(1)), 100_001)


def test_residuals_die_with_their_pullback():
    _, vjp_fn = functx.vjp(lambda a: jnp.sin(jnp.exp(a)), A)
    references = [weakref.ref(x) for x in jax.tree.leaves(vjp_fn)]
    assert len(references) == 2
    del vjp_fn
    assert not alive(references)


class Held:
    """Something that hooks hold on to."""


def test_hooks_die_with_the_region_and_the_pullbacks_made_in_it():
    held = Held()
    pack, unpack = (lambda x, held=held: x), (lambda x, held=held: x)
    with functx.residuals.residual_hooks(pack, unpack):
        jax.jit(functx.grad(lambda a: (a * a).sum()))(A)
        _, vjp_fn = functx.vjp(functx.sin, A)
    references = [weakref.ref(held), weakref.ref(pack)]
    del held, pack, unpack
    assert len(alive(references)) == 1  # what `unpack` holds
    vjp_fn(ONES)
    del vjp_fn
    assert not alive(references)


def test_no_tracer_leaks_through_hooks():
    with jax.checking_leaks(), functx.residuals.residual_hooks(lambda x: 2 * x, lambda x: x / 2):
        got = jax.jit(functx.hessian(lambda a: (a * a * a).sum()))(A)
    np.testing.assert_allclose(got, np.diag(6 * A))


def test_residuals_saved_in_one_process_load_in_another(tmp_path):
    forward = jax.jit(lambda a: functx.vjp(lambda a: functx.sin(a) * a, a)[1])
    np.savez(tmp_path / "residuals.npz", *jax.tree.leaves(forward(A)))

    like = jax.ShapeDtypeStruct(A.shape, A.dtype)
    structure = jax.tree.structure(jax.eval_shape(forward, like))
    loaded = np.load(tmp_path / "residuals.npz")
    vjp_fn = jax.tree.unflatten(structure, [jnp.asarray(x) for x in loaded.values()])
    np.testing.assert_allclose(vjp_fn(ONES)[0], jnp.sin(A) + A * jnp.cos(A))


def loss(a):
    return functx.sum(functx.relu(a) * jnp.sin(a))


@pytest.mark.parametrize("region", [functx.residuals.offload_residuals, save_on_cpu])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_offloaded_residuals_come_back_as_they_were(region, dtype):
    a = A.astype(dtype)
    with region():
        _, vjp_fn = functx.vjp(lambda a: a * jnp.exp(a), a)
    kinds = {x.sharding.memory_kind for x in jax.tree.leaves(vjp_fn)}
    assert kinds == {"pinned_host"}
    (got,) = vjp_fn(jnp.ones(3, dtype))
    want = functx.vjp(lambda a: a * jnp.exp(a), a)[1](jnp.ones(3, dtype))[0]
    np.testing.assert_array_equal(got, want)
    assert (got.dtype, got.sharding) == (want.dtype, a.sharding)


def test_masks_and_indices_are_offloaded_too():
    with functx.residuals.offload_residuals():
        _, vjp_fn = functx.vjp(functx.relu, A)
    assert {x.sharding.memory_kind for x in jax.tree.leaves(vjp_fn)} == {"pinned_host"}
    np.testing.assert_array_equal(vjp_fn(ONES)[0], A > 0)


def test_offloading_composes_with_jit_checkpoint_and_second_derivatives():
    def everything(a):
        return {
            "grad": functx.grad(loss)(a),
            "checkpoint": functx.grad(functx.checkpoint(loss))(a),
            "inside": functx.grad(lambda a: loss(functx.checkpoint(jnp.exp)(a)))(a),
            "hessian": functx.hessian(loss)(a),
            "vmap": functx.vmap(functx.grad(loss))(jnp.stack([a, 2 * a])),
        }

    want = jax.jit(everything)(A)
    with functx.residuals.offload_residuals():
        got, eager = jax.jit(everything)(A), functx.grad(functx.checkpoint(loss))(A)
        assert "f64<host>[3]" in str(jax.make_jaxpr(functx.grad(loss))(A))
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=1e-14), got, want)
    np.testing.assert_allclose(eager, want["grad"], atol=1e-14)


def test_what_lies_on_the_host_stays_there():
    host = jax.device_put(A, A.sharding.with_memory_kind("pinned_host"))
    with functx.residuals.offload_residuals():
        _, vjp_fn = functx.vjp(lambda a: a * a, host)
    (got,) = vjp_fn(jax.device_put(ONES, host.sharding))
    assert got.sharding == host.sharding
    np.testing.assert_array_equal(got, 2 * A)

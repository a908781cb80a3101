"""What goes through residual hooks, when, and what derivatives of any order make of it."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import PartitionSpec as P

import functx
from functx.autograd.graph import disable_saved_tensors_hooks, saved_tensors_hooks


A = jnp.array([0.7, -0.4, 1.3])
ONES = jnp.ones(3)
MESH = jax.sharding.Mesh(jax.devices("cpu")[:1], ("i",))


def same(x):
    return x


def twice(x):
    return 2 * x


def half(x):
    return x / 2


def square(a):
    return (a * a).sum()


def as_bits(x):
    return lax.bitcast_convert_type(x, "int64")


def from_bits(bits):
    return lax.bitcast_convert_type(bits, "float64")


class Counted:
    """Hooks that count, and hand on what they get."""

    def __init__(self):
        self.packed = self.unpacked = 0

    def pack(self, x):
        self.packed += 1
        return x

    def unpack(self, x):
        self.unpacked += 1
        return x


def test_hooks_that_undo_each_other_change_nothing():
    with functx.residuals.residual_hooks(twice, half):
        np.testing.assert_array_equal(functx.grad(square)(A), 2 * A)


def test_what_pack_changes_and_unpack_leaves_is_seen_in_the_gradient():
    with functx.residuals.residual_hooks(twice, same):
        np.testing.assert_array_equal(functx.grad(square)(A), 4 * A)
    np.testing.assert_array_equal(functx.grad(square)(A), 2 * A)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: lambda x: functx.vjp(f, x)[1](1.0)[0],
        lambda f: lambda x: functx.value_and_grad(f)(x)[1],
        lambda f: lambda x: functx.grad_and_value(f)(x)[0],
        lambda f: functx.jacrev(f),
        lambda f: functx.jacrev(f, chunk_size=1),
        lambda f: lambda x: functx.linearize(f, x)[1](ONES) / 3 * ONES,
        lambda f: jax.jit(functx.grad(f)),
        lambda f: functx.grad(jax.jit(f)),
        lambda f: functx.grad(functx.checkpoint(f)),
    ],
    ids="vjp value_and_grad grad_and_value jacrev chunks linearize jit of_jit checkpoint".split(),
)
def test_every_transform_that_keeps_residuals_obeys(transform):
    with functx.residuals.residual_hooks(twice, same):
        got = transform(square)(ONES)
    np.testing.assert_array_equal(got, 4 * ONES)


def test_hooks_are_called_when_residuals_are_kept_and_when_they_are_used():
    count = Counted()
    with functx.residuals.residual_hooks(count.pack, count.unpack):
        _, vjp_fn = functx.vjp(lambda x: x * ONES, A)
        assert (count.packed, count.unpacked) == (1, 0)
    vjp_fn(ONES)
    assert (count.packed, count.unpacked) == (1, 1)
    vjp_fn(ONES)
    assert (count.packed, count.unpacked) == (1, 2)


def test_an_array_that_is_kept_for_two_operands_is_packed_once():
    count = Counted()
    with functx.residuals.residual_hooks(count.pack, count.unpack):
        functx.grad(square)(A)
    assert (count.packed, count.unpacked) == (1, 1)


def test_numbers_indices_and_masks_pass_by_unless_asked_for():
    def refused(x):
        raise AssertionError(x)

    with functx.residuals.residual_hooks(refused, refused):
        functx.grad(lambda a: functx.sum(3.5 * functx.index_select(a, 0, jnp.array([2, 0]))))(A)
    seen = []
    with functx.residuals.residual_hooks(lambda x: seen.append(x.dtype) or x, same, integers=True):
        functx.grad(lambda a: functx.sum(3.5 * functx.index_select(a, 0, jnp.array([2, 0]))))(A)
    assert seen and all(jnp.issubdtype(dtype, jnp.integer) for dtype in seen)


def test_the_innermost_hooks_win():
    with functx.residuals.residual_hooks(twice, same):
        with functx.residuals.residual_hooks(lambda x: 5 * x, same):
            np.testing.assert_allclose(functx.grad(square)(A), 10 * A)
        np.testing.assert_array_equal(functx.grad(square)(A), 4 * A)


@pytest.mark.parametrize(
    "first, second, factor",
    [(same, same, 1), (twice, same, 2), (same, twice, 4), (twice, twice, 8)],
)
def test_double_backward_packs_the_residuals_of_both_passes(first, second, factor):
    def gradient(a):
        with functx.residuals.residual_hooks(first, same):
            _, vjp_fn = functx.vjp(lambda a: functx.pow(a, 3), a)
        return vjp_fn(ONES)[0]

    with functx.residuals.residual_hooks(second, same):
        _, vjp_fn = functx.vjp(gradient, A)
    np.testing.assert_allclose(vjp_fn(ONES)[0], factor * 6 * A, rtol=1e-12)


def wave(x):
    return functx.sum(functx.sin(x) * jnp.exp(x) * x)


def everything(x):
    """Derivatives of all kinds, through all kinds of programs."""
    g = functx.grad(wave)
    steps = lambda c, a: (c - 0.1 * a * g(c), jnp.sum(g(c)))
    return {
        "grad": g(x),
        "jit": functx.grad(jax.jit(wave))(x),
        "vmap": functx.vmap(g)(jnp.stack([x, 2 * x])),
        "of_vmap": functx.grad(lambda x: functx.vmap(wave)(jnp.stack([x, 2 * x])).sum())(x),
        "jacrev": functx.jacrev(functx.sin)(x),
        "hessian": functx.hessian(wave)(x),
        "over": functx.jacrev(functx.jacrev(wave))(x),
        "plain": jax.hessian(g)(x),
        "staged": functx.grad(lambda x: jax.jit(g)(x) @ x)(x),
        "hvp": functx.hvp(wave, x, x * x)[1],
        "vhp": functx.vhp(wave, x, x * x)[1],
        "linearize": functx.linearize(g, x)[1](x),
        "scan": lax.scan(steps, x, ONES),
        "through_scan": functx.grad(lambda x: lax.scan(steps, x, ONES)[1].sum())(x),
        "cond": functx.grad(lambda x: lax.cond(x[0] > 0, g, jnp.cos, x).sum())(x),
        "checkpoint": functx.grad(functx.checkpoint(lambda x: g(x) @ x))(x),
        "lanes": functx.vmap(functx.hessian(wave))(jnp.stack([x, 2 * x])),
        "shards": jax.shard_map(g, mesh=MESH, in_specs=P("i"), out_specs=P("i"))(x),
        "of_shards": functx.grad(
            lambda x: jax.shard_map(g, mesh=MESH, in_specs=P("i"), out_specs=P("i"))(x).sum()
        )(x),
        "replicated": functx.grad(
            lambda x: jax.shard_map(lambda x: g(x).sum(), mesh=MESH, in_specs=P(), out_specs=P())(x)
        )(x),
        "unused": functx.grad(lambda p: wave(p[0]), unused="none")((x, x))[0],
        "third": functx.jacfwd(functx.hessian(wave))(x),
    }


def test_hooks_without_a_derivative_leave_derivatives_of_any_order_right():
    truth = jax.jit(everything)(A)
    with functx.residuals.residual_hooks(as_bits, from_bits):
        got = jax.jit(everything)(A)
    for name, want in truth.items():
        for x, y in zip(jax.tree.leaves(got[name]), jax.tree.leaves(want), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12, err_msg=name)


def test_derivatives_of_a_complex_function_go_through_hooks():
    z = jnp.array([1 + 2j, 3 - 1j])
    with functx.residuals.residual_hooks(
        lambda z: (z.real, z.imag), lambda pair: lax.complex(*pair)
    ):
        got = functx.grad(lambda z: functx.real(z * z).sum())(z)
    np.testing.assert_allclose(got, 2 * z.conj())


def test_a_compiled_program_belongs_to_the_hooks_it_was_made_under():
    gradient = jax.jit(functx.grad(square))
    np.testing.assert_array_equal(gradient(A), 2 * A)
    with functx.residuals.residual_hooks(twice, same):
        np.testing.assert_array_equal(gradient(A), 4 * A)
    np.testing.assert_array_equal(gradient(A), 2 * A)


def test_lambdas_of_the_same_code_do_not_make_new_programs():
    traces = []

    def counted(a):
        traces.append(None)
        return square(a)

    gradient = jax.jit(functx.grad(counted))
    for _ in range(3):
        with functx.residuals.residual_hooks(lambda x: 2 * x, lambda x: x):
            gradient(A)
    assert len(traces) == 1


def test_hooks_that_hold_different_values_make_different_programs():
    gradient = jax.jit(functx.grad(square))
    for factor in (2, 3):
        with functx.residuals.residual_hooks(lambda x: factor * x, same):  # noqa: B023
            np.testing.assert_allclose(gradient(A), factor * 2 * A)


def test_residuals_can_be_quantised_under_jit():
    def pack(x):
        scale = jnp.max(jnp.abs(x)) / 127
        return jnp.round(x / scale).astype("int8"), scale

    def unpack(packed):
        return packed[0].astype("float64") * packed[1]

    with functx.residuals.residual_hooks(pack, unpack):
        got, curved = jax.jit(lambda x: (functx.grad(wave)(x), functx.hessian(wave)(x)))(A)
    np.testing.assert_allclose(got, functx.grad(wave)(A), rtol=0.02, atol=0.02)
    np.testing.assert_allclose(curved, functx.hessian(wave)(A), rtol=0.05, atol=0.05)


def test_residuals_can_wait_on_a_disk(tmp_path):
    def pack(x):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
        np.save(path, x)
        return path

    with functx.residuals.residual_hooks(pack, np.load):
        _, vjp_fn = functx.vjp(lambda x: jnp.exp(x) * x, A)
        assert len(list(tmp_path.iterdir())) == 2
        np.testing.assert_allclose(functx.hessian(square)(A), 2 * np.eye(3))
    np.testing.assert_allclose(vjp_fn(ONES)[0], jnp.exp(A) * (1 + A))


def test_a_pullback_with_packed_residuals_is_a_tree_and_leaves_jit():
    with functx.residuals.residual_hooks(
        lambda x: (2 * x, "float64"), lambda p: (p[0] / 2).astype(p[1])
    ):
        vjp_fn = jax.jit(lambda x: functx.vjp(lambda x: x * x, x)[1])(A)
        again = functx.vjp(lambda x: x * x, A)[1]
    np.testing.assert_array_equal(vjp_fn(ONES)[0], 2 * A)
    (packed,) = jax.tree.leaves(again)
    np.testing.assert_array_equal(packed, 2 * A)
    np.testing.assert_array_equal(jax.jit(lambda pull, ct: pull(ct)[0])(again, ONES), 2 * A)


class Mine(Exception):
    """An error of a user's own."""


def test_errors_of_hooks_keep_their_types():
    def broken(x):
        raise Mine("as it was raised")

    with (
        functx.residuals.residual_hooks(broken, same),
        pytest.raises(Mine, match="as it was raised"),
    ):
        functx.grad(square)(A)
    with functx.residuals.residual_hooks(same, broken):
        _, vjp_fn = functx.vjp(square, A)
    with pytest.raises(Mine, match="as it was raised"):
        vjp_fn(1.0)
    np.testing.assert_array_equal(functx.grad(square)(A), 2 * A)


@pytest.mark.parametrize(
    "unpack, error, words",
    [
        (lambda x: x[:1], ValueError, r"`unpack` must return f64\[3\], .*, got f64\[1\]"),
        (lambda x: x.astype("float32"), TypeError, r"`unpack` must return f64\[3\], .* f32\[3\]"),
        (lambda x: "here", TypeError, r"`unpack` must return an array .* f64\[3\], got 'here'"),
    ],
)
def test_unpack_must_return_what_was_kept(unpack, error, words):
    with functx.residuals.residual_hooks(same, unpack), pytest.raises(error, match=words):
        functx.grad(square)(A)


def test_hooks_must_be_callable():
    with pytest.raises(TypeError, match="`unpack` must be callable, got 1"):
        functx.residuals.residual_hooks(same, 1)


def test_disabled_hooks_are_refused_with_the_message_given():
    with disable_saved_tensors_hooks("exact residuals, please"):
        np.testing.assert_array_equal(functx.grad(square)(A), 2 * A)
        with pytest.raises(RuntimeError, match="residual_hooks: exact residuals, please"):
            with saved_tensors_hooks(same, same):
                pass
        with functx.residuals.disable_residual_hooks("inside"):
            with pytest.raises(RuntimeError, match="inside"):
                with functx.residuals.residual_hooks(same, same):
                    pass
        with pytest.raises(RuntimeError, match="exact"), functx.residuals.offload_residuals():
            pass
    with saved_tensors_hooks(same, same):
        with pytest.raises(RuntimeError, match="too late"):
            with functx.residuals.disable_residual_hooks("too late"):
                pass
        functx.grad(square)(A)


def test_a_region_inside_the_differentiated_function_is_refused():
    def unused(x):
        return x

    def inside(a):
        with functx.residuals.residual_hooks(unused, unused):
            return square(a)

    with pytest.raises(RuntimeError, match="being differentiated nothing has used the hooks"):
        functx.grad(inside)(A)
    np.testing.assert_array_equal(inside(A), square(A))


def test_hooks_are_those_of_their_thread():
    got = []
    with functx.residuals.residual_hooks(twice, same):
        thread = threading.Thread(target=lambda: got.append(functx.grad(square)(A)))
        thread.start()
        thread.join()
    np.testing.assert_array_equal(got[0], 2 * A)


def test_without_hooks_a_program_is_that_of_hand_written_jax():
    ours = jax.jit(functx.grad(square)).lower(A).as_text()
    with functx.residuals.residual_hooks(as_bits, from_bits):
        hooked = jax.jit(functx.grad(square)).lower(A).as_text()
    assert ours == jax.jit(jax.grad(square)).lower(A).as_text() != hooked

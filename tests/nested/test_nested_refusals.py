"""What cannot be done along a ragged dimension is refused by name; so are mistakes."""

import jax
import jax.numpy as jnp
import pytest
from sequences import assert_like_a_loop, LENGTHS, Sequences

import functx
import functx.nested as fn
import functx.nn.functional as F  # noqa: N812


X = Sequences(LENGTHS, 4, name="n").batch
Y = Sequences((2, 2, 1), 4, name="m").batch


REFUSED = {
    "fft.fft": lambda x: functx.fft.fft(x, dim=0),
    "fft": lambda x: jnp.fft.fft(x, axis=0),
    "linalg.svdvals": lambda x: functx.linalg.svdvals(x),
    "linalg.inv": lambda x: functx.linalg.inv(x @ x.T),
    "tap": lambda x: functx.taps.tap(x, "hidden"),
    "pure_callback": lambda x: jax.pure_callback(lambda x: x, x, x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name):
    with pytest.raises(
        RuntimeError, match=f"nested.vmap: `{name}` cannot be done along a ragged"
    ) as e:
        fn.vmap(REFUSED[name])(X)
    assert "test_nested_refusals.py" in str(e.value) and "unbind" in str(e.value)


def test_along_other_dimensions_nothing_is_refused():
    systems = Sequences(LENGTHS, 3, 3)
    for function in (
        lambda a: functx.linalg.solve(a, a + 1),
        lambda a: functx.linalg.eigvalsh(a + a.mT),
        lambda a: functx.linalg.det(a),
        lambda a: functx.linalg.lstsq(a, a).solution,
    ):
        assert_like_a_loop(function, systems, within=1e-9)
    matrix = jnp.asarray([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 3.0, 1.0]])
    right = Sequences(LENGTHS, 3)
    function = lambda a, b: functx.linalg.solve(a, b.T)
    assert_like_a_loop(function, right, weights=(matrix,), within=1e-9)
    got = fn.vmap(lambda x: functx.fft.fft(x, dim=1).real)(X)
    for mine, x in zip(got.unbind(), X.unbind(), strict=True):
        assert jnp.allclose(mine, functx.fft.fft(x, dim=1).real)


def test_choices_by_size():
    with pytest.raises(RuntimeError, match="choice that depends on a ragged size: .*'n' > '2'"):
        fn.vmap(lambda x: x if x.shape[0] > 2 else -x)(X)


def test_empty_sequences_that_the_function_refuses():
    x = fn.nested([jnp.ones(3), jnp.ones(0)])
    with pytest.raises(IndexError, match="amax: dimension 0 must not be empty"):
        fn.vmap(lambda x: functx.amax(x, 0))(x)


def test_sizes_without_a_common_name():
    with pytest.raises(TypeError, match="n, 4.*m, 4"):
        fn.vmap(lambda x, y: x + y)(X, Y)
    unnamed = fn.nested(X.unbind())
    with pytest.raises(TypeError, match="incompatible shapes"):
        fn.vmap(lambda x, y: x + y)(unnamed, unnamed)


def test_lengths_that_differ_under_one_name():
    other = Sequences((2, 2, 1), 4, name="n").batch
    with pytest.raises(ValueError, match="called 'n' must have the same lengths"):
        fn.vmap(lambda x, y: x.sum() + y.sum())(X, other)


def test_batches_are_mapped_along_their_first_dimension():
    with pytest.raises(ValueError, match="`in_dims` must be 0"):
        fn.vmap(lambda x, s: x * s, in_dims=(None, 0))(X, jnp.ones(3))
    with pytest.raises(IndexError, match="in_dims"):
        fn.vmap(lambda x: x, in_dims=1)(X)
    with pytest.raises(IndexError, match="out_dims"):
        fn.vmap(lambda x: x, out_dims=1)(X)


def _jacobian(transform, function=lambda x: x):
    return lambda: transform(fn.vmap(function))(X)


MISTAKES = [
    (_jacobian(functx.jacrev), TypeError, "there is no Jacobian of a Nested"),
    (_jacobian(functx.jacfwd, lambda x: x.sum()), TypeError, "no Jacobian of a Nested"),
    (lambda: functx.vjp(fn.vmap(lambda x: x), X)[1](Y), ValueError, "must have the lengths of"),
    (lambda: functx.vjp(fn.vmap(lambda x: x), X)[1](1.0), TypeError, "must hold a Nested"),
    (lambda: fn.nested([]), ValueError, "must be a list of arrays"),
    (lambda: fn.nested([jnp.ones(2), jnp.ones(2, int)]), TypeError, "one dtype"),
    (lambda: fn.nested([jnp.ones((2, 3)), jnp.ones((2, 4))]), ValueError, "at position 1"),
    (lambda: fn.nested([jnp.ones(2), jnp.ones((2, 4))]), ValueError, "at position 1"),
    (lambda: fn.nested([jnp.ones(2)], dim=1), IndexError, "rank 1"),
    (lambda: fn.nested([jnp.ones((2, 2))], dim=(0, 0)), ValueError, "twice"),
    (lambda: fn.nested([jnp.ones(2)], dim="n"), TypeError, "`dim` must be"),
    (lambda: fn.nested([jnp.ones(2)], name="2 n"), ValueError, "identifier"),
    (lambda: fn.nested([jnp.ones(2)], name="mod"), ValueError, "identifier"),
    (lambda: fn.nested([jnp.ones(2)], buckets="twos"), ValueError, '"powers"'),
    (lambda: fn.nested([jnp.ones(2)], buckets=4), TypeError, '"powers"'),
    (lambda: fn.nested([jnp.ones(9)], buckets=[4, 8]), ValueError, "longest sequence has 9"),
    (lambda: fn.from_padded(1.0, [1]), ValueError, "dimension of the batch"),
    (lambda: fn.from_padded(jnp.ones((2, 3)), [1]), ValueError, "one entry for each of 2"),
    (lambda: fn.from_padded(jnp.ones((2, 3)), [1.0, 2.0]), TypeError, "integers"),
    (lambda: fn.from_padded(jnp.ones((2, 3)), [1, 4]), ValueError, "from 0 to 3"),
    (lambda: fn.from_padded(jnp.ones((2, 3)), [1, 0], filled=True), ValueError, "is empty"),
    (lambda: functx.jit(lambda x: x.unbind())(X), RuntimeError, "lengths are being traced"),
    (lambda: fn.vmap(3), TypeError, "callable"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake):
    call, error, words = mistake
    with pytest.raises(error, match=words):
        call()


def test_an_operator_inside_of_a_loop_is_named():
    def function(x):
        return jax.lax.fori_loop(0, 2, lambda i, x: functx.fft.fft(x, dim=0).real, x)

    with pytest.raises(RuntimeError, match="`fft.fft` cannot be done"):
        fn.vmap(function)(X)


def test_a_refusal_inside_of_an_own_rule():
    @jax.custom_jvp
    def function(x):
        return x

    function.defjvp(lambda xs, dots: (xs[0], jnp.fft.fft(dots[0], axis=0).real))
    with pytest.raises(RuntimeError, match="`function`|`fft`"):
        functx.grad(lambda x: fn.vmap(lambda x: F.relu(function(x)).sum())(x).sum())(X)

"""One path for arguments: names, lists, annotations, numbers, and what values must satisfy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._core import operator, Requirement
from functx._core.operators import catalog
from functx._core.operators.roles import Fits, Role, RoleKind


F = functx.nn.functional
X = jnp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32")
FOURS = jnp.full(4, 4, "int32")
INDEX = jnp.asarray([0, 2])
KEY = jax.random.key(3)


@pytest.fixture
def declared(monkeypatch):
    """Declares operators that are forgotten after the test."""
    monkeypatch.setattr(catalog, "REGISTRY", dict(catalog.REGISTRY))
    monkeypatch.setattr(catalog, "OPERATORS", dict(catalog.OPERATORS))
    return lambda rule, **options: operator(**options)(rule)


def equal(a, b):
    return jax.tree.all(jax.tree.map(lambda x, y: (x == y).all() and x.dtype == y.dtype, a, b))


@pytest.mark.parametrize(
    "given, declared_names",
    [
        (lambda: functx.sum(X, axis=1, keepdims=True), lambda: functx.sum(X, dim=1, keepdim=True)),
        (lambda: functx.sum(x=X), lambda: functx.sum(X)),
        (lambda: functx.add(x1=X, x2=X), lambda: functx.add(X, X)),
        (lambda: functx.cat([X, X], axis=1), lambda: functx.cat([X, X], dim=1)),
        (
            lambda: functx.transpose(X, axis0=0, axis1=1),
            lambda: functx.transpose(X, dim0=0, dim1=1),
        ),
        (
            lambda: functx.scatter(X, 1, INDEX[None], value=0.5),
            lambda: functx.scatter(X, 1, INDEX[None], src=0.5),
        ),
        (
            lambda: functx.tensor_split(X, sections=2, axis=1),
            lambda: functx.tensor_split(X, 2, dim=1),
        ),
        (
            lambda: functx.searchsorted(X[0], self=2.5),
            lambda: functx.searchsorted(X[0], input=2.5),
        ),
    ],
)
def test_other_names_of_a_parameter(given, declared_names):
    assert equal(given(), declared_names())


def test_a_parameter_under_two_names_is_refused():
    with pytest.raises(TypeError, match=r"^sum: `dim` is given twice, once as `axis`"):
        functx.sum(X, dim=1, axis=1)
    with pytest.raises(TypeError, match=r"^sum: "):
        functx.sum(X, 1, axis=1)


@pytest.mark.parametrize(
    "listed, frozen",
    [
        (lambda: functx.sum(X, [0, 1]), lambda: functx.sum(X, (0, 1))),
        (lambda: functx.sum(X, dim=[0]), lambda: functx.sum(X, dim=(0,))),
        (lambda: functx.sum(X, np.asarray([0, 1])), lambda: functx.sum(X, (0, 1))),
        (lambda: functx.sum(X, jnp.asarray(1)), lambda: functx.sum(X, 1)),
        (lambda: functx.sum(X, [np.int64(0)]), lambda: functx.sum(X, (0,))),
        (lambda: functx.reshape(X, [3, 2]), lambda: functx.reshape(X, (3, 2))),
        (lambda: functx.split(X, [1, 2], 1), lambda: functx.split(X, (1, 2), 1)),
        (lambda: functx.tensor_split(X, [1], 1), lambda: functx.tensor_split(X, (1,), 1)),
        (
            lambda: functx.tensordot(X, X, ([0], [0])),
            lambda: functx.tensordot(X, X, ((0,), (0,))),
        ),
        (
            lambda: functx.tensordot(X, X, [[0], [0]]),
            lambda: functx.tensordot(X, X, ((0,), (0,))),
        ),
    ],
)
def test_lists_and_arrays_of_static_integers(listed, frozen):
    assert equal(listed(), frozen())


def test_annotations_become_roles():
    roles = functx.add.spec.roles
    assert roles["input"] == Role(RoleKind.ARRAY)
    assert roles["alpha"] == Role(RoleKind.SCALAR, fits=Fits.ARRAYS, bool_counts=False)
    assert functx.nn.functional.layer_norm.spec.roles["eps"] == Role(RoleKind.SCALAR)
    assert functx.cat.spec.roles["tensors"] == Role(RoleKind.ARRAY, several=True)
    assert functx.argmax.spec.roles["dim"] == Role(RoleKind.DIM, optional=True)
    assert functx.div.spec.roles["rounding_mode"] == Role(RoleKind.OPTION, optional=True)
    assert not functx.maximum.spec.roles["input"].takes_number


@pytest.mark.parametrize(
    "annotation, hint",
    [
        ("Arraylike", "did you mean 'ArrayLike' or "),
        ("Scaler | None", "did you mean 'Scalar' or "),
        ("ArrayLike | int", "ArrayLike stands alone, or beside None"),
        ("object", "there are ArrayLike, ArrayOrUnroundedNumber"),
    ],
)
def test_unknown_annotation_is_refused_where_it_is_declared(declared, annotation, hint):
    def unheard_of(input):
        return input

    unheard_of.__annotations__ = {"input": annotation}
    expected = r"^unheard_of: `input` must be annotated with a role"
    with pytest.raises(TypeError, match=expected) as error:
        declared(unheard_of)
    assert hint in str(error.value)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: functx.maximum(2, X), r"^maximum: `input` must be an array, got 2"),
        (lambda: functx.eq(2.0, X), r"^eq: `input` must be an array, got 2\.0"),
        (lambda: functx.pow(2, 3), r"^pow: `input` or `exponent` must be an array, got 2 and 3"),
        (lambda: functx.lerp(X, X, 1j), r"^lerp: `weight` must be real beside f32\[2,3\]"),
    ],
)
def test_number_in_place_of_an_array_is_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_a_0d_array_is_an_array():
    assert functx.maximum(jnp.asarray(2.0), X)[0].tolist() == [2, 2, 3]


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: functx.index_select(x, 1, i),
        lambda x, i: functx.gather(x, 1, i[None]),
        lambda x, i: functx.masked_fill(x, x > 2, 0.5),
        lambda x, i: functx.floor_divide(i, 2),
        lambda x, i: F.one_hot(i, 3),
        lambda x, i: functx.index_put(x, (i[:1],), x[0]),
        lambda x, i: F.dropout(x, 0.5, key=KEY),
    ],
)
def test_nothing_of_a_requirement_stays_in_a_users_program(call):
    (call_of_operator,) = jax.make_jaxpr(call)(X, INDEX).eqns[-1:]
    assert call_of_operator.primitive.name == "jit" and len(call_of_operator.outvars) == 1
    text = str(jax.make_jaxpr(call)(X, INDEX))
    assert "peek" not in text and "reduce_and" not in text


def test_constants_of_a_program_are_judged_while_it_is_recorded():
    with pytest.raises(IndexError, match=r"^select: `index` must lie in \[-2, 1\], got 7"):
        jax.jit(lambda x: functx.select(x, 0, 7))(X)
    with pytest.raises(ValueError, match=r"dropout: `p` must lie in \[0, 1\], got 1\.5"):
        jax.jit(lambda x: F.dropout(x, 1.5, key=KEY))(X)
    with pytest.raises(RuntimeError, match=r"add: `alpha` must fit int8, got 300"):
        jax.jit(lambda x: functx.add(x, x, alpha=300))(jnp.ones(2, "int8"))
    # What depends on an argument as well is for `checked`.
    jax.jit(lambda x: functx.multinomial(x, 2, key=KEY))(-X)
    jax.jit(lambda x: functx.floor_divide(7, x))(INDEX)


BROKEN = [
    (lambda x: functx.index_select(X, 1, x), jnp.asarray([3]), IndexError, r"\[0, 2\], got 3"),
    (lambda x: functx.floor_divide(FOURS, x), FOURS * 0, RuntimeError, "must not hold zeros"),
    (lambda x: functx.remainder(FOURS, x), FOURS - 4, RuntimeError, "must not hold zeros"),
    (
        lambda x: functx.div(FOURS, x, rounding_mode="trunc"),
        FOURS * 0,
        RuntimeError,
        "must not hold zeros",
    ),
    (lambda p: F.dropout(X, p, key=KEY), jnp.asarray(2.0), ValueError, r"in \[0, 1\], got 2\.0"),
    (
        lambda value: functx.masked_fill(jnp.ones(2, "int8"), jnp.ones(2, bool), value),
        jnp.asarray(300),
        RuntimeError,
        "`value` must fit int8, got 300",
    ),
    (
        lambda value: functx.add(jnp.ones(2, "int8"), jnp.ones(2, "int8"), alpha=value),
        jnp.asarray(300),
        RuntimeError,
        "`alpha` must fit int8, got 300",
    ),
    (
        lambda mask: functx.index_put(X, (mask,), jnp.ones((2, 3), "float32")),
        jnp.asarray([True, False]),
        RuntimeError,
        r"`values` must have 1 or 1 entries for the mask",
    ),
]


@pytest.mark.parametrize("call, bad, error, message", BROKEN)
def test_values_are_refused_eagerly_under_transforms_and_by_checked(call, bad, error, message):
    lanes = functx.vmap(call)
    first_good = jnp.stack([jnp.ones_like(bad), bad])
    for refused in (
        lambda: call(bad),
        lambda: functx.debug.checked(jax.jit(call))(bad),
        lambda: functx.debug.checked(call)(bad),
        lambda: lanes(first_good),
    ):
        with pytest.raises(error, match=message):
            refused()
    jax.block_until_ready(jax.jit(call)(bad))  # a program alone has no values to judge


def test_values_are_refused_under_eager_grad():
    loss = lambda x: functx.sum(functx.index_select(x, 1, jnp.asarray([5])))
    with pytest.raises(IndexError, match=r"got 5"):
        functx.grad(loss)(X)


def test_checked_raises_what_the_requirement_names(declared):
    def picky(input: ArrayLike) -> jax.Array:  # noqa: F821
        return input

    def small(*, input):
        yield Requirement(input < 100, "`input` must be small, got {got}", input, OverflowError)

    op = declared(picky, requires=small)
    for call in (op, functx.debug.checked(jax.jit(op))):
        assert call(jnp.arange(3)).tolist() == [0, 1, 2]
        with pytest.raises(OverflowError, match=r"picky: `input` must be small, got 200"):
            call(jnp.asarray([7, 200]))


@pytest.mark.parametrize(
    "bad",
    [
        lambda: functx.randint(5, 3, (2,)),
        lambda: functx.randn(2, dtype="int32"),
        lambda: functx.normal(0.0, -jnp.ones(2)),
        lambda: functx.bernoulli(jnp.asarray([2.0])),
        lambda: functx.multinomial(jnp.zeros(3), 2),
        lambda: F.dropout(X, 1.5),
        lambda: F.dropout(jnp.arange(3)),
    ],
)
def test_refused_draw_leaves_the_generator(bad):
    with functx.random.scope(KEY) as generator:
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            bad()
        assert generator.counter == 0
        functx.rand(2)
        assert generator.counter == 1


OPTIONS = {
    "dropout p": lambda v: F.dropout(X, v, key=KEY),
    "layer_norm eps": lambda v: F.layer_norm(X, (3,), eps=v),
    "smooth_l1_loss beta": lambda v: F.smooth_l1_loss(X, 2 * X, beta=v),
    "cross_entropy label_smoothing": lambda v: F.cross_entropy(X, INDEX, label_smoothing=v),
    "attention dropout_p": lambda v: F.scaled_dot_product_attention(
        X, X, X, dropout_p=v, rng_key=KEY
    ),
    "attention scale": lambda v: F.scaled_dot_product_attention(X, X, X, scale=v),
    "normalize eps": lambda v: F.normalize(X, eps=v),
    "pad value": lambda v: F.pad(X, (1, 1), value=v),
    "nan_to_num nan": lambda v: functx.nan_to_num(X, nan=v),
    "var correction": lambda v: functx.var(X, 1, correction=v),
    "batch_norm momentum": lambda v: F.batch_norm_with_stats(
        X, X[0], X[0], training=True, momentum=v
    ),
    "embedding max_norm": lambda v: F.embedding(INDEX, X.T, max_norm=v),
}


@pytest.fixture
def compilations():
    """What JAX compiles during the test, one entry each."""
    seen, active = [], True

    def record(event, duration, **details):
        if active and event == "/jax/core/compile/backend_compile_duration":
            seen.append(details)

    jax.monitoring.register_event_duration_secs_listener(record)
    yield seen
    active = False


@pytest.mark.parametrize("name", OPTIONS)
def test_twenty_values_of_a_number_are_one_program(name, compilations):
    call = OPTIONS[name]
    jax.block_until_ready(call(0.01))
    compilations.clear()
    for i in range(1, 20):
        jax.block_until_ready(call(i / 20))
    assert compilations == []
    jax.block_until_ready(jax.jit(lambda x: x + 1)(1.0))
    assert len(compilations) == 1, "compilations are counted"


def test_number_has_the_value_and_the_dtype_of_one_written_by_hand():
    half = X.astype("float16")
    assert F.layer_norm(half, (3,), eps=0.1).dtype == "float16"
    for eps in (0.1, np.float64(0.1), jnp.asarray(0.1, "float32")):
        assert (F.layer_norm(X, (3,), eps=eps) == F.layer_norm(X, (3,), eps=0.1)).all()


@pytest.mark.parametrize("p, want", [(0.0, X), (1.0, 0 * X)])
def test_dropout_of_nothing_and_of_all(p, want):
    with functx.random.scope(KEY) as generator:
        assert (F.dropout(X, p) == want).all()
        assert generator.counter == 0, "nothing is drawn where nothing is random"
    jitted = jax.jit(lambda p: F.dropout(X, p, key=KEY))
    assert (jitted(p) == want).all()


def test_options_at_zero_are_the_plain_loss():
    infinite = jnp.asarray([[0.0, -jnp.inf, 1.0]], "float32")
    target = jnp.asarray([2])
    plain = F.cross_entropy(infinite, target)
    assert F.cross_entropy(infinite, target, label_smoothing=0.0) == plain
    at_zero = lambda x: F.smooth_l1_loss(x, jnp.zeros(3, "float32"), reduction="sum", beta=0.0)
    x = jnp.asarray([-2.0, 0.0, 3.0], "float32")
    assert at_zero(x) == 5
    assert functx.grad(at_zero)(x).tolist() == [-1, 0, 1]


def test_an_error_of_the_callers_function_passes_with_a_note():
    def between(x, y):
        try:
            return {}[0]
        except KeyError:
            return len(0)

    x = jnp.zeros((2, 3))
    with pytest.raises(TypeError, match="^object of type 'int' has no len") as raised:
        functx.nn.functional.triplet_margin_with_distance_loss(x, x, x, distance_function=between)
    [note] = raised.value.__notes__
    assert "triplet_margin_with_distance_loss: the function `distance_function` raised" in note
    assert isinstance(raised.value.__context__, KeyError)
    assert not raised.value.__suppress_context__

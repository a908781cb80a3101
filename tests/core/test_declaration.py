"""What `@operator` makes of a declaration."""

from __future__ import annotations

import ast
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import write_facades

import functx
from functx._core import Accepts, ArrayLike, operator, OPERATORS, REGISTRY


X = jnp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32")


def refused(call):
    with pytest.raises((TypeError, ValueError, IndexError, RuntimeError, OverflowError)) as error:
        call()
    return type(error.value), str(error.value)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: functx.add(X, jnp.ones(4, "float32")),
            RuntimeError,
            "add: shapes do not fit: f32[2,3], f32[4]",
        ),
        (lambda: functx.add(X), TypeError, "add: missing a required argument: 'other'"),
        (lambda: functx.add(X, "a"), TypeError, "add: `other` must be an array, got 'a'"),
        (lambda: functx.add(X, None), TypeError, "add: `other` must be an array, got None"),
        (lambda: functx.add([1, 2], X), TypeError, "add: `input` must be an array"),
        (lambda: functx.add(X, 2**70), OverflowError, "add: `other` must fit int64"),
        (
            lambda: functx.add(jnp.arange(3), 1, alpha=0.5),
            TypeError,
            "add: `alpha` must not be floating for int64 arrays",
        ),
        (lambda: functx.sum(X, 2), IndexError, "sum: `dim` must lie in [-2, 1], got 2"),
        (lambda: functx.sum(X, (0, 0)), RuntimeError, "sum: `dim` names a dimension twice: (0, 0)"),
        (lambda: functx.sum(X, 0.5), TypeError, "sum: `dim` must be an int, got 0.5"),
        (lambda: functx.sum(X, dtype="float33"), TypeError, "sum: `dtype` must be a dtype"),
        (
            lambda: functx.sum(X, dtype=jax.random.key(0).dtype),
            TypeError,
            "sum: `dtype` must be a dtype, got key<fry>",
        ),
        (
            lambda: functx.normal(jax.random.key(0), 1.0, 2),
            TypeError,
            "normal: `mean` must be an array of numbers, got key<fry>[]",
        ),
        (lambda: functx.tril(X, 0.5), TypeError, "tril: `diagonal` must be an int, got 0.5"),
        (
            lambda: functx.split(X, (0.5, 1.5)),
            TypeError,
            "split: `split_size_or_sections` must be an int or a sequence of ints, got (0.5, 1.5)",
        ),
        (
            lambda: functx.permute(X, None),
            TypeError,
            "permute: `dims` must be an int or a sequence of ints, got None",
        ),
        (lambda: functx.cat(X), TypeError, "cat: `tensors` must be a sequence of arrays"),
        (
            lambda: functx.nn.functional.gelu(jnp.arange(3)),
            TypeError,
            "nn.functional.gelu: expected floating arrays, got i64[3]",
        ),
    ],
)
def test_refusal_names_operator_argument_and_what_came(call, error, message):
    kind, text = refused(call)
    assert issubclass(kind, error)
    assert text.startswith(message)


@pytest.mark.parametrize(
    "name", ["out", "requires_grad", "layout", "memory_format", "pin_memory", "generator"]
)
def test_argument_of_pytorch_that_has_no_meaning_here_gets_a_remedy(name):
    kind, text = refused(lambda: functx.zeros(2, **{name: True}))
    assert kind is TypeError
    assert f"zeros: `{name}` does not exist here\n  hint: " in text


def test_tracer_as_static_argument_gets_a_remedy():
    _, text = refused(lambda: jax.jit(lambda d: functx.sum(X, d))(0))
    assert text.startswith("sum: `dim` must be known while tracing, got i64[]")
    assert "static_argnames='dim'" in text


def test_refusals_are_the_same_under_transforms():
    bad = lambda x: functx.sum(functx.add(x, jnp.ones(4, "float32")))
    plain = refused(lambda: bad(X))
    assert refused(lambda: jax.jit(bad)(X)) == plain
    assert refused(lambda: functx.grad(bad)(X)) == plain
    assert refused(lambda: functx.vmap(lambda x: functx.sum(x, 2))(X))[0] is IndexError


def test_lists_numpy_integers_and_arrays_are_taken_where_ints_are():
    want = functx.sum(X, (0, 1))
    assert functx.sum(X, [0, 1]) == want
    assert functx.sum(X, [np.int64(0), np.int32(1)]) == want
    assert (functx.sum(X, np.int64(0)) == functx.sum(X, 0)).all()
    assert (functx.sum(X, jnp.asarray(0)) == functx.sum(X, 0)).all()
    assert functx.arange(jnp.asarray(3)).tolist() == [0, 1, 2]
    assert functx.arange(jnp.asarray(3.0)).dtype == "float32"


def test_numpy_names_of_dim_and_keepdim_are_taken():
    assert functx.sum(X, axis=1, keepdims=True).shape == (2, 1)
    assert refused(lambda: functx.sum(X, axis=2)) == refused(lambda: functx.sum(X, dim=2))


def test_results_are_never_weakly_typed():
    assert not functx.add(jnp.asarray(2.0), 3.0).weak_type
    assert not functx.add(2.0, 3.0).weak_type


def test_operator_is_one_named_call_in_what_jax_traces():
    jaxpr = jax.make_jaxpr(lambda x: functx.nn.functional.softmax(functx.sin(x), 1))(X)
    assert [eqn.params["name"] for eqn in jaxpr.eqns] == ["sin", "nn.functional.softmax"]


def test_named_calls_cost_nothing_in_the_compiled_program():
    f = lambda x: functx.exp(functx.mul(functx.add(x, 1.0), 2.0))
    g = lambda x: jnp.exp((x + 1.0) * 2.0)
    size = lambda f: jax.jit(f).lower(X).compile().as_text().count(" = ")
    assert size(f) == size(g)


def test_operators_pickle_and_show_their_names():
    assert pickle.loads(pickle.dumps(functx.linalg.svd)) is functx.linalg.svd
    assert functx.sum.__name__ == "sum"
    assert "Sum" in functx.sum.__doc__


@pytest.fixture
def fresh_registry():
    """Declarations of a test are forgotten after it."""
    kept = dict(REGISTRY), dict(OPERATORS)
    yield
    for registry, operators in zip((REGISTRY, OPERATORS), kept, strict=True):
        registry.clear()
        registry.update(operators)


def declared(folder, **names):
    """An operator of some file of a folder."""

    def halved(input: ArrayLike) -> jax.Array:
        """Half of each element."""
        return 0.5 * input

    halved.__module__ = f"functx._ops.{folder}.halving"
    return operator(accepts=Accepts.FLOATING, **names)(halved)


@pytest.mark.parametrize(
    "folder, names, path",
    [
        ("pointwise", {}, "halved"),
        ("linalg", {}, "linalg.halved"),
        ("nn.pooling", {}, "nn.functional.halved"),
        ("linalg", {"name": "half_of"}, "half_of"),
        ("pointwise", {"name": "special.half_of"}, "special.half_of"),
    ],
)
def test_name_is_that_of_the_folder_unless_declared(fresh_registry, folder, names, path):
    half = declared(folder, **names)
    assert REGISTRY[path].rule.__name__ == "halved" and OPERATORS[path] is half
    assert half.__name__ == path.rpartition(".")[2]
    assert [eqn.params["name"] for eqn in jax.make_jaxpr(half)(X).eqns] == [path]
    assert refused(lambda: half(jnp.arange(3)))[1].startswith(f"{path}: expected floating arrays")


def names_bound(text):
    """What a module of imports and assignments defines."""
    nodes = list(ast.walk(ast.parse(text)))
    imported = {n.asname or n.name for n in nodes if isinstance(n, ast.alias)}
    return imported | {
        n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def test_one_operator_is_shown_in_every_namespace_that_names_it(fresh_registry):
    declared("linalg", name="linalg.half_of", aliases=("halved", "special.half", "special.halves"))
    shown = {path.stem: names_bound(text) for path, text in write_facades.current().items()}
    assert "halved" in shown["__init__"]
    assert "half_of" in shown["linalg"] and "halved" not in shown["linalg"]
    assert {"half", "halves"} <= shown["special"]


@pytest.mark.parametrize("names", [{"name": "lineal.halved"}, {"aliases": ("nn.halved",)}])
def test_name_in_no_namespace_is_refused_where_it_is_declared(fresh_registry, names):
    with pytest.raises(AssertionError, match="no namespace"):
        declared("pointwise", **names)


def test_device_is_where_the_result_lives():
    out = functx.zeros(2, device="cpu")
    assert {d.platform for d in out.devices()} == {"cpu"}
    assert functx.zeros(2, device=jax.devices("cpu")[0]).devices() == out.devices()
    assert refused(lambda: functx.zeros(2, device="abacus"))[0] is ValueError
    assert "is not there; JAX has" in refused(lambda: functx.zeros(2, device="cpu:99"))[1]


def test_sizes_that_depend_on_values():
    x = jnp.asarray([1.0, 0.0, 2.0], "float32")
    assert functx.nonzero(x).tolist() == [[0], [2]]
    assert jax.jit(lambda x: functx.nonzero(x, size=2))(x).tolist() == [[0], [2]]
    _, text = refused(lambda: jax.jit(functx.nonzero)(x))
    assert text.startswith("nonzero: the shape of the output depends on values")
    assert "pass `size=`" in text


def test_sizes_that_depend_on_values_under_eager_transforms():
    x = jnp.asarray([[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]], "float32")
    mask = x > 0
    picked = functx.vmap(functx.masked_select)(x, mask)
    assert picked.tolist() == [[1, 2], [3, 4]]
    gradient = functx.grad(lambda x: functx.sum(functx.masked_select(x, mask) ** 2))(x)
    assert (gradient == jnp.where(mask, 2 * x, 0)).all()
    kind, text = refused(lambda: functx.vmap(functx.masked_select)(x, x > 1))
    assert "the lanes of `vmap` differ in size: size=[1, 2]" in text


def test_positions_that_decide_sizes_may_be_arrays():
    x, at = jnp.arange(5.0, dtype="float32"), jnp.asarray([1, 3])
    assert [y.tolist() for y in functx.tensor_split(x, at)] == [[0], [1, 2], [3, 4]]
    gradient = functx.grad(lambda x: functx.tensor_split(x, at)[1].sum())(x)
    assert gradient.tolist() == [0, 1, 1, 0, 0]
    pieces = functx.vmap(functx.tensor_split)(jnp.stack([x, x]), jnp.stack([at, at]))
    assert [y.shape for y in pieces] == [(2, 1), (2, 2), (2, 2)]
    _, text = refused(lambda: jax.jit(functx.tensor_split)(x, at))
    assert text.startswith("tensor_split: the shapes of the outputs depend")
    lanes = jnp.asarray([[1], [2]])
    _, text = refused(lambda: functx.vmap(lambda i: functx.tensor_split(x, i))(lanes))
    assert text.startswith("tensor_split: the lanes of `vmap` differ")


def test_index_out_of_range():
    x, index = jnp.ones(3, "float32"), jnp.asarray([5])
    look_up = lambda i: functx.index_select(x, 0, i)
    assert refused(lambda: look_up(index))[0] is IndexError
    assert refused(lambda: functx.vmap(look_up)(index[None]))[0] is IndexError
    assert jnp.isnan(jax.jit(look_up)(index)).all()
    checked = functx.debug.checked(jax.jit(look_up))
    assert refused(lambda: checked(index)) == refused(lambda: look_up(index))
    assert (functx.debug.checked(jax.jit(look_up))(index - 5) == 1).all()


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_a_narrow_index_is_held_against_sizes_that_it_cannot_hold(dtype):
    x, index = jnp.arange(200), jnp.asarray(100, dtype)
    assert functx.select(x, 0, index) == 100
    assert functx.select(x[:101], 0, index) == 100
    with pytest.raises(IndexError, match="got 100"):
        functx.select(x[:100], 0, index)

"""`stack_trees`, `unstack_tree`, `functional_call`."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = jnp.asarray([1.0, 2.0, 3.0])


def same(got, want):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(np.testing.assert_array_equal, got, want)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Linear:
    weight: jax.Array
    bias: jax.Array

    def __call__(self, x, scale=1.0):
        return (self.weight @ x + self.bias) * scale


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Network:
    layers: list
    name: str = dataclasses.field(default="net", metadata={"static": True})

    def __call__(self, x):
        for layer in self.layers:
            x = jnp.tanh(layer(x))
        return x


def network(seed):
    keys = jax.random.split(jax.random.key(seed), 2)
    return Network([Linear(jax.random.normal(key, (3, 3)), jnp.zeros(3)) for key in keys])


def test_stacked_leaves_have_a_new_first_dimension():
    trees = [{"w": X, "n": jnp.asarray(1)}, {"w": 2 * X, "n": jnp.asarray(2)}]
    stacked = functx.stack_trees(trees)
    same(stacked, {"w": jnp.stack([X, 2 * X]), "n": jnp.asarray([1, 2])})
    for got, want in zip(functx.unstack_tree(stacked), trees, strict=True):
        same(got, want)


def test_an_ensemble_in_one_vmap():
    models = [network(seed) for seed in range(3)]
    got = functx.vmap(lambda model, x: model(x), in_dims=(0, None))(functx.stack_trees(models), X)
    np.testing.assert_allclose(got, jnp.stack([model(X) for model in models]))


@dataclasses.dataclass
class Unregistered:
    w: jax.Array


class Plain:
    def __init__(self):
        self.w = X


@pytest.mark.parametrize(
    "trees, error, message",
    [
        ([], ValueError, "`trees` must not be empty"),
        ({"w": X}, TypeError, "`trees` must be a list or tuple of trees"),
        ([{"w": X}, {"v": X}], ValueError, r"`trees\[1\]` must have the structure .*got \{'v': \*"),
        (
            [{"w": X}, {"w": X[:2]}],
            ValueError,
            r"`trees\[1\]\['w'\]` .*f64\[3\], got f64\[2",
        ),
        ([{"w": X}, {"w": X.astype("float32")}], TypeError, r"`trees\[1\]\['w'\]` .*got f32\[3\]"),
        ([{"w": X, "s": "a"}] * 2, TypeError, r"`trees\[0\]\['s'\]` must be an array, got 'a'"),
        (
            [Unregistered(X), Unregistered(X)],
            TypeError,
            r"`trees\[0\]` must be an array or a pytree of arrays, got .*Unregistered\n  hint: "
            r"jax.tree_util.register_dataclass\(Unregistered\) makes it a pytree",
        ),
        (
            [{"m": Plain()}] * 2,
            TypeError,
            r"`trees\[0\]\['m'\]` must be an array or a pytree .*Plain\n  hint: a dataclass that "
            "jax.tree_util.register_dataclass registers would be one",
        ),
        ([lambda x: x] * 2, TypeError, r"`trees\[0\]` must be an array, got function$"),
    ],
)
def test_stack_refusals(trees, error, message):
    with pytest.raises(error, match="^stack_trees: .*" + message):
        functx.stack_trees(trees)


@pytest.mark.parametrize(
    "tree, error, message",
    [
        ({}, ValueError, "`tree` must hold at least one array"),
        ({"a": X, "b": X[:2]}, ValueError, r"`tree\['a'\]` has 3 and `tree\['b'\]`, .* has 2"),
        ({"a": X[0]}, ValueError, r"`tree\['a'\]` must have a first dimension, got f64\[\]"),
        ({"a": "x"}, TypeError, r"`tree\['a'\]` must be an array, got 'x'"),
    ],
)
def test_unstack_refusals(tree, error, message):
    with pytest.raises(error, match="^unstack_tree: .*" + message):
        functx.unstack_tree(tree)


def test_functional_call_of_a_plain_function():
    f = lambda p, x, y=0.0: p["w"] * x + y
    same(functx.functional_call(f, {"w": 2.0}, X), 2 * X)
    same(functx.functional_call(f, {"w": 2.0}, (X, X)), 3 * X)
    same(functx.functional_call(f, {"w": 2.0}, (X,), {"y": X}), 3 * X)
    same(functx.functional_call(lambda p: p["a"] + p["b"], ({"a": X}, {"b": X})), 2 * X)


def test_functional_call_replaces_named_leaves():
    model = network(0)
    new = {"layers.0.weight": jnp.eye(3), "layers.1.bias": X}
    got = functx.functional_call(model, new, X)
    want = Network([Linear(jnp.eye(3), jnp.zeros(3)), Linear(model.layers[1].weight, X)])(X)
    same(got, want)
    same(
        functx.functional_call(model, ({"layers.0.weight": jnp.eye(3)}, {"layers.1.bias": X}), X),
        want,
    )
    assert (model.layers[0].bias == 0).all()


def test_functional_call_with_a_tree_of_the_models_structure():
    same(functx.functional_call(network(0), network(1), X), network(1)(X))


def test_gradients_by_functional_call():
    model = Linear(jnp.eye(3), jnp.zeros(3))
    loss = lambda p: functx.functional_call(model, p, X, {"scale": 2.0}).sum()
    same(functx.grad(loss)({"bias": jnp.zeros(3)}), {"bias": jnp.full(3, 2.0)})


@pytest.mark.parametrize(
    "parameters, options, error, message",
    [
        ({"layers.0.wieght": X}, {}, ValueError, r"no leaf named 'layers.0.wieght'(.|\n)*did you "
         r"mean 'layers.0.weight'"),
        (({"layers.0.bias": X}, {"layers.0.bias": X}), {}, ValueError, "'layers.0.bias' is in sev"),
        ({"layers.0.bias": X}, {"strict": True}, ValueError, "lacks 'layers.0.weight', 'layers.1"),
        (X, {}, TypeError, "`parameter_and_buffer_dicts` must be a dict from names to arrays"),
    ],
)  # fmt: skip
def test_functional_call_refusals(parameters, options, error, message):
    with pytest.raises(error, match="^functional_call: .*" + message):
        functx.functional_call(network(0), parameters, X, **options)


def test_functional_call_takes_torchs_names():
    model = Linear(jnp.eye(3), jnp.zeros(3))
    got = functx.functional_call(
        module=model,
        parameter_and_buffer_dicts=({"weight": 2 * jnp.eye(3)}, {"bias": X}),
        args=(X,),
        kwargs=None,
        tie_weights=True,
        strict=True,
    )
    same(got, 3 * X)


def test_functional_call_replaces_tied_leaves_together():
    shared = jnp.eye(3)
    model = Network([Linear(shared, jnp.zeros(3)), Linear(shared, jnp.zeros(3))])
    both, one = (
        functx.functional_call(model, {"layers.0.weight": 2 * shared}, X, tie_weights=tied)
        for tied in (True, False)
    )
    same(both, Network([Linear(2 * shared, X * 0), Linear(2 * shared, X * 0)])(X))
    same(one, Network([Linear(2 * shared, X * 0), Linear(shared, X * 0)])(X))
    other = {"layers.0.weight": shared, "layers.1.weight": 2 * shared}
    with pytest.raises(ValueError, match="'layers.0.weight' and 'layers.1.weight' are tied"):
        functx.functional_call(model, other, X)
    functx.functional_call(model, other, X, tie_weights=False)


def test_functional_call_refuses_objects_that_jax_does_not_look_into():
    class Opaque:
        def __init__(self):
            self.weight = X

        def __call__(self, x):
            return x * self.weight

    with pytest.raises(
        TypeError, match="functional_call: `module` must be a pytree(.|\n)*register"
    ):
        functx.functional_call(Opaque(), {"weight": X}, X)


@pytest.mark.parametrize(
    "name, said",
    [
        ("wieght", r"no array named 'wieght'\n.*did you mean 'weight'\?"),
        ("inner.bais", r"no array named 'inner.bais'\n.*did you mean 'inner.bias'\?"),
        ("zzz", r"no array named 'zzz'\n.*its arrays are inner.bias, weight"),
        ("weight", "does not look into\n"),
    ],
)
@pytest.mark.parametrize("decorate", [lambda cls: cls, dataclasses.dataclass])
def test_functional_call_names_what_such_an_object_lacks(name, said, decorate):
    @decorate
    class Opaque:
        weight: jax.Array
        inner: dict

        def __call__(self, x):
            return x * self.weight + self.inner["bias"]

    model = Opaque.__new__(Opaque)
    model.weight, model.inner = X, {"bias": X, "count": 3}
    with pytest.raises(TypeError, match=f"^functional_call: `module` must.* type Opaque.*{said}"):
        functx.functional_call(model, {name: X}, X)


def test_functional_call_takes_objects_that_are_functions_of_parameters():
    class Apply:
        def __call__(self, parameters, x):
            return parameters["w"] * x

    same(functx.functional_call(Apply(), {"w": 2.0}, X), 2 * X)
    same(functx.functional_call(jax.jit(Apply()), {"w": 2.0}, X), 2 * X)
    with_constant = Apply()
    with_constant.shift = X
    same(functx.functional_call(with_constant, {"w": 2.0}, X), 2 * X)

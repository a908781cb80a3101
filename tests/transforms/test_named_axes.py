"""`vmap`: axes with names, which collectives cross, and lanes without arguments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import functx
from functx.testing.checks.programs import compiled


X = jnp.linspace(-1, 2, 12).reshape(4, 3)
W = jnp.linspace(1, 2, 5)

COLLECTIVES = {
    "psum": lambda x: x / lax.psum(jnp.exp(x), "i"),
    "pmean": lambda x: x - lax.pmean(x, "i"),
    "pmax": lambda x: x - lax.pmax(lax.stop_gradient(x), "i"),
    "all_gather": lambda x: lax.all_gather(x, "i") @ x,
    "ppermute": lambda x: lax.ppermute(x, "i", [(i, (i + 1) % 4) for i in range(4)]) * x,
    "psum_scatter": lambda x: lax.psum_scatter(jnp.outer(jnp.arange(4.0), x), "i") ** 2,
    "axis_index": lambda x: x * lax.axis_index("i").astype(x.dtype),
    "of a constant": lambda x: x * lax.psum(1, "i") + lax.axis_size("i"),
    "of what is not mapped": lambda x: x * lax.psum(jnp.ones(3), "i"),
    "in jit": jax.jit(lambda x: functx.sin(x) * lax.psum(x, "i")),
    "in cond": lambda x: lax.cond(True, lambda x: lax.psum(x, "i"), lambda x: x, x) * x,
    "in scan": lambda x: lax.scan(lambda c, y: (c + lax.psum(y, "i"), c), 0.0, x)[1] * x,
    "in checkpoint": functx.checkpoint(lambda x: functx.exp(lax.pmean(x, "i"))),
    "in an inner map": lambda x: functx.vmap(lambda y: lax.psum(y * W, "i").prod())(x),
}
TRANSFORMS = {
    "itself": lambda vmap, f: vmap(f),
    "vmap of grad": lambda vmap, f: vmap(functx.grad(lambda x: (f(x) ** 2).sum())),
    "vmap of jacfwd": lambda vmap, f: vmap(functx.jacfwd(f)),
    "vmap of jvp": lambda vmap, f: vmap(lambda x: functx.jvp(f, (x,), (jnp.cos(x),))[1]),
    "vmap of hvp": lambda vmap, f: vmap(lambda x: functx.hvp(lambda x: f(x).prod(), x, X[0])[1]),
    "grad": lambda vmap, f: functx.grad(lambda x: (vmap(f)(x) ** 2).sum()),
    "jvp": lambda vmap, f: lambda x: functx.jvp(vmap(f), (x,), (jnp.cos(x),))[1],
    "hvp": lambda vmap, f: lambda x: functx.hvp(lambda x: (vmap(f)(x) ** 2).sum(), x, x)[1],
}


def named(f):
    return functx.vmap(f, axis_name="i")


def jax_named(f):
    return jax.vmap(f, axis_name="i")


def close(got, want, rtol=1e-12):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-14), got, want)


WHOLLY = ("psum", "all_gather", "in scan")  # in all transforms, the others in three


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives_cross_lanes_as_in_a_map_of_jax(name):
    f = COLLECTIVES[name]
    transforms = TRANSFORMS if name in WHOLLY else ("itself", "vmap of grad", "hvp")

    @compiled
    def by_both(x):
        return {t: [TRANSFORMS[t](vmap, f)(x) for vmap in (named, jax_named)] for t in transforms}

    for got, want in by_both(X).values():
        close(got, want)


def test_collectives_without_jit():
    close(named(COLLECTIVES["psum"])(X), X / jnp.exp(X).sum(0))
    close(named(COLLECTIVES["axis_index"])(X), X * jnp.arange(4.0)[:, None])


def test_dims_and_keyword_arguments_and_trees():
    def f(tree, w, *, y):
        return {"s": lax.psum(tree["x"] * y, "i") * w}, lax.pmean(tree["x"], "i")

    mapped = functx.vmap(
        f,
        in_dims=({"x": 1}, None),
        out_dims=({"s": -1}, None),
        kw_in_dims={"y": 0},
        axis_name="i",
    )
    got = mapped({"x": X}, 2.0, y=jnp.arange(3.0))
    sums = (X * jnp.arange(3.0)).sum(1)
    close(got, ({"s": jnp.broadcast_to(2 * sums[:, None], (4, 3))}, X.mean(1)))


def test_names_nest():
    def f(x, y):
        both = lax.psum(x * y, ("i", "j"))
        index = lax.axis_index("i") + 10 * lax.axis_index("j")
        return x * both + index.astype(x.dtype)

    inner = functx.vmap(f, in_dims=(None, 0), axis_name="j")
    got = functx.vmap(inner, in_dims=(0, None), axis_name="i")(W, X[:, 0])
    total = (W[:, None] * X[:, 0]).sum()
    index = jnp.arange(5.0)[:, None] + 10 * jnp.arange(4.0)
    close(got, jnp.broadcast_to(W[:, None] * total, (5, 4)) + index)


def test_the_inner_of_two_equal_names_counts():
    inner = functx.vmap(lambda x: lax.psum(x, "i"), axis_name="i")
    close(named(inner)(X), jnp.broadcast_to(X.sum(1, keepdims=True), X.shape))
    close(functx.vmap(inner, axis_name="i", chunk_size=1)(X), named(inner)(X))


def test_a_name_may_be_anything_hashable():
    name = ("batch", 3)
    close(
        functx.vmap(lambda x: lax.pmean(x, (name,)), axis_name=name)(X[:, 0]),
        jnp.full(4, X[:, 0].mean()),
    )


def test_a_number_for_a_name_is_no_dimension_of_a_sum():
    close(functx.vmap(lambda x: x.sum(0), axis_name=0, chunk_size=3)(X), X.sum(1))


def test_random_draws_and_collectives():
    def f(x):
        noise = functx.rand(3, dtype=x.dtype)
        return noise, lax.psum(x * noise, "i")

    with functx.random.scope(jax.random.key(0)):
        noise, total = functx.vmap(f, randomness="different", axis_name="i")(X)
    assert len({tuple(lane) for lane in noise.tolist()}) == 4
    close(total, jnp.broadcast_to((X * noise).sum(0), X.shape))


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("chunk_size", [3, "auto"])
@pytest.mark.parametrize("name", [name for name in COLLECTIVES if name != "of a constant"])
def test_collectives_across_chunks_are_refused(name, chunk_size, jit):
    options = {"max_bytes": 150} if chunk_size == "auto" else {}
    mapped = functx.vmap(COLLECTIVES[name], axis_name="i", chunk_size=chunk_size, **options)
    said = r"^vmap: `func` crosses lanes by `\w+` over the axis 'i', but its 4 lanes are"
    with pytest.raises(ValueError, match=said + r" computed in chunks of \d\n.*chunk_size=4"):
        jit(mapped)(X)


@pytest.mark.parametrize("name", ["psum", "axis_index", "of a constant"])
@pytest.mark.parametrize("chunk_size", [4, 100, "auto"])
def test_collectives_in_one_chunk(name, chunk_size):
    f = COLLECTIVES[name]
    close(jax.jit(functx.vmap(f, axis_name="i", chunk_size=chunk_size))(X), jax_named(f)(X))


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("chunk_size", [1, 3])
def test_what_crosses_no_lanes_may_be_in_chunks(chunk_size, jit):
    sized = COLLECTIVES["of a constant"]
    close(jit(functx.vmap(sized, axis_name="i", chunk_size=chunk_size))(X), 4 * X + 4)
    other = functx.vmap(lambda x: lax.psum(x, "j"), axis_name="i", chunk_size=chunk_size)
    close(jit(functx.vmap(other, axis_name="j"))(X[None]), X[None])

    def labelled(x):
        return {"x": x, "n": 3}, "label"

    got = functx.vmap(labelled, out_dims=({"x": 1, "n": 0}, None), axis_name="i", chunk_size=3)(X)
    assert got[1] == "label"
    close(got[0], {"x": X.T, "n": jnp.full(4, 3)})


def test_lanes_without_arguments():
    index = functx.vmap(lambda: lax.axis_index("i"), axis_name="i", axis_size=3)
    assert index().tolist() == [0, 1, 2]
    close(functx.vmap(lambda x: 2 * x, in_dims=None, axis_size=2)(X), jnp.stack([2 * X, 2 * X]))
    draw = functx.vmap(lambda: functx.rand(2), randomness="different", axis_size=5)
    parts = functx.vmap(lambda: functx.rand(2), randomness="different", axis_size=5, chunk_size=2)
    with functx.random.scope(jax.random.key(0)):
        whole = draw()
    with functx.random.scope(jax.random.key(0)):
        close(parts(), whole)
    assert len(set(whole.ravel().tolist())) == 10
    assert functx.vmap(lambda: 1.0, axis_size=0)().shape == (0,)


def test_a_size_that_arguments_have():
    close(functx.vmap(lambda x: 2 * x, axis_size=4)(X), 2 * X)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"axis_name": []}, TypeError, r"`axis_name` must be hashable, such as a string, got \[\]"),
        ({"spmd_axis_name": {}}, TypeError, "`spmd_axis_name` must be hashable"),
        ({"axis_size": 2.0}, TypeError, "`axis_size` must be an int or None, got 2.0"),
        ({"axis_size": True}, TypeError, "`axis_size` must be an int or None"),
        ({"axis_size": -1}, ValueError, "`axis_size` must not be negative, got -1"),
        ({"axis_size": 3}, ValueError, r"must have the size axis_size=3, but `args\[0\]` "
         r"f64\[4,3\] has 4 in dimension 0"),
        ({"in_dims": None}, ValueError, r"every in_dim is None\n.*axis_size="),
    ],
)  # fmt: skip
def test_refusals(options, error, message):
    with pytest.raises(error, match="^vmap: .*" + message):
        functx.vmap(lambda x: x, **options)(X)


class Pooled(functx.Function):
    """`lax.psum(jnp.sin(x), "i")`, with a rule of its own for reverse mode."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return lax.psum(jnp.sin(x), "i")

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return lax.psum(grad_output, "i") * jnp.cos(x)


@pytest.mark.parametrize("jit", [lambda f: f, jax.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_collectives_in_rules(transform, jit):
    pooled = jit(Pooled.apply)
    made = TRANSFORMS[transform]
    got = jax.jit(made(named, lambda x: x * pooled(x)))(X)
    want = jax.jit(made(jax_named, lambda x: x * lax.psum(jnp.sin(x), "i")))(X)
    close(got, want)


def test_collectives_in_rules_of_what_is_not_mapped():
    fixed = jnp.asarray([0.0, 0.5, 1.0])
    for f in (Pooled.apply, jax.jit(Pooled.apply)):
        close(named(lambda x, f=f: x + f(fixed))(X), X + 4 * jnp.sin(fixed))
        gradient = functx.grad(lambda x, f=f: f(x).sum())
        close(named(lambda x, g=gradient: x + g(fixed))(X), X + 4 * jnp.cos(fixed))
        tangent = jax.jit(lambda x, f=f: functx.jvp(f, (x,), (x,))[1])
        close(named(lambda x, t=tangent: x + t(fixed))(X), X + 4 * fixed * jnp.cos(fixed))


def test_collectives_in_a_linear_system_and_a_hook():
    def solved(x):
        return functx.implicit.custom_linear_solve(lambda y: 2 * y + lax.psum(y, "i") * 0.1, x)

    got, want = (jax.jit(functx.grad(lambda x, v=v: (v(solved)(x) ** 3).sum()))(X) for v in (
        named, jax_named
    ))  # fmt: skip
    close(got, want)
    tapped = functx.grad(
        lambda x: (functx.taps.tap(x, on_grad=lambda g: lax.psum(g, "i")) ** 2).sum()
    )
    close(named(tapped)(X), jnp.broadcast_to(2 * X.sum(0), X.shape))
    outside = functx.grad(
        lambda x: named(lambda x: functx.taps.tap(x, on_grad=lambda g: lax.psum(g, "i")) ** 2)(
            x
        ).sum()
    )
    close(outside(X), jnp.broadcast_to(2 * X.sum(0), X.shape))


def test_anomalies_are_found_in_lanes_with_names():
    watched = functx.debug.detect_anomaly(named(lambda x: jnp.log(x - lax.pmean(x, "i") + 1e3)))
    close(watched(X), jnp.log(X - X.mean(0) + 1e3))
    with pytest.raises(functx.debug.AnomalyError):
        functx.debug.detect_anomaly(named(lambda x: jnp.log(x - lax.pmean(x, "i"))))(X)


def test_batch_norm_of_equinox():
    eqx = pytest.importorskip("equinox", reason="equinox has modules that name their axis")
    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(
        3, axis_name="batch", mode="batch", dtype="float64"
    )

    def loss(norm, vmap):
        y, new = vmap(norm)(X, state)
        return (y**3 * W[:3]).sum(), new

    def here(f):
        return functx.vmap(f, (0, None), (0, None), axis_name="batch")

    def there(f):
        return jax.vmap(f, (0, None), (0, None), axis_name="batch")

    got, want = (
        eqx.filter_jit(eqx.filter_grad(lambda n, v=v: loss(n, v), has_aux=True))(norm)
        for v in (here, there)
    )
    close(jax.tree.leaves(got), jax.tree.leaves(want))
    still = eqx.nn.inference_mode(norm)
    close(
        functx.vmap(still, (0, None), (0, None), axis_name="batch", chunk_size=2)(X, state)[0],
        there(still)(X, state)[0],
    )

"""Functions that write in place, as pure functions: what they give, under every transform."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import functx
from functx.aot import functionalize, mutable, MutableArray
from functx.testing.checks.programs import compiled


F: Any = functx.nn.functional
operators: Any = functx  # with arguments that their own signatures do not have
X = np.asarray([[0.3, -1.2, 2.0], [1.5, 0.7, -0.4]])


def written(x):
    """Writes through views of views, by index, by mask, and to the view's own metadata."""
    y = x.view(-1)
    y[1:4].mul_(y[0])
    x[:, 1].add_(x[:, 0], alpha=2)
    x.t_()
    x[0].sin_()
    x[x > 1] = 0.5
    x[jnp.asarray([2, 0]), 1] *= 3
    return functx.sum(functx.exp(x))


def pure(x):
    y = x.reshape(-1)
    y = y.at[1:4].set(y[1:4] * y[0])
    x = y.reshape(2, 3)
    x = x.at[:, 1].set(x[:, 1] + 2 * x[:, 0])
    x = x.T
    x = x.at[0].set(jnp.sin(x[0]))
    x = jnp.where(x > 1, 0.5, x)
    at = (jnp.asarray([2, 0]), 1)
    x = x.at[at].set(x[at] * 3)
    return jnp.sum(jnp.exp(x))


TRANSFORMS = {
    "value": lambda f: f,
    "jit": jax.jit,
    "grad": functx.grad,
    "jax.grad": jax.grad,
    "hessian": functx.hessian,
    "jacfwd(jacfwd)": lambda f: functx.jacfwd(functx.jacfwd(f)),
    "jacrev(jacrev)": lambda f: functx.jacrev(functx.jacrev(f)),
    "grad of grad of grad": lambda f: functx.grad(
        lambda x: (functx.grad(lambda x: (functx.grad(f)(x) ** 2).sum())(x) ** 2).sum()
    ),
    "jvp": lambda f: lambda x: functx.jvp(f, (x,), (jnp.cos(x),)),
    "vmap(grad)": lambda f: lambda x: functx.vmap(functx.grad(f))(jnp.stack([x, 2 * x])),
    "jit(vmap(hessian))": lambda f: lambda x: jax.jit(functx.vmap(functx.hessian(f)))(x[None]),
    "checkpoint": lambda f: functx.grad(functx.checkpoint(f)),
    "scan": lambda f: lambda x: lax.scan(lambda c, y: (c + f(y), f(y)), 0.0, jnp.stack([x, -x])),
    "linearize": lambda f: lambda x: functx.linearize(f, x)[1](x),
}


EAGER = ("value", "grad", "vmap(grad)")  # of the others, each operation would be a program


@pytest.mark.parametrize("name", TRANSFORMS)
def test_composes_as_the_pure_function(name):
    transform, x = TRANSFORMS[name], jnp.asarray(X)
    run = (lambda f: f) if name in EAGER else compiled
    got, want = run(transform(functionalize(written)))(x), compiled(transform(pure))(x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, 1e-9, 1e-9), got, want)


def test_the_callers_arrays_stay_and_the_arguments_come_back():
    def f(params, x, *, scale, note):
        params["w"].add_(x)
        scale.fill_(3)
        assert note == "plain"
        return {"w": params["w"][0], "n": 1, "note": note}

    params, x, scale = {"w": np.ones(2), "b": jnp.zeros(2)}, jnp.arange(2.0), jnp.zeros((), int)
    run = functionalize(f, return_mutated=True)
    out, args, kwargs = run(params, x, scale=scale, note="plain")
    assert out == {"w": 1.0, "n": 1, "note": "plain"} and isinstance(out["w"], jax.Array)
    assert args[0]["w"].tolist() == [1, 2] and args[0]["b"].tolist() == [0, 0]
    assert (kwargs["scale"].tolist(), kwargs["note"]) == (3, "plain")
    assert params["w"].tolist() == [1, 1] and scale.tolist() == 0


def test_argnums_choose_which_arguments_are_mutable():
    kinds = lambda a, b, c: [isinstance(x, MutableArray) for x in (a, b, c)]
    a, b = jnp.zeros(2), jnp.ones(2)
    assert functionalize(kinds)(a, b, c=b) == [True] * 3
    assert functionalize(kinds, argnums=1)(a, b, c=b) == [False, True, False]
    assert functionalize(kinds, argnums=("c", 0))(a, b, c=b) == [True, False, True]
    add = lambda a, b: a.add_(b).sum()
    assert functionalize(add, argnums=0, return_mutated=True)(b, b)[1].tolist() == [2, 2]
    (one,) = functionalize(add, argnums=(0,), return_mutated=True)(b, b)[1]
    assert one.tolist() == [2, 2]
    with pytest.raises(IndexError, match="argnums"):
        functionalize(kinds, argnums=3)(a, b, c=b)


def test_the_compiled_program_is_that_of_the_pure_function():
    def count(f):
        analysis: Any = jax.jit(f).lower(jnp.ones(8, "float32")).compile().cost_analysis()
        return analysis["flops"]

    def add(x):
        x.view(2, 4)[0].add_(1)
        x.mul_(2)
        return x

    assert count(functionalize(add)) <= count(lambda x: x.at[:4].add(1) * 2) + 8


def test_arrays_made_inside_become_mutable_also_in_loops():
    def cumulative(x):
        def step(total, row):
            total = mutable(total)
            total[0] += row.sum()
            total[1:].mul_(row[0])
            return total, total.sum()

        total = mutable(jnp.ones(3))
        last, sums = lax.scan(step, total, x)
        total.copy_(last)
        return total.sum() * sums.sum()

    def loop(x):
        total, sums = jnp.ones(3), 0.0
        for row in x:
            total = total.at[0].add(row.sum())
            total = total.at[1:].multiply(row[0])
            sums += total.sum()
        return total.sum() * sums

    x = jnp.asarray(X)
    for transform in (lambda f: f, functx.grad, functx.hessian):
        got, want = compiled(transform(functionalize(cumulative)))(x), compiled(transform(loop))(x)
        np.testing.assert_allclose(got, want, 1e-12)


def test_a_mutable_copy_leaves_its_source():
    @functionalize
    def f(x):
        y = mutable(x)
        y.zero_()
        return x, y, mutable(2.5), mutable(3)

    x, y, number, whole = f(jnp.ones(2))
    assert (x.tolist(), y.tolist()) == ([1, 1], [0, 0])
    assert (number.dtype, whole.dtype) == ("float32", "int64")


WRITES_ELSEWHERE = {
    "scan": lambda x: lax.scan(lambda c, v: (c, x.add_(v).sum()), 0.0, jnp.ones(2)),
    "cond": lambda x: lax.cond(x.sum() > 0, lambda: x.zero_().sum(), lambda: 0.0),
    "vmap": lambda x: functx.vmap(lambda v: x[0].mul_(v).sum())(jnp.ones(3)),
    "jit": lambda x: jax.jit(lambda: x.view(-1).zero_().sum())(),
    "grad": lambda x: functx.grad(lambda w: x.mul_(w).sum())(2.0),
    "checkpoint": lambda x: functx.checkpoint(lambda w: x.mul_(w).sum())(2.0),
}


@pytest.mark.parametrize("name", WRITES_ELSEWHERE)
@pytest.mark.parametrize("outer", [lambda f: f, jax.jit, functx.vmap], ids=["eager", "jit", "vmap"])
def test_a_write_that_would_leak_a_tracer_is_refused(name, outer):
    here = f"made outside of the `{name}` that runs here .*\n  hint: .*functx.aot.mutable"
    with pytest.raises(RuntimeError, match=here):
        outer(functionalize(WRITES_ELSEWHERE[name]))(jnp.ones((2, 2)))


def test_reads_inside_of_a_transform_are_fine():
    f = functionalize(lambda x: functx.vmap(lambda v: (x * v).sum())(jnp.arange(2.0)))
    assert f(jnp.ones(2)).tolist() == [0, 2]


def test_a_mutable_array_ends_with_its_call():
    kept = []
    functionalize(lambda x: kept.append(x) or kept.append(x[0]))(jnp.ones(2))
    uses = (
        lambda x: x.add_(1),
        lambda x: x + 1,
        jnp.sin,
        functx.sin,
        functionalize(lambda y: y.add_(kept[0])),
        functionalize(lambda y: kept[0].copy_(y)),
    )
    for use, x in itertools.product(uses, kept):
        with pytest.raises(RuntimeError, match="after the functionalized function .* returned\n"):
            use(x)
    assert repr(kept[0]) == "MutableArray(f64[2], of a call that has returned)"
    with pytest.raises(RuntimeError, match="mutable: no functionalized function is running"):
        mutable(jnp.ones(2))
    with pytest.raises(TypeError, match="functx.aot.mutable"):
        MutableArray(jnp.ones(2))  # pyright: ignore[reportArgumentType]


def test_a_call_that_fails_ends_too():
    kept = []
    with pytest.raises(ZeroDivisionError):
        functionalize(lambda x: kept.append(x) or 1 / 0)(jnp.ones(2))
    with pytest.raises(RuntimeError, match="no functionalized function"):
        mutable(1)


def test_nested_calls_are_pure_in_turn():
    inner = functionalize(lambda y: y.mul_(3))

    @functionalize
    def outer(x):
        y = inner(x)
        assert isinstance(y, jax.Array)
        x.add_(y)
        return x

    assert outer(jnp.ones(2)).tolist() == [4, 4]


def test_operators_and_jax_read_mutable_arrays():
    def f(x):
        row = x[0]
        results = (
            functx.cat([row, x[1]]),
            functx.where(row > 0, row, x[1]),
            functx.einsum("ij,kj->ik", x, x),
            functx.softmax(input=row, dim=0),
            row.softmax(0),
            jnp.stack([row, row]),
            jnp.sin(x) + x,
            functx.vmap(functx.sum)(x),
            np.asarray(x),
            x.astype("int32"),
            1 - row,
            row @ x.T,
            x.clone(),
        )
        assert functx.asarray(x).shape == functx.tensor(x).shape == x.shape
        assert functx.is_floating_point(x) and functx.numel(x) == x.numel() == 6
        assert (row.tolist(), f"{row[1]:.1f}", row[0].item()) == (X[0].tolist(), "-1.2", 0.3)
        assert not any(isinstance(y, MutableArray) for y in results)
        x.zero_()
        return results

    got = functionalize(f)(X)
    assert got[0].tolist() == X.ravel().tolist()
    assert all(np.any(np.asarray(y) != 0) for y in got)
    np.testing.assert_array_equal(got[-1], X)


def test_operators_write_where_pytorch_does():
    def f(h, mean, var, count):
        out = F.batch_norm(h, mean, var, training=True, momentum=0.5)
        count += 1
        F.relu(h, inplace=True)
        assert F.leaky_relu(h, 0.1, True) is h
        assert operators.sub(mean, 1, out=mean) is mean
        return out

    h = jnp.asarray(X)
    out, (h2, mean, var, count) = functionalize(f, return_mutated=True)(
        h, jnp.zeros(3), jnp.ones(3), jnp.asarray(0)
    )
    want, *stats = F.batch_norm_with_stats(
        h, jnp.zeros(3), jnp.ones(3), training=True, momentum=0.5
    )
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(mean, stats[0] - 1)
    np.testing.assert_array_equal(var, stats[1])
    np.testing.assert_array_equal(h2, jnp.maximum(h, 0))
    assert count.tolist() == 1
    embed = functionalize(lambda w: F.embedding(jnp.asarray([0]), w, max_norm=1.0))
    with pytest.raises(RuntimeError, match="`max_norm` renormalizes rows"):
        embed(jnp.ones((2, 2)))


def test_draws_are_those_of_the_ambient_generator():
    def f(x):
        x.normal_(1, 2)
        x[0].uniform_(0, 1)
        x[1].bernoulli_(0.5)
        return x

    functx.manual_seed(0)
    first = functionalize(f)(jnp.zeros((3, 50)))
    functx.manual_seed(0)
    np.testing.assert_array_equal(functionalize(f)(jnp.zeros((3, 50))), first)
    assert 0 <= first[0].min() and first[0].max() < 1 and set(first[1].tolist()) == {0, 1}
    drawn = functionalize(lambda x: x.random_(5))(jnp.zeros(50, "int32"))
    assert drawn.dtype == "int32" and set(drawn.tolist()) <= set(range(5))
    lanes = functx.vmap(functionalize(f), randomness="different")(jnp.zeros((2, 3, 4)))
    assert np.any(lanes[0] != lanes[1])


def test_sizes_may_be_symbolic():
    def f(x):
        x.t()[0].add_(1)
        x[1:, 0].mul_(2)
        x.view(-1)[:2].zero_()
        x.unsqueeze(0).squeeze_(0).transpose_(0, 1)[1].exp_()
        x.reshape(-1, 1, 3)[:, 0, 2] = 7
        return x

    shape = export.symbolic_shape("b, 3", constraints=["b >= 2"])
    exported = export.export(jax.jit(functionalize(f)))(jax.ShapeDtypeStruct(shape, "float32"))
    for b in (2, 4):
        x = jnp.arange(3.0 * b, dtype="float32").reshape(b, 3)
        np.testing.assert_allclose(exported.call(x), functionalize(f)(x), 1e-6)


def test_a_derivative_begins_with_a_write():
    def f(x, y):
        x.add_(y)
        return x.sum()

    x_bar, y_bar = functx.grad(functionalize(f), argnums=(0, 1))(jnp.ones(2), jnp.ones(2))
    assert (x_bar.tolist(), y_bar.tolist()) == ([1, 1], [1, 1])
    only = functx.grad(lambda y: functionalize(f)(jnp.ones(2), y))(jnp.ones(2))
    assert only.tolist() == [1, 1]


def test_an_overwritten_argument_has_no_gradient():
    def f(x):
        x[0] = 5.0
        x[1].zero_()
        return (x**2).sum()

    assert functx.grad(functionalize(f))(jnp.arange(3.0)).tolist() == [0, 0, 4]


def test_trees_see_arrays_and_paths_as_of_one():
    def f(x):
        paths = [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path({"a": x})]
        assert paths == ["['a']"]
        return jax.tree.map(lambda y: y * 2, (x, [x]))

    doubled, [again] = functionalize(f)(jnp.ones(2))
    assert doubled.tolist() == again.tolist() == [2, 2]


def test_another_thread_has_calls_of_its_own():
    from concurrent.futures import ThreadPoolExecutor

    f = functionalize(lambda x: mutable(x.add_(1)).mul_(2))
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(f, [jnp.full(2, float(i)) for i in range(8)]))
    assert [y[0] for y in got] == [2.0 * (i + 1) for i in range(8)]


def test_what_is_no_function_and_no_option_is_refused():
    with pytest.raises(TypeError, match="functionalize: `func` must be callable"):
        functionalize(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="`return_mutated` must be a bool"):
        functionalize(pure, return_mutated=1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="`remove` does not exist here"):
        functionalize(pure, remove="mutations")  # pyright: ignore[reportCallIssue]

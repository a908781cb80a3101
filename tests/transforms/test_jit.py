"""`functx.jit`: every option of `jax.jit`'s counts and names the arguments of the function."""

import inspect
import os
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


def X():
    return jnp.arange(3, dtype="float32")


def noisy(x, y, n=1):
    assert isinstance(n, int), "static where the option says so"
    return x * n + y + functx.rand(3)


def seeded(f, *args, **kwargs):
    functx.manual_seed(1)
    return f(*args, **kwargs)


WANT = {n: seeded(noisy, X(), X(), n) for n in (1, 2)}
ON_CPU = jax.sharding.SingleDeviceSharding(jax.devices("cpu")[0])


@pytest.mark.parametrize(
    ("options", "args", "kwargs"),
    [
        ({"static_argnums": 2}, (2,), {}),
        ({"static_argnums": (2,)}, (2,), {}),
        ({"static_argnums": -1}, (2,), {}),
        ({"static_argnames": "n"}, (2,), {}),
        ({"static_argnames": "n"}, (), {"n": 2}),
        ({"static_argnames": ("n",)}, (), {"n": 2}),
        ({"static_argnums": 2, "static_argnames": "n"}, (), {"n": 2}),
        ({"donate_argnums": 0}, (), {}),
        ({"donate_argnums": (1,)}, (), {}),
        ({"donate_argnums": -3, "static_argnums": 2}, (2,), {}),
        ({"donate_argnames": "x"}, (), {}),
        ({"donate_argnums": 0, "static_argnames": "n"}, (), {"n": 2}),
        ({"in_shardings": ON_CPU}, (), {}),
        ({"in_shardings": (ON_CPU, None)}, (), {}),
        ({"in_shardings": ON_CPU, "static_argnums": 2}, (2,), {}),
        ({"in_shardings": (ON_CPU, ON_CPU), "static_argnums": 2}, (2,), {}),
        ({"out_shardings": ON_CPU}, (), {}),
        ({"keep_unused": True}, (), {}),
        ({"inline": True}, (), {}),
        ({"compiler_options": {"xla_embed_ir_in_executable": True}}, (), {}),
    ],
)
def test_options(options, args, kwargs):
    compiled = functx.jit(noisy, **options)
    want = WANT[2 if args or kwargs else 1]
    for _ in range(2):  # compiled, then taken from the cache
        given = X(), X()
        got = seeded(compiled, *given, *args, **kwargs)
        np.testing.assert_allclose(got, want, rtol=1e-6)
        donated = [x.is_deleted() for x in given]
        for option, positions in [("donate_argnums", (0, 1)), ("donate_argnames", "xy")]:
            asked = options.get(option, ())
            asked = {a % 3 if isinstance(a, int) else a for a in np.atleast_1d(asked).tolist()}
            if option in options:
                assert donated == [p in asked for p in positions]
        draw = functx.rand(2)
        assert not draw.is_deleted()


def test_decorates_with_options_and_methods():
    class Model:
        @functx.jit(static_argnames="n")
        def call(self, x, n):
            return x * n

    jax.tree_util.register_static(Model)
    assert (Model().call(X(), n=2) == 2 * X()).all()


def test_keeps_the_signature_and_the_name():
    compiled = functx.jit(noisy, static_argnums=2)
    assert inspect.signature(compiled) == inspect.signature(noisy)
    assert compiled.__name__ == "noisy" and compiled.__wrapped__ is noisy


def test_builtins_without_a_signature():
    with pytest.raises(ValueError):
        inspect.signature(getattr)
    assert (functx.jit(getattr, static_argnums=1)(X()[None], "T") == X()[:, None]).all()


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="static_argnum"):
        functx.jit(noisy, static_argnum=2)(X(), X())


def test_one_program_for_equal_signatures():
    traces = []

    @functx.jit
    def f(x):
        traces.append(x)
        return x + functx.rand(3)

    for _ in range(3):
        f(X())
    assert len(traces) == 1
    f.clear_cache()
    f(X())
    assert len(traces) == 2


def test_eval_shape():
    out = functx.jit(noisy).eval_shape(X(), X())
    assert (out.shape, out.dtype) == ((3,), jnp.float32)


@pytest.mark.parametrize(
    "compiled",
    [
        lambda: functx.jit(noisy, static_argnums=2).lower(X(), X(), 2).compile(),
        lambda: functx.jit(noisy, static_argnums=2).trace(X(), X(), 2).lower().compile(),
    ],
)
def test_stages_draw_from_the_ambient_generator(compiled):
    program = compiled()
    functx.manual_seed(1)
    first, second = program(X(), X()), program(X(), X())
    np.testing.assert_allclose(first, WANT[2], rtol=1e-6)
    assert not (first == second).any()


def test_stages_describe_the_function():
    traced = functx.jit(noisy).trace(X(), X())
    lowered = traced.lower()
    for stage in (traced, lowered, lowered.compile()):
        assert stage.out_info.shape == (3,)
        args, kwargs = stage.args_info
        assert [a.shape for a in args] == [(3,), (3,)] and kwargs == {}
    assert "stablehlo" in lowered.as_text() and traced.jaxpr is not None
    assert lowered.compile().cost_analysis() is not None


def test_nested():
    outer = functx.jit(lambda x: functx.jit(noisy)(x, x) + functx.jit(noisy)(x, x))
    eager = seeded(lambda x: noisy(x, x) + noisy(x, x), X())
    np.testing.assert_allclose(seeded(outer, X()), eager, rtol=1e-6)


def test_under_grad_and_vmap():
    f = functx.jit(lambda x: (x * functx.rand(3)).sum())
    gradient = seeded(functx.grad(f), X())
    assert (gradient == seeded(functx.rand, 3)).all()
    lanes = seeded(
        functx.vmap(functx.jit(lambda x: x + functx.rand(())), randomness="different"), X()
    )
    assert len(set((lanes - X()).tolist())) == 3


def test_shardings_over_several_devices():
    program = """
        import jax, jax.numpy as jnp, functx
        from jax.sharding import NamedSharding, PartitionSpec as P
        mesh = jax.make_mesh((2,), ("i",))
        rows, whole = NamedSharding(mesh, P("i")), NamedSharding(mesh, P())
        noisy = lambda x: x + functx.rand(4)
        x = jnp.zeros(4)
        want = noisy(x)
        for options in ({"in_shardings": rows}, {"in_shardings": (rows,)}, {"out_shardings": rows}):
            functx.manual_seed(0)
            out = functx.jit(noisy, **options)(x)
            assert (out == want).all(), options
            if "out_shardings" in options:
                assert out.sharding.is_equivalent_to(rows, 1)
    """
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"},
        check=True,
    )


@pytest.mark.parametrize(
    ("args", "kwargs", "named"),
    [
        (("abc",), {}, r"`args\[0\]`.*got 'abc'"),
        ((1.0, {"a": [2.0, object()]}), {}, r"`args\[1\]`.*got .*object"),
        ((1.0,), {"y": "abc"}, r"`y`.*got 'abc'"),
    ],
)
def test_what_is_no_array_is_named(args, kwargs, named):
    f = functx.jit(lambda x, y=0.0, mode="sum": x, static_argnames="mode")
    with pytest.raises(TypeError, match=rf"^jit: {named}\n  hint: .*static_argnames"):
        f(*args, **kwargs, mode="mean")

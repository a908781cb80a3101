"""Autocast regions: what operators compute in, and who sees a region."""

import asyncio
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.amp import autocast, get_autocast_dtype, is_autocast_enabled


F = functx.nn.functional
X = jnp.asarray(np.linspace(-1, 1, 6).reshape(2, 3), "float32")
W = jnp.asarray(np.linspace(0, 1, 12).reshape(3, 4), "float32")
HALF = X.astype("float16")


def dtypes(*arrays):
    return [x.dtype.name for x in arrays]


@pytest.mark.parametrize("lower", ["float16", "bfloat16"])
@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_products_are_computed_in_the_lower_dtype(lower, device):
    with autocast(lower, device=device):
        y = functx.matmul(X, W)
    want = functx.matmul(X.astype(lower), W.astype(lower))
    assert y.dtype == lower
    np.testing.assert_array_equal(y, want)


def test_the_lists_are_those_of_the_device():
    calls = [
        lambda: functx.exp(HALF),
        lambda: functx.sum(HALF, dim=0),
        lambda: functx.prod(HALF),
        lambda: F.mse_loss(HALF, HALF),
        lambda: F.layer_norm(HALF, (3,)),
        lambda: functx.add(HALF, HALF),
        lambda: functx.fft.rfft(HALF),
    ]
    with autocast(jnp.float16, device="gpu"):
        on_gpu = [f().dtype.name for f in calls[:-1]]
        with pytest.raises(TypeError, match=r"fft.rfft"):
            calls[-1]()
    with autocast(jnp.float16, device="cpu"):
        on_cpu = [f().dtype.name for f in calls]
    assert on_gpu == ["float32"] * 5 + ["float16"]
    half = "float16"
    assert on_cpu == [half, half, "float32", "float32", half, half, "complex64"]


def test_a_dtype_that_is_asked_for_wins():
    with autocast(jnp.float16, device="cuda"):
        got = [
            functx.sum(HALF, dtype="float16"),
            functx.cumsum(HALF, 0, dtype="float16"),
            functx.softmax(HALF, 0, dtype="float64"),
            functx.linalg.vector_norm(HALF, dtype="float64"),
            functx.linalg.vector_norm(HALF, dtype="float16"),  # of float32 it would be refused
            functx.sum(HALF, dtype=None),
        ]
    assert dtypes(*got) == ["float16", "float16", "float64", "float64", "float16", "float32"]


def test_mixtures_become_the_widest():
    with autocast(jnp.float16, device="cuda"):
        assert functx.dot(HALF[0], X[0]).dtype == "float32"
        assert functx.dot(HALF[0], HALF[0]).dtype == "float16"
        assert functx.addcmul(X, HALF, HALF).dtype == "float32"
    with pytest.raises(TypeError, match="the same dtype"):
        functx.dot(HALF[0], X[0])


def test_doubles_integers_and_complex_numbers_stay():
    wide, whole = X.astype("float64"), jnp.arange(6).reshape(2, 3)
    with autocast(jnp.float16, device="cuda"):
        assert functx.matmul(wide, wide.T).dtype == "float64"
        assert functx.matmul(whole, whole.T).dtype == "int64"
        assert functx.sum(whole).dtype == "int64"
        assert functx.exp(wide).dtype == "float64"
        assert functx.matmul(X.astype("complex64"), W.astype("complex64")).dtype == "complex64"
        with pytest.raises(TypeError, match="the same dtype"):
            functx.matmul(wide, W.astype("float16"))


def test_python_numbers_take_no_part():
    with autocast(jnp.float16, device="cuda"):
        assert functx.pow(HALF, 1.5).dtype == "float32"
        assert functx.pow(2.0, jnp.arange(3)).dtype == "float32"
        assert functx.addmm(jnp.ones((2, 4), "float32"), X, W, alpha=2.0).dtype == "float16"


def test_what_is_unsafe_in_a_half_is_refused_on_gpus():
    with autocast(jnp.float16, device="cuda"):
        with pytest.raises(RuntimeError, match="binary_cross_entropy: it is unsafe") as refusal:
            F.binary_cross_entropy(jnp.abs(X), jnp.abs(X))
        assert "binary_cross_entropy_with_logits" in str(refusal.value)
        assert F.binary_cross_entropy_with_logits(HALF, jnp.abs(HALF)).dtype == "float32"
        with autocast(enabled=False):
            F.binary_cross_entropy(jnp.abs(X), jnp.abs(X))
    with autocast(jnp.bfloat16, device="cpu"):
        assert F.binary_cross_entropy(jnp.abs(X), jnp.abs(X)).dtype == "float32"


def test_regions_nest_and_end():
    seen = []
    note = lambda: seen.append((is_autocast_enabled(), functx.mm(X, W).dtype.name))
    note()
    with autocast(jnp.float16, device="cuda"):
        note()
        with autocast(enabled=False):
            note()
            with autocast():  # of the backend again: nothing is around
                note()
        with autocast(jnp.bfloat16), pytest.raises(ValueError):
            note()
            raise ValueError
        with autocast():
            note()
    note()
    names = ["float32", "float16", "float32", "bfloat16", "bfloat16", "float16", "float32"]
    assert seen == list(zip([False, True, False, True, True, True, False], names, strict=True))


def test_a_region_may_be_entered_again_also_inside_of_itself():
    region = autocast(jnp.float16)
    for _ in range(2):
        with region, autocast(jnp.bfloat16), region:
            assert get_autocast_dtype() == "float16"
    assert not is_autocast_enabled()


def test_what_is_in_force():
    assert not is_autocast_enabled() and not is_autocast_enabled("cuda")
    assert get_autocast_dtype("cuda") == "float16" and get_autocast_dtype("cpu") == "bfloat16"
    assert get_autocast_dtype("tpu") == "bfloat16"
    with autocast(jnp.bfloat16, device="cuda:1"):
        assert is_autocast_enabled() and is_autocast_enabled("gpu")
        assert not is_autocast_enabled(jax.devices("cpu")[0])
        assert get_autocast_dtype("cuda") == get_autocast_dtype() == "bfloat16"
    with autocast(device="cuda"):
        assert get_autocast_dtype() == "float16"
    with autocast(device=jax.devices("cpu")[0]):
        assert get_autocast_dtype() == "bfloat16"


def test_a_region_is_part_of_every_compiled_programs_key():
    compiled = jax.jit(lambda x: functx.mm(x, W))
    want = ["float32", "float16", "bfloat16", "float32"]
    got = [compiled(X)]
    for lower in ("float16", "bfloat16"):
        with autocast(lower):
            got.append(compiled(X))
    assert dtypes(*got, compiled(X)) == want
    scanned = lambda: jax.lax.scan(lambda c, x: (c, functx.mm(x, W)), 0, X[None])[1]
    with autocast("float16"):
        assert scanned().dtype == "float16"
    assert scanned().dtype == "float32"


def test_a_region_is_the_tasks():
    async def in_region(region, steps):
        seen = []
        with region:
            for _ in range(steps):
                await asyncio.sleep(0)
                seen.append((is_autocast_enabled(), get_autocast_dtype()))
        return seen, is_autocast_enabled()

    async def both():
        shared = autocast(jnp.bfloat16)
        tasks = in_region(shared, 2), in_region(shared, 4), in_region(autocast(jnp.float16), 3)
        return await asyncio.gather(*tasks)

    first, second, other = asyncio.run(both())
    lower = (True, jnp.dtype(jnp.bfloat16))
    assert first == ([lower] * 2, False) and second == ([lower] * 4, False)
    assert other == ([(True, jnp.dtype(jnp.float16))] * 3, False)


def test_a_region_is_the_threads():
    seen = []
    with autocast(jnp.float16):
        thread = threading.Thread(target=lambda: seen.append(is_autocast_enabled()))
        thread.start()
        thread.join()
    assert seen == [False]


TRANSFORMS = {
    "grad": lambda f: functx.grad(lambda x: functx.sum(f(x), dtype="float32")),
    "jvp": lambda f: lambda x: functx.jvp(f, (x,), (x,))[1],
    "vmap": lambda f: functx.vmap(f),
    "jacrev": lambda f: functx.jacrev(f),
    "jacfwd": lambda f: functx.jacfwd(f),
    "hessian": lambda f: functx.hessian(lambda x: functx.sum(f(x) ** 2, dtype="float32")),
    "jit": lambda f: functx.jit(f),
    "checkpoint": lambda f: functx.checkpoint(f),
    "linearize": lambda f: lambda x: functx.linearize(f, x)[1](x),
    "grad_of_jit": lambda f: functx.grad(jax.jit(lambda x: functx.sum(f(x), dtype="float32"))),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_every_transform_sees_the_region_as_at_the_call(name):
    seen = []

    def f(x):
        y = functx.matmul(x, W)
        seen.append(y.dtype.name)
        return y

    transformed = TRANSFORMS[name](f)
    x = X[:, None] if name == "vmap" else X
    with autocast(jnp.float16):
        inside = transformed(x)
    assert set(seen) == {"float16"}
    seen.clear()
    transformed(x)
    assert set(seen) == {"float32"}
    by_hand = TRANSFORMS[name](lambda x: functx.matmul(x.astype("float16"), W.astype("float16")))(x)
    assert inside.dtype == by_hand.dtype
    np.testing.assert_array_equal(inside, by_hand)


def test_gradients_have_the_dtypes_of_their_primals_and_products_run_lower():
    loss = lambda w, x: functx.sum(functx.matmul(x, w))
    with autocast(jnp.bfloat16, device="cuda"):
        gradients, pull = functx.vjp(loss, W, HALF)[1], functx.vjp(functx.matmul, X, W)[1]
        program = jax.make_jaxpr(functx.grad(loss))(W, X)
    assert dtypes(*gradients(jnp.float32(1))) == ["float32", "float16"]
    assert dtypes(*pull(jnp.ones((2, 4), "bfloat16"))) == ["float32", "float32"]
    # Outside of the region, too: of each product the operands are lower, forward and backward.
    products = [e for e in equations(program.jaxpr) if e.primitive.name == "dot_general"]
    assert products
    assert {x.aval.dtype.name for e in products for x in e.invars} == {"bfloat16"}


def equations(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in jax.tree.leaves(list(eqn.params.values())):
            inner = getattr(inner, "jaxpr", inner)
            if hasattr(inner, "eqns"):
                yield from equations(inner)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda: autocast("cuda", jnp.float16), TypeError, r"autocast\(dtype, device='cuda'\)"),
        (lambda: autocast("cpu"), TypeError, r"got the device 'cpu'"),
        (lambda: autocast(device_type="cuda"), TypeError, r"`device=` says whose lists"),
        (lambda: autocast(cache_enabled=True), TypeError, r"XLA computes a cast once"),
        (lambda: autocast(jnp.float32), ValueError, r"must be float16 or bfloat16, got float32"),
        (lambda: autocast(jnp.int8), ValueError, r"must be float16 or bfloat16, got int8"),
        (lambda: autocast(3), TypeError, r"`dtype` must be a dtype, got 3"),
        (lambda: autocast(3, jnp.float16), TypeError, r"`func` must be a function, got 3"),
        (lambda: autocast(enabled=1), TypeError, r"`enabled` must be a bool"),
        (lambda: autocast(device="gpux"), ValueError, r"`device` must be 'cpu'.*got 'gpux'"),
        (lambda: autocast(device=3), TypeError, r"`device` must be 'cpu'.*got 3"),
        (lambda: autocast()(3), TypeError, r"`func` must be a function, got 3"),
        (lambda: is_autocast_enabled(3) or get_autocast_dtype(3), TypeError, "`device` must be"),
    ],
)
def test_refusals(wrong, error, words):
    with pytest.raises(error, match=words):
        wrong()

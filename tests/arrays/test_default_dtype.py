"""The default dtype: who sees it, what it decides, and what it leaves alone."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


@pytest.fixture(autouse=True)
def as_before():
    yield
    functx.set_default_dtype(functx.float32)


MADE = {
    "zeros": lambda: functx.zeros(2),
    "ones": lambda: functx.ones(2),
    "empty": lambda: functx.empty(2),
    "full": lambda: functx.full((2,), 0.5),
    "eye": lambda: functx.eye(2),
    "scalar_tensor": lambda: functx.scalar_tensor(1),
    "linspace": lambda: functx.linspace(0, 1, 3),
    "logspace": lambda: functx.logspace(0, 1, 3),
    "arange": lambda: functx.arange(0, 1, 0.5),
    "rand": lambda: functx.rand(2, key=jax.random.key(0)),
    "randn": lambda: functx.randn(2, key=jax.random.key(0)),
    "fftfreq": lambda: functx.fft.fftfreq(4),
    "hann_window": lambda: functx.hann_window(4),
    "block_diag": lambda: functx.block_diag(),
    "tensor": lambda: functx.tensor([1, 2.5]),
    "asarray": lambda: functx.asarray([]),
    "numbers": lambda: functx.add(1.5, 2),
    "a number beside integers": lambda: functx.mul(jnp.arange(3), 0.5),
    "sin": lambda: functx.sin(jnp.arange(3)),
    "a quotient": lambda: functx.div(jnp.arange(3), 2),
    "where": lambda: functx.where(jnp.asarray([True]), 1.0, 2),
    "logit of bools": lambda: functx.logit(jnp.asarray([True])),
    "gradient": lambda: functx.gradient(jnp.arange(4))[0],
    "grad": lambda: functx.grad(functx.sin)(0.5),
    "value": lambda: functx.value_and_grad(functx.sin)(0.5)[0],
    "jvp": lambda: functx.jvp(functx.sin, (0.5,), (1.0,))[1],
    "vmap": lambda: functx.vmap(lambda x: 0.5)(jnp.arange(3)),
    "jit": lambda: functx.jit(lambda: 0.5)(),
    "tap": lambda: functx.taps.tap(0.5),
    "stack_trees": lambda: functx.stack_trees([0.5, 1.5]),
    "custom_linear_solve": lambda: functx.implicit.custom_linear_solve(
        lambda x: 2 * x, 1.0, lambda _, b: b / 2
    ),
}
WINDOWS = {
    "hann": lambda: functx.signal.windows.hann(4),
    "fft": lambda: functx.fft.ifft(jnp.arange(4)).real,
}


@pytest.mark.parametrize(
    "default",
    [
        "bfloat16",
        "float64",
        # float16 goes the way of bfloat16, and all other tests have float32.
        pytest.param("float16", marks=pytest.mark.full),
        pytest.param("float32", marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize("name", MADE)
def test_what_has_it(name, default):
    with functx.default_dtype(default):
        assert functx.get_default_dtype() == default
        assert MADE[name]().dtype == default


@pytest.mark.parametrize("name", WINDOWS)
def test_what_has_no_halves(name):
    for default in ("float32", "float64"):
        with functx.default_dtype(default):
            assert WINDOWS[name]().dtype == default
    with functx.default_dtype("bfloat16"), pytest.raises(TypeError, match="bfloat16"):
        WINDOWS[name]()


@pytest.mark.parametrize(
    "default, expected",
    [("float64", "complex128"), ("float32", "complex64"), ("bfloat16", "complex64")],
)
def test_complex_numbers(default, expected):
    with functx.default_dtype(default):
        assert functx.tensor(2j).dtype == expected
        assert functx.full((1,), 2j).dtype == expected
        assert functx.linspace(0, 2j, 3).dtype == expected
        assert functx.mul(jnp.arange(3), 2j).dtype == expected
        assert functx.grad(lambda x: functx.abs(x))(2j).dtype == expected


def test_what_has_a_dtype_keeps_it():
    x, half = jnp.ones(3, "float32"), jnp.ones(3, "float16")
    with functx.default_dtype("float64"):
        assert functx.mul(x, 0.5).dtype == "float32"
        assert functx.mul(x[0], 0.5).dtype == "float32"
        assert functx.sin(half).dtype == "float16"
        assert functx.tensor(x).dtype == "float32" and functx.asarray(np.ones(1)).dtype == "float64"
        assert functx.sum(jnp.arange(3)).dtype == "int64"
        assert functx.zeros(2, dtype="float16").dtype == "float16"


def test_halves_are_computed_in_float32_whatever_it_is():
    x = jnp.asarray(np.random.default_rng(0).normal(size=100), "bfloat16")
    want = functx.logsumexp(x, 0), functx.matmul(x, x), functx.lerp(x, x[0], 0.3)
    with functx.default_dtype("float64"):
        got = functx.logsumexp(x, 0), functx.matmul(x, x), functx.lerp(x, x[0], 0.3)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("jit", [jax.jit, functx.jit])
def test_it_is_a_part_of_every_programs_key(jit):
    f = jit(lambda n: functx.sin(n))
    assert f(jnp.arange(3)).dtype == "float32"
    with functx.default_dtype("float64"):
        assert f(jnp.arange(3)).dtype == "float64"
    functx.set_default_dtype("bfloat16")
    assert f(jnp.arange(3)).dtype == "bfloat16"
    functx.set_default_dtype(jnp.float32)
    assert f(jnp.arange(3)).dtype == "float32"


def test_regions_nest_and_end():
    with functx.default_dtype("float64"):
        with functx.default_dtype("bfloat16"):
            assert functx.zeros(1).dtype == "bfloat16"
            functx.set_default_dtype("float16")  # of the process: the region still counts
            assert functx.zeros(1).dtype == "bfloat16"
        assert functx.zeros(1).dtype == "float64"
    assert functx.zeros(1).dtype == "float16"


def test_a_region_ends_by_an_error():
    with pytest.raises(KeyError), functx.default_dtype("float64"):
        raise KeyError
    assert functx.get_default_dtype() == "float32"


def in_a_thread(f):
    found = []
    thread = threading.Thread(target=lambda: found.append(f()))
    thread.start()
    thread.join()
    return found[0]


def test_threads():
    """Setting it is seen by all, as in PyTorch; a region is its thread's."""
    with functx.default_dtype("float64"):
        assert in_a_thread(functx.get_default_dtype) == "float32"
    functx.set_default_dtype("float64")
    assert in_a_thread(functx.get_default_dtype) == "float64"
    in_a_thread(lambda: functx.set_default_dtype("bfloat16"))
    assert functx.get_default_dtype() == "bfloat16"


@pytest.mark.parametrize("set_it", [functx.set_default_dtype, functx.default_dtype])
@pytest.mark.parametrize("d", ["int32", "complex64", bool, "float8_e4m3fn", None, "nothing", 3])
def test_only_floating_dtypes(set_it, d):
    with pytest.raises(TypeError, match=rf"^{set_it.__name__}: `d` must be"):
        set_it(d)
    assert functx.get_default_dtype() == "float32"


@pytest.mark.parametrize("set_it", [functx.set_default_dtype, functx.default_dtype])
def test_float64_needs_64_bit(set_it):
    with functx.x64(False):
        with pytest.raises(RuntimeError, match=r"64 bit is off.*\n.*functx.enable_x64\(\)"):
            set_it(functx.float64)
    assert functx.get_default_dtype() == "float32"


def test_where_64_bit_is_turned_off_later_it_is_float32_as_long():
    functx.set_default_dtype("float64")
    with functx.x64(False):
        assert functx.get_default_dtype() == "float32"
        assert functx.zeros(2).dtype == "float32" and functx.tensor(2j).dtype == "complex64"
        assert functx.sin(jnp.arange(3)).dtype == "float32"
        assert functx.grad(functx.sin)(0.5).dtype == "float32"
    assert functx.zeros(2).dtype == "float64"


def test_limits_of_the_default_dtype():
    assert functx.finfo().bits == 32
    with functx.default_dtype("float64"):
        assert functx.finfo().bits == 64


def test_what_takes_dtypes_names_them():
    for d in (functx.float64, jnp.float64, np.dtype("float64"), np.float64, "float64", float):
        functx.set_default_dtype(d)
        assert functx.get_default_dtype() == np.dtype("float64")
        functx.set_default_dtype(functx.float32)

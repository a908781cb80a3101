"""Arrays of numbers, lists and NumPy arrays: PyTorch's dtypes, and refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


@pytest.mark.parametrize("make", [functx.tensor, functx.asarray, functx.as_tensor])
@pytest.mark.parametrize(
    "data, dtype, shape",
    [
        (2.5, "float32", ()),
        (3, "int64", ()),
        (True, "bool", ()),
        (1j, "complex64", ()),
        ([], "float32", (0,)),
        ([True, 2], "int64", (2,)),
        ([[1], [2.5]], "float32", (2, 1)),
        (((1, 2), (3, 4)), "int64", (2, 2)),
        (np.float64(1), "float64", ()),
        ([np.int32(1), np.int32(2)], "int32", (2,)),
        ([np.ones(2), np.zeros(2)], "float64", (2, 2)),
        (np.ones(3, "int16"), "int16", (3,)),
        ([jnp.int32(1), 2.5], "float32", (2,)),
        (jnp.ones(2, "bfloat16"), "bfloat16", (2,)),
    ],
)
@pytest.mark.parametrize("x64", [False, True])
def test_dtypes_are_those_of_pytorch(make, data, dtype, shape, x64):
    with jax.enable_x64(x64):
        made = make(data)
        assert (made.dtype, made.shape) == (jax.dtypes.canonicalize_dtype(dtype), shape)
        np.testing.assert_array_equal(made, np.asarray(jax.tree.map(np.asarray, data), dtype))


def test_a_dtype_that_is_asked_for_is_given():
    assert functx.tensor([1, 2], dtype=functx.float16).dtype == "float16"
    assert functx.tensor([1.7, -1.7], dtype="int8").tolist() == [1, -1]
    assert functx.tensor([0, 0.5], dtype="bool").tolist() == [False, True]
    assert functx.tensor(-1, dtype="uint8") == 255
    assert functx.tensor(1e40) == np.inf
    assert functx.as_tensor(jnp.asarray([300]), "uint8").tolist() == [44]


def test_tensor_copies_and_asarray_does_not():
    x, host = jnp.ones(2), np.ones(2, "float32")
    assert functx.asarray(x) is x and functx.as_tensor(x) is x
    assert functx.asarray(x, copy=False) is x
    assert functx.tensor(x) is not x and functx.asarray(x, copy=True) is not x
    kept = functx.from_numpy(host)
    host[0] = 7
    assert kept.tolist() == [1, 1]


def test_made_of_traced_numbers():
    made = jax.jit(lambda x: functx.tensor([[x, 1.0], [2, x]]))(jnp.float32(3))
    assert made.tolist() == [[3, 1], [2, 3]]
    assert functx.grad(lambda x: functx.asarray([x, x * x]).sum())(jnp.float32(3)) == 7


def test_where_device_says():
    assert functx.tensor([1], device="cpu").devices() == {jax.devices("cpu")[0]}


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: functx.tensor("abc"), TypeError, "tensor: `data` must be a number, an array, or"),
        (lambda: functx.tensor([1, None]), TypeError, "got None"),
        (lambda: functx.asarray({1: 2}), TypeError, "asarray: `obj` must be a number, an array"),
        (lambda: functx.tensor([[1], [2, 3]]), ValueError, "`data` must be rectangular"),
        (lambda: functx.tensor([[1], [np.int8(2), 3]]), ValueError, "must be rectangular"),
        (lambda: functx.tensor(300, dtype="uint8"), RuntimeError, "must fit uint8, got 300"),
        (lambda: functx.tensor(np.nan, dtype="int32"), RuntimeError, "must fit int32, got nan"),
        (lambda: functx.tensor(1j, dtype="float32"), TypeError, "must be real for float32, got 1j"),
        (lambda: functx.tensor(2**70), OverflowError, "must fit int64"),
        (lambda: functx.tensor(np.array(["a"])), TypeError, "must be an array of numbers"),
        (lambda: functx.tensor(1, dtype="str"), TypeError, "`dtype` must be a dtype of numbers"),
        (lambda: functx.tensor(1, device="moon"), ValueError, "`device` must be 'cpu'"),
        (lambda: functx.from_numpy([1]), TypeError, "`ndarray` must be a numpy.ndarray, got [1]"),
        (lambda: functx.asarray([1], copy=False), ValueError, "without a copy, got [1]"),
        (lambda: functx.asarray(np.ones(2), copy=False), ValueError, "without a copy, got f64[2]"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_integers_that_32_bits_do_not_hold():
    with jax.enable_x64(False):
        for wide in (2**40, np.array([2**40]), [np.int64(2**40)]):
            with pytest.raises((OverflowError, RuntimeError), match="enable_x64"):
                functx.tensor(wide)
    with jax.enable_x64(True):
        assert functx.tensor(2**40) == 2**40


def test_from_dlpack_takes_other_libraries_arrays():
    given = np.arange(6, dtype="float32").reshape(2, 3)
    out = functx.from_dlpack(given, device="cpu", copy=True)
    assert isinstance(out, jax.Array) and out.dtype == "float32"
    np.testing.assert_array_equal(out, given)
    with pytest.raises(TypeError, match=r"from_dlpack: `ext_tensor` must be .* DLPack, got"):
        functx.from_dlpack([1.0])


def test_frombuffer_reads_numbers_and_copies_them():
    memory = bytearray(np.arange(4, dtype="int16").tobytes())
    out = functx.frombuffer(memory, dtype=functx.int16, count=2, offset=2)
    memory[2] = 7
    np.testing.assert_array_equal(out, np.asarray([1, 2], "int16"))
    assert functx.frombuffer(b"", dtype="float32").shape == (0,)


@pytest.mark.parametrize("buffer, error", [(b"123", ValueError), (1.5, TypeError)])
def test_frombuffer_refuses_what_holds_no_numbers(buffer, error):
    with pytest.raises(error, match="frombuffer: `buffer` cannot be read"):
        functx.frombuffer(buffer, dtype="int16")


class Foreign:
    """An array of another library, which speaks DLPack and nothing else."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class Unwilling(Foreign):
    """An array that does not hand its memory on."""

    def __dlpack__(self, **options):
        raise BufferError("kept")


MAKERS = [functx.asarray, functx.as_tensor, functx.tensor, functx.from_dlpack]


@pytest.mark.parametrize("make", MAKERS)
def test_arrays_that_speak_dlpack(make):
    values = np.arange(12, dtype="float32").reshape(3, 4)
    for given in (values, values.T, values[:, ::2], values[:0], values[1, 2]):
        if isinstance(given, np.ndarray):
            np.testing.assert_array_equal(make(Foreign(given)), given)
    assert make(Foreign(np.ones(2, bool))).dtype == bool
    with jax.enable_x64(False):
        assert make(Foreign(np.asarray([3]))).dtype == "int32"
        with pytest.raises(OverflowError, match="must fit int32"):
            make(Foreign(np.asarray([2**40])))
    with pytest.raises(BufferError, match=make.__name__ + ".* cannot be handed on by DLPack: kept"):
        make(Unwilling(np.ones(2)))


class Named(Foreign):
    """One that says its dtype, as those of PyTorch and CuPy do."""

    @property
    def dtype(self):
        return self.values.dtype


@pytest.mark.parametrize("make", [functx.asarray, functx.from_dlpack])
@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "complex128"])
def test_numbers_that_would_be_narrowed_are_not_copied_against_ones_will(make, dtype):
    given = Named(np.ones(16, dtype))
    with jax.enable_x64(False):
        assert make(given).dtype.itemsize == given.dtype.itemsize // 2
        with pytest.raises(ValueError, match="cannot become an array without a copy"):
            make(given, copy=False)


def aligned(n):
    """Ones, where XLA's own memory could be."""
    memory = np.ones(n + 16, "float32")
    start = -(memory.ctypes.data // 4) % 16
    return memory[start : start + n]


def test_dtype_device_and_copy_of_arrays_that_speak_dlpack():
    given = Foreign(aligned(64))
    if jax.default_backend() == "cpu":
        shared = functx.asarray(given, copy=False)
        assert shared.unsafe_buffer_pointer() == given.values.ctypes.data
    made = functx.asarray(given, dtype=functx.bfloat16, device="cpu")
    assert made.dtype == "bfloat16" and made.devices() == {jax.devices("cpu")[0]}
    with pytest.raises(ValueError, match="asarray: `obj` cannot become bfloat16 without a copy"):
        functx.asarray(given, dtype=functx.bfloat16, copy=False)
    with pytest.raises(ValueError, match="asarray: `obj` cannot become an array without a copy"):
        functx.asarray(Foreign(np.ones((4, 4))[:, ::2]), copy=False)
    copies = functx.tensor(given), functx.asarray(given, copy=True)
    copies += (functx.from_dlpack(given, copy=True),)
    given.values[0] = 7
    assert [float(x[0]) for x in copies] == [1, 1, 1]

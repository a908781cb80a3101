"""Arrays that leave and enter: PyTorch's, files, processes."""

import jax
import numpy as np
import pytest

import functx

from .libraries import library


pytestmark = pytest.mark.filterwarnings("default")


def test_tensors_share_memory_where_they_can():
    torch = library("torch", extra="parity")
    tensor = torch.arange(64.0).reshape(8, 8)
    x = functx.asarray(tensor, copy=False)
    assert x.unsafe_buffer_pointer() == tensor.data_ptr()
    y = jax.block_until_ready(functx.mul(x, 2))
    assert torch.from_dlpack(y).data_ptr() == y.unsafe_buffer_pointer()
    for given in (tensor.t(), tensor[2:]):
        assert functx.asarray(given, copy=False).unsafe_buffer_pointer() == given.data_ptr()
    for given in (tensor[:, ::2], tensor.reshape(-1)[1:], tensor.double()):
        np.testing.assert_array_equal(functx.asarray(given), given)
        with pytest.raises(ValueError, match="cannot become an array without a copy"):
            functx.asarray(given, copy=False)
    assert functx.asarray(tensor, copy=True).unsafe_buffer_pointer() != tensor.data_ptr()
    with pytest.raises(TypeError, match="requires grad"):
        functx.asarray(tensor.clone().requires_grad_())


def test_threads_and_processes_of_joblib():
    joblib = library("joblib")
    gradient = functx.jit(functx.grad(lambda x: functx.sin(x) * 2))
    calls = [joblib.delayed(gradient)(0.1 * i) for i in range(3)]
    want = pytest.approx([2 * np.cos(0.1 * i) for i in range(3)])
    assert list(map(float, joblib.Parallel(n_jobs=2, backend="threading")(calls))) == want
    assert list(map(float, joblib.Parallel(n_jobs=2)(calls))) == want

"""PyTorch's tensors become arrays, in the same memory where that is possible."""

import jax
import pytest

import functx


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")


def test_tensors_of_pytorch():
    for dtype in ("float32", "bool", "bfloat16", "float16", "complex64", "uint8", "int16"):
        given = torch.ones(64, dtype=getattr(torch, dtype))
        for make in (functx.asarray, functx.as_tensor, functx.from_dlpack):
            made = make(given)
            assert made.dtype == dtype and made.all()
            if jax.default_backend() == "cpu":
                assert made.unsafe_buffer_pointer() == given.data_ptr()
        assert functx.tensor(given).unsafe_buffer_pointer() != given.data_ptr()
    strided = torch.arange(8, dtype=torch.bfloat16).reshape(2, 4)[:, ::2]
    assert functx.asarray(strided).tolist() == [[0, 2], [4, 6]]
    for given in (torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2))):
        with pytest.raises(TypeError, match=r"`obj` requires grad, which ends here(.|\n)*detach"):
            functx.asarray(given)
    with pytest.raises(BufferError, match="asarray: `obj` cannot be .*layout"):
        functx.asarray(torch.eye(2).to_sparse())
    with pytest.raises(TypeError, match=r"sin: .*\n.*functx.from_dlpack\(x\) makes a JAX array"):
        functx.sin(torch.ones(2))
    with pytest.raises(TypeError, match=r"sin: .*\n.*functx.from_dlpack\(x.detach\(\)\)"):
        functx.sin(torch.ones(2, requires_grad=True))

"""What transforms say where JAX has no values, and of what other libraries made."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


X = jnp.arange(3, dtype="float32")
ASKING = {
    "if": (lambda x: x if x.sum() > 0 else -x, "functx.where(condition"),
    "item": (lambda x: x * x.sum().item(), "keep it an array"),
    "float": (lambda x: x * float(x.sum()), "keep it an array"),
    "numpy": (lambda x: x * np.asarray(x), "use the function of the same name"),
    "range": (lambda x: x * len(range(x.sum().astype(int))), "functx.select"),
    "mask": (lambda x: x[x > 0].sum(), "functx.where(mask"),
}
TRACING = {
    "vmap": lambda f: functx.vmap(f)(X[None]),
    "jacfwd": lambda f: jax.jit(functx.jacfwd(f))(X),
    "hessian": lambda f: jax.jit(functx.hessian(lambda x: f(x).sum()))(X),
    "jit": lambda f: functx.jit(f)(X),
    "grad": lambda f: jax.jit(functx.grad(lambda x: f(x).sum()))(X),
}


@pytest.mark.parametrize("asked", ASKING)
@pytest.mark.parametrize("transform", TRACING)
def test_asking_for_values_that_tracing_lacks(transform, asked):
    f, hint = ASKING[asked]
    with pytest.raises((TypeError, IndexError)) as error:
        TRACING[transform](f)
    assert type(error.value).__module__ == "jax.errors", "of the type that JAX raises"
    assert str(error.value).startswith(f"{transform}: `func` asks ")
    assert f"hint: {hint}" in str(error.value)
    assert str(error.value).count("hint:") == 1, "said once, however transforms nest"


def test_eager_gradients_have_values():
    f = lambda x: x.sum() * 2 if x.sum() > 0 else -x.sum()
    assert (functx.grad(f)(X) == 2).all()


class Tensor:
    """What PyTorch's tensors look like from outside."""

    __module__ = "torch"
    shape, dtype = (2, 3), "torch.float32"

    def detach(self):
        return self


CONVERSION = r"hint: functx.from_dlpack\(x\) makes a JAX array"


@pytest.mark.parametrize(
    "call",
    [
        lambda t: functx.grad(lambda x: x)(t),
        lambda t: functx.vjp(lambda x: x, t),
        lambda t: functx.jvp(lambda x: x, (t,), (t,)),
        lambda t: functx.jacrev(lambda x: x)(t),
        lambda t: functx.vmap(lambda x: x)(t),
        lambda t: functx.vmap(lambda x: t)(X),
        lambda t: functx.jit(lambda x: x)(t),
        lambda t: functx.sin(t),
        lambda t: functx.where(t, 1.0, X),
        lambda t: functx.where(X > 0, t, X),
        lambda t: functx.cat([X, t]),
    ],
)
def test_tensors_of_pytorch_get_the_conversion(call):
    with pytest.raises(TypeError, match=r"torch.Tensor(.|\n)*" + CONVERSION):
        call(Tensor())


def test_dtypes_of_pytorch_get_the_name():
    float32 = type("dtype", (), {"__module__": "torch", "__repr__": lambda _: "torch.float32"})()
    for call in (
        lambda: functx.zeros(2, dtype=float32),
        lambda: functx.sum(X, dtype=float32),
        lambda: functx.vmap(lambda x: functx.sum(x, dtype=float32))(X[None]),
    ):
        with pytest.raises(TypeError, match="got torch.float32\n  hint: use functx.float32"):
            call()


def test_devices_of_pytorch_get_the_string():
    device = type("device", (), {"__module__": "torch", "__str__": lambda _: "cpu"})()
    with pytest.raises(TypeError, match="hint: use device='cpu', a string"):
        functx.zeros(2, device=device)


BIG = np.asarray([2**40])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: functx.sum(BIG), "sum: `input`"),
        (lambda: functx.add(X, BIG), "add: `other`"),
        (lambda: functx.add(X, other=np.int64(-(2**31) - 1)), "add: `other`"),
        (lambda: functx.cat([BIG, BIG]), "cat: `tensors`"),
        (lambda: functx.sum(np.asarray([2**32], "uint64")), "sum: `input`"),
        (lambda: functx.vmap(lambda x: x)(BIG), r"vmap: `args\[0\]`"),
        (lambda: functx.jit(lambda x: x)(BIG), r"jit: `args\[0\]`"),
        (lambda: functx.jit(lambda x: x)(x=[BIG]), "jit: `x`"),
    ],
)
def test_integers_that_32_bits_cannot_hold_are_refused(call, message):
    with functx.x64(False):
        with pytest.raises(
            OverflowError, match=f"^{message} must fit u?int32, the widest integer, got "
        ):
            call()
    call()


def test_integers_that_fit_are_taken_with_64_bit_off():
    with functx.x64(False):
        assert functx.sum(np.asarray([2**31 - 1, -(2**31)])) == -1
        assert functx.sum(np.asarray([2**32 - 1], "uint64")).dtype == "int32"

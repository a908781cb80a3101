"""Functions with rules of their own, written once, give PyTorch's gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

Z, W = np.asarray([1 + 2j, -0.5j]), np.asarray([0.3 - 1j, 2 + 1j])
X, Y = np.asarray([0.3, -1.2]), np.asarray([[1.0, 0.5], [2.0, -3.0]])


def conjugate_product(base):
    class Product(base):
        @staticmethod
        def forward(ctx, z, w):
            ctx.save_for_backward(z, w)
            return z.conj() * w

        @staticmethod
        def backward(ctx, g):
            z, w = ctx.saved_tensors
            return g.conj() * w, g * z

    return Product


def real_of_complex(base):
    class Length(base):
        @staticmethod
        def forward(z, scale):
            return (z * z.conj()).real * scale

        @staticmethod
        def setup_context(ctx, inputs, output):
            z, ctx.scale = inputs
            ctx.save_for_backward(z)

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return 2 * g * z * ctx.scale, None

    return Length


def broadcasting(base):
    class Sum(base):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y, "name", x + 1

        @staticmethod
        def backward(ctx, g, _, h):
            x, y = ctx.saved_tensors
            return g * y + h, g * x, None

    return Sum


CASES = {
    "complex": (conjugate_product, (Z, W), ()),
    "real of complex": (real_of_complex, (Z,), (3.0,)),
    "broadcast": (broadcasting, (X, Y), ()),
}


def loss(output, absolute):
    output = output if isinstance(output, tuple) else (output,)
    arrays = [y for y in output if not isinstance(y, str)]
    return sum(((i + 1) * absolute(y) ** 3).sum() for i, y in enumerate(arrays))


@jax.numpy_dtype_promotion("standard")
@pytest.mark.parametrize("case", CASES)
def test_first_and_second_derivatives(case):
    make, arrays, rest = CASES[case]
    theirs, ours = make(torch.autograd.Function).apply, make(functx.Function).apply
    xs = [torch.tensor(x, requires_grad=True) for x in arrays]
    first = torch.autograd.grad(loss(theirs(*xs, *rest), torch.abs), xs, create_graph=True)
    second = torch.autograd.grad(sum((torch.abs(g) ** 2).sum() for g in first), xs)

    argnums = tuple(range(len(arrays)))
    gradient = functx.grad(lambda *xs: loss(ours(*xs, *rest), jnp.abs), argnums)
    penalty = lambda *xs: sum((jnp.abs(g) ** 2).sum() for g in gradient(*xs))
    for transform in (lambda f: f, jax.jit):
        got = transform(gradient)(*arrays), transform(functx.grad(penalty, argnums))(*arrays)
        for mine, their in zip(jax.tree.leaves(got), [*first, *second], strict=True):
            np.testing.assert_allclose(mine, their.detach().resolve_conj().numpy(), rtol=1e-10)

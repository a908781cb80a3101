"""Views of mutable arrays: which elements they are, what writes to them change, what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx._aot.functionalizing.geometry import Layout, packed_strides
from functx.aot import functionalize, mutable, MutableArray
from functx.testing.checks.programs import compiled


# Chains of views of an array [2, 3, 4], which NumPy has as views, too.
CHAINS = {
    "t of select": (lambda x: x.select(0, 1).t(), lambda x: x[1].T),
    "transpose, index": (lambda x: x.transpose(0, 2)[1:, ..., 0], lambda x: x.T[1:, ..., 0]),
    "permute": (lambda x: x.permute(2, 0, 1)[-1], lambda x: x.transpose(2, 0, 1)[-1]),
    "view": (lambda x: x.view(6, -1)[::2, 1:3], lambda x: x.reshape(6, 4)[::2, 1:3]),
    "narrow": (lambda x: x.narrow(2, 1, 2), lambda x: x[:, :, 1:3]),
    "steps": (lambda x: x[:, ::2, 3:0:1], lambda x: x[:, ::2, 3:0:1]),
    "negative": (lambda x: x[-1, -2:, -3], lambda x: x[-1, -2:, -3]),
    "diagonal": (
        lambda x: x.diagonal(1, 1, 2),
        lambda x: np.lib.stride_tricks.as_strided(x[:, 0, 1:], (2, 3), (96, 40)),
    ),
    "unbind": (lambda x: x.unbind(1)[2], lambda x: x[:, 2]),
    "split": (lambda x: x.split([1, 3], dim=2)[1], lambda x: x[..., 1:]),
    "chunk": (lambda x: x.chunk(2, -1)[1][0], lambda x: x[0, :, 2:]),
    "tensor_split": (lambda x: x.tensor_split(2, 1)[0], lambda x: x[:, :2]),
    "unsqueeze": (lambda x: x.unsqueeze(1)[:, :, None].squeeze(1), lambda x: x[:, None]),
    "flatten": (lambda x: x.flatten(1)[:, 5:7], lambda x: x.reshape(2, 12)[:, 5:7]),
    "unflatten": (lambda x: x.unflatten(2, (2, 2))[..., 0], lambda x: x[..., ::2]),
    "movedim": (lambda x: x.movedim(0, -1)[0], lambda x: np.moveaxis(x, 0, -1)[0]),
    "mT": (lambda x: x.mT[0], lambda x: x[0].T),
    "T": (lambda x: x.T[3], lambda x: x.T[3]),
    "reshape of a slice": (
        lambda x: x[:, :, :2].reshape(6, 2)[1:4],
        lambda x: np.lib.stride_tricks.as_strided(x[0, 1:], (3, 2), (32, 8)),
    ),
    "as_strided": (
        lambda x: x[1].as_strided((3, 2), (5, 1), 2),
        lambda x: np.lib.stride_tricks.as_strided(x.ravel()[2:], (3, 2), (40, 8)),
    ),
    "as_strided of an offset": (
        lambda x: x[1].as_strided((2,), (3,)),
        lambda x: x.ravel()[12:18:3],
    ),
    "unfold": (
        lambda x: x.unfold(2, 2, 2)[..., 1],
        lambda x: x[..., 1::2],
    ),
    "nothing": (lambda x: x[:, 3:], lambda x: x[:, 3:]),
    "expand of nothing new": (lambda x: x[0].expand(3, -1), lambda x: x[0]),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_write_through_views_is_numpys(name):
    ours, theirs = CHAINS[name]
    base, seen = np.arange(24.0).reshape(2, 3, 4), []
    view = theirs(base)
    values = 100 + np.arange(np.prod(view.shape)).reshape(view.shape)

    def f(x, values):
        other = x.view(-1)
        part = ours(x)
        assert isinstance(part, MutableArray) and part.shape == view.shape
        seen.append(tuple(8 * s for s in part.stride()))
        part.mul_(2).add_(values)
        return x, part, other, other[3]

    x, part, other, one = functionalize(f)(base, values)
    view *= 2
    view += values
    np.testing.assert_array_equal(x, base)
    np.testing.assert_array_equal(part, view)
    np.testing.assert_array_equal(other, base.ravel())
    assert one == base.ravel()[3]
    if view.size and 1 not in view.shape:
        assert seen[0] == view.strides


@pytest.mark.parametrize("name", CHAINS)
def test_derivatives_go_through_views(name):
    ours, _ = CHAINS[name]

    def f(x, y):
        part = ours(x)
        part.copy_(y * part)
        return x.sin_().sum()

    x = jnp.linspace(-1, 1, 24).reshape(2, 3, 4)
    y = jnp.asarray(1.5)

    @compiled
    def derivatives(x, y):
        tangent = functx.jvp(functionalize(f), (x, y), (jnp.cos(x), jnp.asarray(0.3)))[1]
        step = lambda h: functionalize(f)(x + h * jnp.cos(x), y + h * 0.3)
        gx, gy = functx.grad(functionalize(f), argnums=(0, 1))(x, y)
        difference = (step(1e-6) - step(-1e-6)) / 2e-6
        return tangent, difference, (gx * jnp.cos(x)).sum() + 0.3 * gy

    tangent, difference, product = derivatives(x, y)
    np.testing.assert_allclose(tangent, difference, 1e-7, 1e-8)
    np.testing.assert_allclose(tangent, product, 1e-12)


def test_metadata_changes_are_of_one_view_and_come_back():
    def f(a):
        b = a[:]
        a.t_()
        a[0].mul_(2)
        assert (a.shape, b.shape) == ((3, 2), (2, 3))
        a.unsqueeze_(1).squeeze_(1).unsqueeze_(-1).transpose_(0, 1)
        return a.squeeze(-1), b

    (c, b), (a,) = functionalize(f, return_mutated=True)(jnp.arange(6.0).reshape(2, 3))
    assert b.tolist() == [[0, 1, 2], [6, 4, 5]]
    assert (a.shape, c.tolist()) == ((2, 3, 1), b.tolist())


def test_rows_of_an_iteration_are_views():
    def f(x):
        for i, row in enumerate(x):
            row += i
        return x, len(x)

    x, n = functionalize(f)(jnp.zeros((3, 2)))
    assert (x.tolist(), n) == ([[0, 0], [1, 1], [2, 2]], 3)


def test_parts_of_complex_numbers_are_views():
    def f(z):
        z.real.add_(1)
        z.imag[0] = 5
        z.conj()[1] = 2 + 3j
        z.view_as_real()[2, 1] = -4
        z.view_as_real().view_as_complex()[2].mul_(2)
        z.real = z.real * 2
        return z

    z = functionalize(f)(jnp.zeros(3, "complex64"))
    assert z.tolist() == [2 + 5j, 4 - 3j, 4 - 8j]
    real = functionalize(lambda x: (x.real.add_(1), x.conj().mul_(2), x))(jnp.ones(2))
    assert real[-1].tolist() == [4, 4]
    matrix = functionalize(lambda z: (z.mH[0].fill_(2j), z.adjoint()[1].zero_(), z))
    assert matrix(jnp.ones((2, 2), "complex64"))[-1].tolist() == [[-2j, 0], [-2j, 0]]


@pytest.mark.parametrize("way", ["detach", "data", "no_grad"])
def test_writes_hidden_from_derivatives(way):
    def f(x):
        if way == "no_grad":
            with functx.no_grad():
                x[0].mul_(x[1])
        else:
            view = x.detach() if way == "detach" else x.data
            view[0].mul_(x[1])
        return (x**3).sum()

    x = jnp.asarray([2.0, 3.0])
    gradient, value = functx.grad_and_value(functionalize(f))(x)
    assert (value, gradient.tolist()) == (6**3 + 27, [3 * 36, 27])
    hessian = functx.hessian(functionalize(f))(x)
    np.testing.assert_allclose(hessian, [[36, 0], [0, 18]])
    through = functx.grad(functionalize(lambda x: (x.detach() * x).sum()))(x)
    assert through.tolist() == x.tolist()


def test_what_is_detached_in_place_is_a_constant():
    assert functx.grad(functionalize(lambda x: (x.detach_() ** 2).sum() + x.sum()))(
        jnp.ones(2)
    ).tolist() == [0, 0]


def test_traced_indices_make_views():
    def f(x, i):
        x[i].mul_(10)
        x[1, i - 1] = 7
        x.select(1, i).add_(1)
        return x

    x = jnp.ones((3, 3))
    for i in (0, 2, -1):
        want = functionalize(f)(x, i)
        np.testing.assert_array_equal(jax.jit(functionalize(f))(x, i), want)
        np.testing.assert_array_equal(functionalize(f, argnums=0)(x, jnp.asarray(i)), want)
    lanes = functx.vmap(functionalize(f, argnums=0), (None, 0))(x, jnp.asarray([0, 2]))
    np.testing.assert_array_equal(lanes[1], functionalize(f)(x, 2))
    with pytest.raises(IndexError, match="out of bounds for dimension 0 of size 3"):
        functionalize(f, argnums=0)(x, jnp.asarray(3))


REFUSED = {
    "expand": (lambda x: x.expand(2, 4).add_(1), "more than one element .*\n  hint: .*`expand`"),
    "expanded index": (lambda x: x.expand(2, 4)[0].add_(1), "add_: more than one element"),
    "expanded copy": (lambda x: x.expand(2, 4).copy_(1), "copy_: more than one element"),
    "windows": (lambda x: x.unfold(0, 2, 1).mul_(2), "refers to a single memory location"),
    "strides": (lambda x: x.as_strided((2, 2), (1, 1)).zero_(), "single memory location"),
    "crossing strides": (lambda x: x.as_strided((2, 2), (3, 0)).zero_(), "single memory location"),
    "strides outside": (lambda x: x.as_strided((3,), (2,)), "as_strided: "),
    "strides of parts": (lambda x: x.data.as_strided((2,), (2,)), "constants of float64 in place"),
    "no view": (lambda x: x.view(2, 2).t().view(-1), r"strides \[1, 2\]: .*\n  hint: x.reshape"),
    "bytes": (lambda x: x.view("int64"), "same bytes in another dtype"),
    "size": (lambda x: x.view(3), "reshape: .*"),
    "rows": (lambda x: x.view(2, 2).expand(3, 2), "`size` must agree with"),
    "imaginary part": (lambda x: x.imag, "imag: `imag` takes complex arrays"),
    "step": (lambda x: x[::-1], "the step of a slice must be a positive int"),
    "far": (lambda x: x[4], "out of bounds for dimension 0 of size 4"),
    "far position": (lambda x: x[jnp.asarray([0, -5])], "the index -5 is out of bounds"),
    "many": (lambda x: x[0, 0], "too many indices: 2 for the 1 dimensions"),
    "fraction": (lambda x: x[1.0], "an index must be an int, a slice"),
    "mask": (lambda x: x[jnp.asarray([True])], r"must have the shape \[4\]"),
    "shape": (lambda x: x[0].add_(x), r"output with shape \[\] doesn't match the shape \[4\]"),
    "larger": (lambda x: x.copy_(jnp.ones((2, 4))), r"must broadcast to \[4\], got f64\[2,4\]"),
    "reduction": (lambda x: x.trapezoid_(), "doesn't match"),
    "dtype": (lambda x: mutable(x.to("int32")).add_(0.5), "can't be cast"),
    "no number": (lambda x: x.copy_("one"), "the source must be an array or a number"),
    "kind": (lambda x: x.fill_(1j), "fill: "),
    "set_": (lambda x: x.set_(x), "set_: .*\n  hint: .*x.copy_"),
    "resize_": (lambda x: x.resize_(3), "resize_: .*\n  hint: .*functx.empty"),
    "_version": (lambda x: x._version, "_version: .*\n  hint: nothing counts writes"),
    "requires_grad_": (lambda x: x.requires_grad_(), "hint: arrays record nothing"),
    "near name": (lambda x: x.clam_(0), "no attribute 'clam_'\n  hint: did you mean 'clamp_'"),
    "assigned": (lambda x: setattr(x, "data", 1), r"x.data: .*\n  hint: x.data.copy_\(value\)"),
    "pickle": (lambda x: x.__reduce__(), "cannot be pickled"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_method_and_the_remedy(name):
    f, message = REFUSED[name]
    x = jnp.arange(4.0)
    with pytest.raises(Exception, match=message) as caught:
        functionalize(f)(x)
    assert type(caught.value) in (RuntimeError, IndexError, TypeError, ValueError, AttributeError)


def test_strides_are_numpys():
    rng = np.random.default_rng(0)
    for _ in range(300):
        shape = tuple(rng.integers(1, 4, rng.integers(1, 4)))
        order = tuple(int(i) for i in rng.permutation(len(shape)))
        array = np.zeros(shape, "int8").transpose(order)
        array = array[tuple(slice(None, None, int(rng.integers(1, 3))) for _ in shape)]
        geometry = Layout(array.shape, array.strides)
        n = array.size
        divisors = [d for d in range(1, n + 1) if n % d == 0]
        a = int(rng.choice(divisors))
        for target in ((n,), (a, n // a), (1, n // a, a, 1)):
            view = np.reshape(array, target)
            want = view.strides if np.shares_memory(view, array) else None
            got = geometry.reshaped(target)
            assert (got is None) == (want is None), (array.shape, array.strides, target)
            if got is not None and want is not None:
                for size, one, other in zip(target, got.strides, want, strict=True):
                    assert size == 1 or one == other
    assert packed_strides((2, 0, 3)) == (3, 3, 1)

"""In-place programs beside PyTorch: the same text in both, values, gradients and refusals."""

import functools as ft

import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

import jax.numpy as jnp
import numpy as np
from torch.utils._pytree import tree_map

import functx
from functx._aot.functionalizing.in_place import suffix_names
from functx._aot.functionalizing.refusals import REFUSED
from functx.aot import functionalize, MutableArray

from .pytorch import assert_agrees, op_db, to_functx


X = np.asarray([[0.3, -1.2, 2.0, 0.1], [1.5, 0.7, -0.4, -2.0], [0.9, 1.1, -0.8, 0.6]])
OWN = {  # methods that no operator has
    "bernoulli_",
    "copy_",
    "detach_",
    "fill_diagonal_",
    "normal_",
    "polygamma_",
    "random_",
    "zero_",
}
SPARSE = {"resize_as_sparse_", "sparse_resize_", "sparse_resize_and_clear_"}
RANDOM = {"bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_"}
RANDOM |= {"uniform_", "random_", "rrelu_", "dropout_", "dropout2d_", "dropout3d_"}
RANDOM |= {"alpha_dropout_", "feature_alpha_dropout_"}


def suffixed(of):
    return {name for name in dir(of) if name.endswith("_") and not name.startswith("_")} - {
        name for name in dir(of) if name.endswith("__")
    }


def test_every_method_of_pytorchs_that_writes_is_here_or_refused_by_name():
    ours = {*suffix_names(), *OWN}
    assert suffixed(torch.Tensor) - ours - SPARSE <= REFUSED.keys()
    assert suffixed(torch.nn.functional) <= ours
    assert len(suffixed(torch.Tensor) & ours) == 151


# Programs: functions of the library and of arrays to write to.
def buffers(of, x, y):
    mean, count = x[0], y[:, 1]
    mean.mul_(0.9).add_(y.mean(0), alpha=0.1)
    count += mean.sum()
    return x


def slices(of, x, y):
    x[1:, ::2] = y[1:, 1::2]
    x[..., -1] *= 2
    x[0][1] = 3.5
    x[None, :, 2] += 1
    return x


def arrays(of, x, y):
    at = of.tensor([2, 0])
    x[at] = y[at] * 2
    x[at, of.tensor([1, 3])] = 7
    x[:, at] += 1
    x[0, of.tensor([0, 1])] -= 2
    x[of.tensor([[0], [1]]), at] *= y[0, :2]
    x[1, None, at] = 4
    x[[1, 2], 1:3] = y[:2, :2]
    return x


def masks(of, x, y):
    x[x > 1] = 0
    x[y[:, 0] > 0] += 1
    x[y > 0] = -x[y > 0]
    x[:, of.tensor([True, False, True, False])] = y[:, :1]
    x[of.tensor([True, False, True]), 1] = 3
    x[True] *= 2
    x.masked_fill_(x < -1, -1)
    return x


def views(of, x, y):
    x.t()[1].mul_(0.5)
    x.view(-1)[3:7].mul_(y.view(-1)[3:7])
    x.transpose(0, 1).diagonal(1).sin_()
    x.unsqueeze(0).squeeze(0).narrow(1, 1, 2).add_(y[:, :1])
    x.as_strided((2, 2), (5, 1), 1).copy_(y[:2, :2])
    x[:, 2:].clamp_(-0.5, 0.5)
    x.unflatten(1, (2, 2)).movedim(0, 1)[1].neg_()
    x.unfold(1, 2, 2)[..., 0].mul_(3)
    return x


def pieces(of, x, y):
    for row in x.unbind(1)[2:]:
        row.clamp_(-0.5, 0.5)
    first, second = x.split([1, 3], dim=1)
    first.sub_(second.sum(1, keepdim=True))
    x.chunk(2, 1)[1].T[0] *= 2
    x.tensor_split((1, 2))[1].floor_()
    x[1] //= 0.7
    for row in x:
        row += y[0]
    return x


def metadata(of, x, y):
    x.t_()
    x[0].mul_(2)
    x.unsqueeze_(0).transpose_(1, 2)
    x.squeeze_(0)
    x.mT[1] = y[:, 1]
    return x.view(-1) if x.is_contiguous() else x.reshape(-1)


def reshape_copies(of, x, y):
    a, b = x.t().reshape(-1), x.reshape(-1)
    b[2:4] = y[0, 0]
    return a + x.t().flatten()


def outputs(of, x, y):
    return x, x.t(), x[0], x.add_(y), x.view(2, 6)[1]


def python_operators(of, x, y):
    x += y
    x -= 1
    x *= 2 - y
    x /= y * y + 1
    x[0] **= 2
    x[2] %= 0.4
    return x * (x > y) + (-x) @ y.T @ abs(x) + 2 / (1 + x * x)


def hidden(of, x, y):
    x.detach()[0].mul_(3)
    with of.no_grad():
        x[1].add_(y[1])
    x.mul_(y)
    return x


def intermediate(of, x, y):
    z = of.clone(x * y)
    z[0].mul_(x[1])
    z.view(-1)[5] = x.sum()
    w = z * 2
    z[1:].zero_()
    return w + z * y


def fills(of, x, y):
    x.fill_diagonal_(2)
    x[1].fill_(y[0, 0])
    x[2].zero_()
    x.copy_(2 * y)
    x[:, 0].copy_(y[0, 0])
    return x


def accumulates(of, x, y):
    at = of.tensor([0, 2, 0])
    x.index_add_(0, at, y)
    x.scatter_add_(1, of.tensor([[0, 1, 1, 3]]), y[:1])
    x.index_put_((at, at), y[:, 0], accumulate=True)
    x.index_copy_(1, of.tensor([3]), y[:, :1])
    return x.cumsum_(0).tril_(1)


PROGRAMS = (buffers, slices, arrays, masks, views, metadata, reshape_copies, outputs)
PROGRAMS += (python_operators, hidden, intermediate, fills, accumulates)
# What PyTorch's tape does not differentiate: writes to outputs of functions with several views.
WITHOUT_GRADIENTS = (pieces,)


class Ours:
    """functx by PyTorch's names. A clone that is to be written is a mutable array."""

    clone = staticmethod(functx.aot.mutable)
    no_grad = staticmethod(functx.no_grad)
    tensor = staticmethod(jnp.asarray)


def leaves(output):
    return output if isinstance(output, tuple) else (output,)


def loss(output):
    return sum((k + 1.5) * (y * y).sum() for k, y in enumerate(leaves(output)))


@pytest.mark.parametrize(
    "program", (*PROGRAMS, *WITHOUT_GRADIENTS), ids=lambda program: program.__name__
)
def test_programs_give_pytorchs_values_arguments_and_gradients(program):
    y = np.cos(3 * X)
    differentiated = program not in WITHOUT_GRADIENTS
    tensors = [torch.tensor(a, requires_grad=differentiated) for a in (X, y)]
    inside = [a * 1 for a in tensors]
    want = program(torch, *inside)
    run = functionalize(ft.partial(program, Ours), return_mutated=True)
    got, mutated = run(X, y)
    for a, b in zip((*leaves(got), *mutated), (*leaves(want), *inside), strict=True):
        assert_agrees(a, b.detach(), program.__name__, {"float64": 1e-12})
    if differentiated:
        gradients = torch.autograd.grad(loss(want), tensors)
        total = lambda x, y: loss(run(x, y)[0])
        for a, b in zip(functx.grad(total, argnums=(0, 1))(X, y), gradients, strict=True):
            np.testing.assert_allclose(a, b, 1e-10, 1e-10)


DTYPES = (torch.float32, torch.int32, torch.complex64)


def in_place_samples(entry, dtype, most):
    if dtype not in entry.supported_dtypes("cpu"):
        return []
    samples = [s for s in entry.sample_inputs("cpu", dtype) if not s.broadcasts_input]
    return samples[:: max(1, len(samples) // most)][:most]


ENTRIES = {}
for entry in op_db:
    if entry.inplace_variant is not None:
        name = getattr(entry.inplace_variant, "__name__", "<lambda>")
        name = f"{entry.name.rpartition('.')[2]}_" if name == "<lambda>" else name
        if name in suffix_names() or name in OWN:
            ENTRIES.setdefault(name, entry)


def check_operator(name, dtype, most):
    entry = ENTRIES[name]
    for sample in in_place_samples(entry, dtype, most):
        kwargs = {k: v for k, v in sample.kwargs.items() if k != "generator"}
        tensor = sample.input.clone()
        try:
            entry.inplace_variant(tensor, *sample.args, **kwargs)
        except (RuntimeError, NotImplementedError, TypeError) as error:
            tensor, why = None, error
        args, named = tree_map(to_functx, (sample.args, kwargs))
        run = functionalize(ft.partial(written, name, args, named))
        if tensor is None:
            with pytest.raises((RuntimeError, TypeError)):
                pytest.fail(f"PyTorch: {why}; here {run(to_functx(sample.input))}")
        else:
            got = run(to_functx(sample.input))
            want = tensor if name not in RANDOM else torch.as_tensor(np.array(got))
            near = {"float32": 2e-4, "complex64": 2e-4}
            assert_agrees(got, want.reshape(tensor.shape).to(tensor.dtype), name, near)


def written(name, args, kwargs, x):
    getattr(x, name)(*args, **kwargs)
    return x


# PyTorch says of some that they are in beta, or what a rank means.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ENTRIES)
def test_operators_write_and_refuse_as_pytorchs(name):
    check_operator(name, torch.float32 if torch.float32 in dtypes_of(name) else torch.int32, 1)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
# PyTorch says of some that they are in beta, or what a rank means.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ENTRIES)
def test_operators_write_and_refuse_as_pytorchs_in_every_kind(name, dtype):
    check_operator(name, dtype, 3)


def dtypes_of(name):
    return ENTRIES[name].supported_dtypes("cpu")


# A method, and an array and an argument that PyTorch refuses to write, or writes.
INT, BOOL, FLOAT = np.arange(3), np.ones(3, bool), np.linspace(-1, 1, 3)
CASTS = {
    "float into int": (INT, lambda x, of: x.add_(1.5)),
    "float array into int": (INT, lambda x, of: x.mul_(of.tensor(FLOAT))),
    "true division of int": (INT, lambda x, of: x.div_(2)),
    "floor division of int": (INT, lambda x, of: x.floor_divide_(2)),
    "int into bool": (BOOL, lambda x, of: x.add_(1)),
    "comparison into float": (FLOAT, lambda x, of: x.gt_(0)),
    "comparison into int": (INT, lambda x, of: x.eq_(1)),
    "logic into bool": (BOOL, lambda x, of: x.logical_and_(of.tensor(BOOL))),
    "complex into float": (FLOAT, lambda x, of: x.add_(1j)),
    "float of int": (INT, lambda x, of: x.sin_()),
    "wider array": (FLOAT, lambda x, of: x[0].add_(of.tensor(FLOAT))),
    "fraction copied into int": (INT, lambda x, of: x.copy_(of.tensor(FLOAT))),
    "fraction filled into int": (INT, lambda x, of: x.fill_(1.5)),
    "fraction written into int": (INT, lambda x, of: x.__setitem__(0, 2.7)),
    "complex written into float": (FLOAT, lambda x, of: x.__setitem__(0, 2j)),
    "other dtype at positions": (INT, lambda x, of: x.__setitem__([0, 1], of.tensor(FLOAT[:2]))),
    "same position twice": (INT, lambda x, of: x.index_add_(0, of.tensor([0, 0]), x[:2] * 1)),
    "beyond the end": (INT, lambda x, of: x.__setitem__(3, 1)),
    "positions beyond": (INT, lambda x, of: x.__setitem__(of.tensor([5]), 1)),
    "mask of another size": (INT, lambda x, of: x.__setitem__(of.tensor([True]), 1)),
    "too few for a mask": (INT, lambda x, of: x.__setitem__(x > 0, of.tensor(INT))),
    "wide value": (INT, lambda x, of: x.__setitem__(slice(1), of.tensor(INT))),
    "leading ones": (INT, lambda x, of: x.__setitem__(slice(2), of.tensor(INT[None, None, :2]))),
    "step back": (INT, lambda x, of: x.__setitem__(slice(None, None, -1), 0)),
    "expanded": (INT[:1], lambda x, of: x.expand(3).add_(1)),
    "view of strides": (INT[:2], lambda x, of: x.view(1, 2).t().view(2).add_(1)),
    "no view": (np.ones((2, 3)), lambda x, of: x.t().view(6).add_(1)),
    "shape that grows": (FLOAT, lambda x, of: x.add_(of.tensor(np.ones((2, 3))))),
    "out of range": (np.ones(2, "int8"), lambda x, of: x.fill_(300)),
}


@pytest.mark.parametrize("case", CASTS)
def test_what_is_written_and_refused_is_pytorchs(case):
    array, write = CASTS[case]
    tensor = torch.tensor(array)
    try:
        write(tensor, torch)
    except (RuntimeError, IndexError, TypeError, ValueError):
        with pytest.raises((RuntimeError, IndexError, TypeError, ValueError)):
            functionalize(lambda x: write(x, Ours))(array)
        return
    run = functionalize(lambda x: (write(x, Ours), None)[1], return_mutated=True)
    assert_agrees(run(array)[1][0], tensor, case, {})


def test_a_plain_array_has_none_of_these():
    assert not any(hasattr(jnp.ones(2), name) for name in ("add_", "copy_", "zero_"))
    assert hasattr(MutableArray, "__iadd__")

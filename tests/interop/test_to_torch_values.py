"""`to_torch`: what goes in and comes out, in which memory, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.interop import to_torch


torch = pytest.importorskip("torch", reason="pip install '.[torch]' brings torch")

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"


@pytest.mark.parametrize("name", DTYPES.split())
def test_dtypes_come_back(name):
    given = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(torch, name))
    back = to_torch(lambda x: x[::-1])(given)
    assert back.dtype == given.dtype and torch.equal(back, given.flip(0))


LAID_OUT = {
    "0-d": torch.tensor(3.0),
    "empty": torch.zeros(0, 3),
    "strided": torch.arange(24.0).reshape(4, 6)[:, ::2],
    "transposed": torch.arange(24.0).reshape(4, 6).t(),
    "expanded": torch.arange(4.0)[:, None].expand(4, 3),
    "at an odd address": torch.arange(9.0)[1:],
    "conjugated lazily": torch.tensor([1 + 2j, -3j]).conj(),
    "negated lazily": torch.tensor([1 + 2j, -3j]).conj().imag,
    "a parameter": torch.nn.Parameter(torch.arange(4.0)),
}


@pytest.mark.parametrize("given", LAID_OUT.values(), ids=LAID_OUT)
def test_tensors_as_they_lie_in_memory(given):
    double = to_torch(lambda x: x + x)
    assert torch.equal(double(given), given + given)
    lies = given.detach().requires_grad_()
    weights = double(torch.ones_like(lies)).conj()
    ours = torch.autograd.grad((double(lies) * weights).abs().sum(), lies)
    theirs = torch.autograd.grad(((lies + lies) * weights).abs().sum(), lies)
    assert torch.allclose(ours[0], theirs[0])


def test_memory_is_shared_where_it_can_be():
    from functx._interop.to_torch.tensors import as_array, as_tensor

    x = torch.arange(64.0)
    array = as_array("x", x)
    assert array.unsafe_buffer_pointer() == x.data_ptr() == as_tensor(array).data_ptr()


def test_no_result_shares_memory_with_anything_else():
    constant = jnp.arange(64.0)
    x, y = torch.ones(64, requires_grad=True), torch.ones(64, requires_grad=True)

    def function(x, y):
        z = functx.exp(x)
        return x, y, z, z, constant

    results = to_torch(function)(x, y)
    cotangents = torch.ones(64), torch.ones(64)
    gradients = torch.autograd.grad(to_torch(lambda x, y: (x + y, x))(x, y), (x, y), cotangents)
    other = [x, y, *cotangents]
    places = [t.data_ptr() for t in (*results, *gradients, *other)]
    places.append(constant.unsafe_buffer_pointer())
    assert len(set(places)) == len(places)


def test_without_jit():
    x = torch.ones(64, requires_grad=True)
    with jax.disable_jit():
        y = to_torch(lambda x: x if x.sum() > 0 else -x)(x)
        y.sum().backward()
    assert y.data_ptr() != x.data_ptr() and torch.equal(x.grad, torch.ones(64))


def test_a_residual_is_no_result_that_may_be_written_to():
    x = torch.ones(64, requires_grad=True)
    y = to_torch(functx.exp)(x)
    z = y * 1
    y.data.zero_()
    z.sum().backward()
    assert torch.allclose(x.grad, torch.ones(64).exp())


def test_trees_in_and_out():
    def function(weights, *rest, scale, how="twice", shape=None):
        (a, b), none = rest
        assert isinstance(how, str) and none is None and (shape is None or shape == (3,))
        assert isinstance(scale, (int, jax.Array))
        out = weights["w"] * scale + a["x"] + b
        return {"out": [out, (None, {"again": out, "sum": functx.sum(out)})], "number": 3}

    w, a, b = torch.ones(3), torch.full((3,), 2.0), torch.tensor(5.0)
    for scale in (4, torch.tensor(4.0), np.float32(4), jnp.float32(4)):
        shape = None if scale is not None else torch.Size([3])
        out = to_torch(function)({"w": w}, [{"x": a}, b], None, scale=scale, shape=shape)
        first, (none, rest) = out["out"]
        assert none is None and out["number"].item() == 3
        assert torch.equal(first, torch.full((3,), 11.0)) and torch.equal(first, rest["again"])
        assert rest["sum"].item() == 33
    named = to_torch(lambda x: functx.max(x, 0))(torch.tensor([1.0, 4.0]))
    assert named.values.item() == 4 and named.indices.dtype == torch.int64


def test_what_is_no_array_is_static():
    seen = []

    def function(x, option):
        seen.append(option)
        return x + 0 * (option if isinstance(option, (int, float)) else 0)

    static, x = to_torch(function), torch.ones(2)
    for option in (1, 1.0, True, 1, 0.0, -0.0, 0.0, "a", None, np.dtype("int8"), "a"):
        static(x, option)
    assert [repr(option) for option in seen] == [
        *("1", "1.0", "True", "0.0", "-0.0", "'a'", "None", "dtype('int8')")
    ]


def test_programs_are_kept_by_shape_and_dtype():
    traced = []
    f = to_torch(lambda x: (traced.append(x.shape), x * 2)[1])
    for shape in ((2,), (3,), (2,), (3,)):
        f(torch.ones(shape))
    f(torch.ones(2, dtype=torch.float64))
    assert traced == [(2,), (3,), (2,)]


def run_backward(f, x):
    f(x, "backward").sum().backward()


def run_twice_backward(f, x):
    grad = torch.autograd.grad(f(x, "twice").sum(), x, create_graph=True)[0]
    grad.sum().backward()


USES = {
    "backward": run_backward,
    "twice": run_twice_backward,
    "forward": lambda f, x: torch.func.jvp(lambda x: f(x, "forward"), (x,), (x,)),
    "vmap": lambda f, x: torch.func.vmap(lambda x: f(x, "vmap"))(x),
}


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_function_goes_with_its_programs(use):
    """The labels are arguments that no other call has: JAX keeps the first of equal calls."""
    import gc
    import weakref

    class Squared:
        def __call__(self, x, label):
            return x * x

    function = Squared()
    gone = weakref.ref(function)
    use(to_torch(function), torch.ones(2, requires_grad=True))
    del function
    gc.collect()
    assert gone() is None


ONES, SPARSE = torch.ones(2), torch.eye(2).to_sparse()
ASKS = jax.errors.TracerBoolConversionError
REFUSALS = {
    "operator": (lambda x: functx.mm(x, x), (ONES,), RuntimeError, "^mm: `input` must have 2"),
    "hash": (lambda x, y: x, (ONES, {1}), TypeError, r"to_torch: `args\[1\]` must be a tensor"),
    "layout": (lambda x: x["a"], ({"a": SPARSE},), BufferError, r"to_torch: `args\[0\]\['a'\]"),
    "string": (lambda x: [x, "a"], (ONES,), TypeError, r"to_torch: `output\[1\]` must.*got 'a'"),
    "key": (lambda x: jax.random.key(0), (ONES,), TypeError, "must be an array(.|\n)*key_data"),
    "nothing": (lambda x: {}, (ONES,), TypeError, "to_torch: `func` must return at least one"),
    "truth": (lambda x: x if x[0] else -x, (ONES,), ASKS, "^to_torch: `func` asks whether"),
}


@pytest.mark.parametrize("function, args, error, match", REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_refusals(function, args, error, match, requires_grad):
    first, *rest = args
    if requires_grad and isinstance(first, torch.Tensor):
        first = first.clone().requires_grad_()
    with pytest.raises(error, match=match):
        to_torch(function)(first, *rest)


def test_errors_of_the_function_keep_their_words():
    error = KeyError("mine")

    def function(x):
        raise error

    with pytest.raises(KeyError) as raised:
        to_torch(function)(torch.ones(2, requires_grad=True))
    assert raised.value is error
    with pytest.raises(TypeError, match="to_torch: `func` must be callable, got 3"):
        to_torch(3)


def test_digits_are_not_lost_without_64_bit():
    same = to_torch(lambda *, tree: tree)
    with functx.x64(False):
        for dtype in (torch.float64, torch.complex128):
            with pytest.raises(TypeError, match=r"`kwargs\['tree'\]\[0\]` .*\n.*x64\(\)"):
                same(tree=[torch.ones(2, dtype=dtype)])
        with pytest.raises(OverflowError, match=r"must fit int32.*\n.*enable_x64"):
            same(tree=torch.tensor([2**40]))
        assert same(tree=torch.tensor([2**30])).dtype == torch.int32

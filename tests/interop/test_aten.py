"""All of PyTorch's operators: each has something here that stands for it, or a family that says why
not."""

import inspect
import re
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from functx._core import OPERATORS
from functx._interop.from_torch.aten.binding import declared_operator, lacks
from functx._interop.from_torch.aten.left_out import family_of_name, left_out
from functx._interop.from_torch.aten.other_names import HIGHER_ORDER, OTHER_NAMES
from functx.interop import from_torch


torch = pytest.importorskip("torch", reason="models are imported from an installed PyTorch")

from functx._interop.from_torch.torch_side.reading import aten_schema  # noqa: E402


SCHEMAS = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::")]


def test_every_operator_is_mapped_or_left_out():
    unknown = []
    for schema in map(aten_schema, SCHEMAS):
        names = [name for name, _ in schema.arguments]
        if lacks(schema.name, schema.overload, names) != [] and left_out(schema) is None:
            unknown.append(f"{schema.name}.{schema.overload}")
    assert unknown == []


def test_no_operator_of_the_table_is_left_out():
    """A rule about names must not take what is mapped."""
    names = {key.partition(".")[0] for key in OTHER_NAMES}
    assert {name for name in names if family_of_name(name) is not None} == set()


def test_the_table_has_no_idle_entry():
    overloads = {f"{s.name[6:]}.{s.overload_name}" for s in SCHEMAS}
    names = {s.name[6:] for s in SCHEMAS} | NOT_LISTED
    assert [key for key in OTHER_NAMES if key not in overloads | names] == []
    assert all(entry.reason for entry in OTHER_NAMES.values())


# Of PyTorch's dispatcher, which lists schemas of symbolic numbers apart.
NOT_LISTED = {"_make_dep_token"}


def test_functions_of_the_table_take_atens_names():
    """Those that take any name are looked at by their tests."""
    for schema in map(aten_schema, SCHEMAS):
        entry = OTHER_NAMES.get(f"{schema.name}.{schema.overload}") or OTHER_NAMES.get(schema.name)
        if entry is None or entry.function is None or left_out(schema) is not None:
            continue
        taken = inspect.signature(entry.function).parameters
        if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            continue
        ignored = {"generator", "dtype", "layout", "device", "pin_memory", "memory_format"}
        names = {"input" if name == "self" else name for name, _ in schema.arguments}
        assert names - ignored - {"non_blocking"} <= set(taken), f"{schema.name}.{schema.overload}"


def test_the_table_names_operators_of_the_catalog():
    folder = Path(inspect.getfile(family_of_name)).parent
    for path in folder.glob("*.py"):
        for name in re.findall(r'(?:OPERATORS\[|_named\()\s*"([^"]+)"', path.read_text()):
            assert name in OPERATORS, f"{path.name}: {name}"


def test_names_are_found_by_what_the_catalog_declares():
    for aten, name in {
        "add": "add",
        "linalg_inv": "linalg.inv",
        "special_erfcx": "special.erfcx",
        "fft_rfft": "fft.rfft",
        "silu": "nn.functional.silu",
        "absolute": "abs",
    }.items():
        assert declared_operator(aten).name == name
    assert declared_operator("no_such_operator") is None
    assert HIGHER_ORDER.keys() >= {"cond", "while_loop", "scan", "map_impl"}


F = torch.nn.functional
x3 = lambda *shape: torch.linspace(-2, 3, int(np.prod(shape)), dtype=torch.float64).reshape(shape)


def assigned():
    """A write in another dtype, and of one value into many places."""
    out = torch.zeros(4, 3, dtype=torch.float32)
    out[1:3] = x3(3)
    out[0, 1:].copy_(torch.tensor([7]))
    return out


# Calls whose options or signatures are not PyTorch's Python ones in ATen.
CALLS = {
    "bicubic": lambda: F.interpolate(x3(1, 2, 4, 5), scale_factor=1.5, mode="bicubic"),
    "bilinear": lambda: F.interpolate(
        x3(1, 2, 4, 5), size=(7, 3), mode="bilinear", align_corners=True
    ),
    "antialias": lambda: F.interpolate(
        x3(1, 2, 6, 8), size=(3, 5), mode="bilinear", antialias=True
    ),
    "nearest": lambda: F.interpolate(x3(1, 2, 5), scale_factor=2.5),
    "reflect": lambda: F.pad(x3(1, 2, 4, 5), (1, 2, 0, 3), mode="reflect"),
    "replicate": lambda: F.pad(x3(2, 4), (1, 2), mode="replicate"),
    "circular": lambda: F.pad(x3(1, 2, 4), (1, 2), mode="circular"),
    "pool": lambda: F.max_pool2d(x3(1, 2, 5, 5), 2, ceil_mode=True, return_indices=True),
    "adaptive": lambda: F.adaptive_max_pool2d(x3(1, 2, 5, 5), 2),
    "unpool": lambda: F.max_unpool1d(x3(1, 2, 3), torch.tensor([[[0, 3, 5], [1, 2, 4]]]), 2),
    "transposed": lambda: F.conv_transpose2d(x3(1, 2, 4, 4), x3(2, 3, 3, 3), stride=2),
    "same": lambda: F.conv1d(x3(1, 2, 7), x3(3, 2, 3), padding="same"),
    "selu": lambda: F.selu(x3(6)),
    "celu": lambda: F.celu(x3(6), 0.7),
    "elu": lambda: F.elu(x3(6), 0.7),
    "logsigmoid": lambda: F.logsigmoid(x3(6)),
    "losses": lambda: (
        F.cross_entropy(x3(4, 3), torch.tensor([0, 2, 1, 1]), reduction="sum"),
        F.nll_loss(x3(4, 3), torch.tensor([0, 2, 1, 1]), reduction="none"),
        F.binary_cross_entropy_with_logits(x3(6), x3(6) / 3, pos_weight=x3(6)),
        F.smooth_l1_loss(x3(6), x3(6) * 2, reduction="sum", beta=0.5),
        F.huber_loss(x3(6), x3(6) * 2, delta=0.5),
    ),
    "embedding bag": lambda: F.embedding_bag(
        torch.tensor([1, 0, 2, 2]), x3(3, 4), torch.tensor([0, 3]), mode="max"
    ),
    "padding row": lambda: F.embedding(torch.tensor([2, 0]), x3(3, 4), padding_idx=-1),
    "variances": lambda: (x3(6).var(), x3(2, 3).std(1, unbiased=False), torch.var_mean(x3(6))),
    "norms": lambda: (x3(2, 3).norm(), torch.linalg.norm(x3(2, 3), "nuc"), x3(6).norm(p=3)),
    "weight norm": lambda: torch._weight_norm(x3(3, 4), x3(3, 1) + 3, 0),
    "splits": lambda: (*x3(7, 2).split(3), *x3(7).split([2, 5]), *x3(7).chunk(2)),
    "indices": lambda: (
        x3(3, 4, 5)[:, torch.tensor([1, 0]), torch.tensor([2, 3])],
        x3(3, 4, 5)[torch.tensor([1]), :, torch.tensor([-2])],
        x3(3, 4)[torch.tensor([[0], [2]])],
    ),
    "writes": lambda: torch.zeros(3, 4).index_put(
        (torch.tensor([0, 0]), torch.tensor([1, 1])), torch.ones(2), accumulate=True
    ),
    "assigned": assigned,
    "ranges": lambda: (torch.arange(3), torch.arange(1, 4), torch.arange(1.0, 2.0, 0.25)),
    "casts": lambda: (x3(6).int(), x3(6).bool(), x3(6).to(torch.complex64), x3(6).byte()),
    "steps": lambda: (x3(6)[1:-1:2], x3(2, 6).narrow(1, 2, 3), x3(2, 3).T),
    "fft": lambda: (torch.fft.rfft(x3(6), norm="ortho"), torch.fft.irfft(torch.fft.fft(x3(6)), 5)),
    "windows": lambda: torch.stft(
        x3(40), 8, window=torch.ones(8, dtype=torch.float64), return_complex=True
    ),
    "products": lambda: (
        torch.einsum("ij,kj->ik", x3(2, 3), x3(4, 3)),
        torch.tensordot(x3(2, 3, 4), x3(3, 2), ([0, 1], [1, 0])),
        torch.cdist(x3(3, 2), x3(4, 2)),
        F.bilinear(x3(2, 3), x3(2, 4), x3(5, 3, 4)),
    ),
    "attention": lambda: F.scaled_dot_product_attention(
        x3(1, 4, 3, 2), x3(1, 2, 3, 2), x3(1, 2, 3, 2), is_causal=True, enable_gqa=True, scale=0.3
    ),
    "softmax": lambda: (torch.softmax(x3(2, 3), 0), F.log_softmax(x3(6), 0, dtype=torch.float32)),
    "uniques": lambda: (torch.bitwise_and(torch.tensor([5, 6]), 3), torch.tensor([3]) << 2),
    "extremes": lambda: (*torch.aminmax(x3(2, 3), dim=1), *x3(2, 3).sort(descending=True)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_under_atens_signatures(name):
    class Calling(torch.nn.Module):
        def forward(self):
            return CALLS[name]()

    want = CALLS[name]()
    want = list(want) if isinstance(want, (tuple, list)) else [want]
    got = from_torch(Calling())({})
    got = list(got) if isinstance(got, (tuple, list)) else [got]
    flat = lambda xs: [y for x in xs for y in (x if isinstance(x, tuple) else (x,))]
    for ours, theirs in zip(flat(got), flat(want), strict=True):
        assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
        np.testing.assert_allclose(ours, theirs.numpy(), 1e-6, 1e-9)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of run_decompositions about itself
@pytest.mark.parametrize("decompose", [True, False], ids=["core", "training"])
def test_programs_of_other_operator_sets(decompose):
    """Programs that were lowered to core ATen, and such as `export` writes first."""
    from .modules import Convolutional, seeded, tensor

    module = seeded(Convolutional).eval()
    exported = torch.export.export(module, (tensor(2, 3, 9, 9),))
    model = from_torch(exported.run_decompositions() if decompose else exported)
    got = model(model.params, jnp.asarray(tensor(2, 3, 9, 9).numpy()))
    np.testing.assert_allclose(got, module(tensor(2, 3, 9, 9)).detach(), 1e-12, 1e-12)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of run_decompositions about itself
def test_core_aten_of_an_encoder():
    from .modules import encoder, seeded, tensor

    module = seeded(encoder).eval()
    exported = torch.export.export(module, (tensor(2, 5, 8),)).run_decompositions()
    model = from_torch(exported)
    got = model(model.params, jnp.asarray(tensor(2, 5, 8).numpy()))
    np.testing.assert_allclose(got, module(tensor(2, 5, 8)).detach(), 1e-12, 1e-12)

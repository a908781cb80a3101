"""Autocast declarations are PyTorch's: entry by entry of its lists, and by what it returns."""

import contextlib
import operator
import zlib

import jax
import numpy as np
import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

from torch.testing._internal.autocast_test_lists import AutocastCPUTestLists, AutocastTestLists

import functx
from functx._core import Autocast, REGISTRY
from functx.amp import autocast
from functx.testing.checks.cases import sized, whole_function

from .autocast_answers import answer, in_float, LOWER, region
from .pytorch import to_functx
from .record_dtypes import families, pytorchs


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

# PyTorch's names of kernels, of one that functx has under another name.
RENAMED = {
    "_grid_sampler_2d_cpu_fallback": "grid_sampler_2d",
    "_lu_with_info": "lu",
    "cross_entropy_loss": "nn.functional.cross_entropy",
    "frobenius_norm": "linalg.matrix_norm",
    "inverse": "linalg.inv",
    "multilabel_margin_loss_forward": "nn.functional.multilabel_margin_loss",
    "nll_loss2d": "nn.functional.nll_loss",
    "nuclear_norm": "linalg.matrix_norm",
    "orgqr": "linalg.householder_product",
    "reflection_pad1d": "nn.functional.pad",
    "reflection_pad2d": "nn.functional.pad",
    "replication_pad1d": "nn.functional.pad",
    "replication_pad2d": "nn.functional.pad",
    "replication_pad3d": "nn.functional.pad",
    **{f"upsample_{kind}": "nn.functional.interpolate" for kind in ("bicubic2d", "bilinear2d")},
    **{f"upsample_{kind}": "nn.functional.interpolate" for kind in ("linear1d", "trilinear3d")},
    **{f"upsample_nearest{n}d": "nn.functional.interpolate" for n in (1, 2, 3)},
    **{f"_upsample_nearest_exact{n}d": "nn.functional.interpolate" for n in (1, 2, 3)},
    **{f"_upsample_{kind}2d_aa": "nn.functional.interpolate" for kind in ("bicubic", "bilinear")},
}
# Kernels that functx has no operator for.
NO_OPERATOR = {
    "_addmm_activation",
    "_convolution",
    "_native_multi_head_attention",
    "_scaled_dot_product_flash_attention",
    "_thnn_fused_gru_cell",
    "_thnn_fused_lstm_cell",
    "convolution",
    "cudnn_convolution",
    "cudnn_convolution_transpose",
    "fake_quantize_per_tensor_affine",
    "mkldnn_rnn_layer",
}
# What functx declares otherwise, and why.
KEPT = {"nn.functional.pad": "only moves numbers, which halves hold"}
KEPT_WHY = (
    "PyTorch casts the parts of a function of many steps one by one, functx computes it whole"
)
# Where PyTorch's results have other dtypes, and why. The declaration is the other device's, or that
# of the calls that take time.
OTHERS = {
    ("affine_grid_generator", "cuda"): "has a product on GPUs; its description without values none",
    ("corrcoef", "cpu"): KEPT_WHY,
    ("cov", "cpu"): KEPT_WHY,
    ("inner", "cpu"): "of vectors PyTorch computes it as `dot`, which is kept",
    ("linalg.matrix_power", "cpu"): KEPT_WHY,
    ("linalg.matrix_power", "cuda"): KEPT_WHY,
    ("linalg.pinv", "cpu"): KEPT_WHY,
    ("lobpcg", "cpu"): KEPT_WHY,
    ("nn.functional.local_response_norm", "cpu"): "averages over planes are kept, over volumes not",
    ("nn.functional.max_pool3d", "cpu"): "with indices it is another kernel, which is not listed",
    ("native_batch_norm", "cuda"): "statistics are float32 there, in a region or not",
    ("nn.functional.affine_grid", "cuda"): "as affine_grid_generator",
    ("nn.functional.multi_head_attention_forward", "cuda"): "averaged weights are float32 there",
    ("pca_lowrank", "cpu"): KEPT_WHY,
    ("pca_lowrank", "cuda"): KEPT_WHY,
    ("svd_lowrank", "cpu"): KEPT_WHY,
    ("svd_lowrank", "cuda"): KEPT_WHY,
    **{
        (name, "cuda"): "complex halves are none in XLA"
        for name in ("complex", "polar", "view_as_complex")
    },
    **{
        (name, device): "its results are more than PyTorch's, for derivatives"
        for name in ("linalg.qr", "linalg.svd", "qr", "svd")
        for device in LOWER
    },
}
# Of operators that are cast on neither device, a quarter is asked: what casts a part of one of them
# is listed above.
BY_NAME = {}
for _, infos in families():
    for info in infos:
        cast = {info.spec.autocast, info.spec.autocast_cpu} != {Autocast.KEEP}
        listed = any((info.name, device) in OTHERS for device in LOWER)
        asked = cast or listed or zlib.crc32(info.name.encode()) % 4 == 0
        if asked and pytorchs(info) is not None and "float32" in info.accepted:
            BY_NAME.setdefault(info.name, info)


def policies(spec):
    return {"cuda": spec.autocast, "cpu": spec.autocast_cpu}


def ours(kernel):
    """functx's operator of PyTorch's kernel, by its full name."""
    if kernel in RENAMED:
        return RENAMED[kernel]
    aliases = {alias: name for name, spec in REGISTRY.items() for alias in spec.aliases}
    spaces = ("", "nn.functional.", "linalg.", "fft.")
    names = [kernel, *(kernel.replace(f"{space}_", f"{space}.") for space in ("linalg", "fft"))]
    for path in (f"{space}{name}" for name in names for space in spaces):
        if path in REGISTRY or path in aliases:
            return path if path in REGISTRY else aliases[path]
    return None


@pytest.mark.parametrize("device", LOWER)
def test_every_kernel_that_pytorch_registers_is_declared(device):
    registered = torch._C._dispatch_get_registrations_for_dispatch_key(f"Autocast{device.upper()}")
    kernels = {name.removeprefix("aten::").partition(".")[0] for name in registered}
    found = {kernel: ours(kernel) for kernel in kernels}
    assert {kernel for kernel, name in found.items() if name is None} <= NO_OPERATOR
    kept = {
        name
        for name in found.values()
        if name is not None and policies(REGISTRY[name])[device] is Autocast.KEEP
    }
    assert kept == (set(KEPT) if device == "cpu" else set())


@pytest.mark.parametrize("device", LOWER)
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_results_have_pytorchs_dtypes(name, device):
    info, lower = BY_NAME[name], LOWER[device]
    samples = [sample for sample in info.draw("float32") if not sample.derived]
    declared = policies(REGISTRY[name])[device] is not Autocast.KEEP
    differing = []
    for sample in samples[: 2 if declared else 1]:
        for dtype in ("float32", lower):
            given = in_float(sized(info, sample), dtype)
            want = None
            with contextlib.suppress(Exception):  # PyTorch refuses in many ways
                want = answer(info, in_float(sample, dtype), device)
            got = dtypes_of(info, given, lower, device)
            if want is not None and got is not None and got != want:
                differing.append(f"{sample} in {dtype}: {got}, PyTorch {want}")
    assert bool(differing) == ((name, device) in OTHERS), "; ".join(differing)


def dtypes_of(info, sample, lower, device):
    """The dtypes of functx's results in a region, None where it takes no such call."""
    f, arrays = whole_function(info, sample)
    with autocast(lower, device=device), contextlib.suppress(TypeError, RuntimeError):
        return [x.dtype.name for x in jax.tree.leaves(jax.eval_shape(f, *arrays))]
    return None


def entries():
    """PyTorch's own lists for its tests: device, list, name, arguments and keyword arguments."""
    cpu = torch.device("cpu")
    for device, lists in (("cuda", AutocastTestLists(cpu)), ("cpu", AutocastCPUTestLists(cpu))):
        for title, entry in ((t, e) for t, found in vars(lists).items() for e in found):
            if title.startswith("methods") or "builtin" in title:
                continue  # spellings of the same operators; what promotes without autocast
            name, *rest = entry
            args = tuple(rest) if name == "einsum" else rest[0]
            kwargs = next((x for x in rest[1:] if isinstance(x, dict)), {})
            yield device, title, name, args, kwargs


ENTRIES = list(entries())


def expected(device, title):
    if "banned" in title:
        return None
    return LOWER[device] if "16" in title else "float32"


@pytest.mark.parametrize(
    "at", range(len(ENTRIES)), ids=lambda i: "-".join(ENTRIES[i][:3]).replace("torch_", "")
)
def test_entry_of_pytorchs_lists(at):
    device, title, kernel, args, kwargs = ENTRIES[at]
    if kernel in NO_OPERATOR:
        assert ours(kernel) is None
        return
    op = operator.attrgetter(ours(kernel))(functx)
    if kernel == "einsum":  # the list has matrices for an equation of four dimensions
        args = ("ij,jk->ik", *args[1])
    if kernel in ADJUSTED:
        args, kwargs = ADJUSTED[kernel](*args), {}
    args, kwargs = jax.tree.map(to_functx, (args, kwargs))
    kept = ours(kernel) in KEPT
    wanted = LOWER[device] if kept else expected(device, title)
    with autocast(LOWER[device], device=device):
        if wanted is None:
            with pytest.raises(RuntimeError, match="unsafe in an autocast region"):
                op(*args, **kwargs)
            return
        got = jax.tree.leaves(op(*args, **kwargs))[0]
    assert got.dtype == wanted
    by_hand = op(*jax.tree.map(lambda x: cast(x, wanted), args), **kwargs)
    np.testing.assert_allclose(got, jax.tree.leaves(by_hand)[0], rtol=1e-6)


def cast(x, dtype):
    is_floating = isinstance(x, jax.Array) and jax.numpy.issubdtype(x.dtype, np.floating)
    return x.astype(dtype) if is_floating else x


# Arguments of kernels, where those of functions are others.
ADJUSTED = {
    "margin_ranking_loss": lambda x, y, target: (x, y, target.expand(8, 8)),
    "reflection_pad1d": lambda x: (x, (3, 3), "reflect"),
    "poisson_nll_loss": lambda x, y, log, full, eps, reduction: (x, y, log, full),
}


def test_a_scaler_goes_pytorchs_way():
    options = {"init_scale": 2.0**10, "growth_interval": 3, "backoff_factor": 0.25}
    theirs, scaler = torch.amp.GradScaler("cpu", **options), functx.amp.GradScaler(**options)
    weight = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.125)
    w = jax.numpy.ones(2, "float32")
    rng = np.random.default_rng(0)
    for _ in range(60):
        x = np.float32(np.inf if rng.random() < 0.2 else rng.normal())
        optimizer.zero_grad()
        theirs.scale((weight * float(x)).sum()).backward()
        theirs.step(optimizer)
        theirs.update()
        grads = functx.grad(lambda w, x=x, scaler=scaler: scaler.scale(functx.sum(w * x)))(w)
        grads, found_inf = scaler.unscale(grads)
        w = scaler.select(found_inf, w, w - 0.125 * grads)
        scaler = scaler.update(found_inf)
        assert theirs.get_scale() == float(scaler.get_scale())
        np.testing.assert_array_equal(w, weight.detach().numpy())
    assert jax.tree.map(float, scaler.state_dict()) == theirs.state_dict()
    again = functx.amp.GradScaler().load_state_dict(theirs.state_dict())
    assert repr(again) == repr(scaler)


def test_custom_rules_compute_in_pytorchs_dtypes():
    seen = {}

    def product(library, base, fwd, bwd):
        class Product(base):
            @staticmethod
            @fwd
            def forward(ctx, a, b):
                ctx.save_for_backward(a, b)
                seen[library, "forward"] = str((a @ b).dtype)
                return library.mm(a, b)

            @staticmethod
            @bwd
            def backward(ctx, grad):
                a, b = ctx.saved_tensors
                grads = library.mm(grad, b.T), library.mm(a.T, grad)
                seen[library, "backward"] = str(grads[0].dtype)
                return grads

        return Product.apply

    for cast_inputs in (None, "float32"):
        there = {} if cast_inputs is None else {"cast_inputs": torch.float32}
        fwd = lambda f: torch.amp.custom_fwd(f, device_type="cpu", **there)  # noqa: B023
        bwd = lambda f: torch.amp.custom_bwd(f, device_type="cpu")
        a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, 2, requires_grad=True)
        with region("cpu"):
            y = product(torch, torch.autograd.Function, fwd, bwd)(a, b)
        y.float().sum().backward()
        fwd = functx.amp.custom_fwd(cast_inputs=cast_inputs)
        apply = product(functx, functx.Function, fwd, functx.amp.custom_bwd)
        with autocast("bfloat16", device="cpu"):
            z, pull = functx.vjp(apply, *map(to_functx, (a, b)))
        grads = pull(jax.numpy.ones_like(z))
        assert str(y.dtype) == f"torch.{z.dtype.name}"
        assert [f"torch.{g.dtype.name}" for g in grads] == [str(x.grad.dtype) for x in (a, b)]
        assert seen[torch, "backward"] == f"torch.{seen[functx, 'backward']}"

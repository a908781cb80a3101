"""In what precision operators multiply and convolve float32: switches, keys, what they reach."""

import inspect
import os
import re
import subprocess
import sys
import textwrap
import threading

import jax
import jax.numpy as jnp
import pytest

import functx
import functx.nn.functional as F
from functx._arrays import determinism
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import op_db


A = jnp.ones((4, 4), "float32")
IMAGE, KERNEL = jnp.ones((1, 2, 8, 8), "float32"), jnp.ones((3, 2, 3, 3), "float32")
PRODUCT = re.compile(r"stablehlo\.(?:dot_general|convolution).*")
IN_PYTORCH = {"HIGHEST": "highest", "HIGH": "high", "DEFAULT": "medium"}


@pytest.fixture(autouse=True)
def unset():
    """JAX's setting as users find it."""
    before = jax.config.jax_default_matmul_precision
    jax.config.update("jax_default_matmul_precision", None)
    yield
    jax.config.update("jax_default_matmul_precision", before)
    functx.backends.cudnn.conv.fp32_precision = "none"


def precisions(f, *xs):
    """Those of all products and convolutions of float32 in a program for GPUs."""
    text = jax.jit(f).trace(*xs).lower(lowering_platforms=("cuda",)).as_text()
    products = [line for line in PRODUCT.findall(text) if re.search(r"xf32|<f32", line)]
    found = {re.search(r"precision(?:_config)? = \[([^\]]*)\]", line) for line in products}
    words = {re.findall(r"HIGHEST|HIGH|DEFAULT", match[1])[0] for match in found if match}
    return {IN_PYTORCH[word] for word in words} | ({"medium"} if None in found else set())


def slopes(f):
    return jax.grad(lambda *xs: f(*xs).sum(), argnums=(0, 1))


CONVOLUTIONS = [
    (F.conv2d, (IMAGE, KERNEL)),
    (slopes(F.conv2d), (IMAGE, KERNEL)),
    (jax.vmap(F.conv2d), (IMAGE[None], KERNEL[None])),
    (lambda x, w: F.conv_transpose2d(x, w, stride=3), (IMAGE, KERNEL[:2])),
    (slopes(lambda x, w: F.conv_transpose2d(x, w, stride=3)), (IMAGE, KERNEL[:2])),
]
PRODUCTS = [
    (functx.mm, (A, A)),
    (slopes(functx.mm), (A, A)),
    (F.linear, (A, A)),
    (slopes(lambda x, w: F.linear_cross_entropy(x, w, jnp.arange(4))), (A, A)),
]


@pytest.mark.parametrize("f, xs", PRODUCTS)
def test_products_are_in_full_precision_unless_told_otherwise(f, xs):
    assert functx.get_float32_matmul_precision() == "highest"
    assert precisions(f, *xs) == {"highest"}
    for precision in ("medium", "high", "highest"):
        with functx.float32_matmul_precision(precision):
            assert functx.get_float32_matmul_precision() == precision
            assert precisions(f, *xs) == {precision}
        functx.set_float32_matmul_precision(precision)
        assert precisions(f, *xs) == {precision}


@pytest.mark.parametrize("f, xs", CONVOLUTIONS)
def test_convolutions_are_as_the_device_has_them_unless_told_otherwise(f, xs):
    assert precisions(f, *xs) == {"medium"} and functx.backends.cudnn.allow_tf32
    with functx.backends.cudnn.flags(allow_tf32=False):
        assert precisions(f, *xs) == {"highest"} and not functx.backends.cudnn.allow_tf32
        with functx.backends.cudnn.flags(allow_tf32=True):
            assert precisions(f, *xs) == {"high"}
    for precision in ("medium", "high", "highest"):
        with functx.float32_matmul_precision(precision):
            assert precisions(f, *xs) == {precision}
            with functx.backends.cudnn.flags(allow_tf32=False):
                assert precisions(f, *xs) == {"highest"}
    functx.backends.cudnn.allow_tf32 = False
    assert precisions(f, *xs) == {"highest"} and precisions(functx.mm, A, A) == {"highest"}


def test_plain_jax_is_left_alone():
    assert precisions(jnp.matmul, A, A) == {"medium"}
    assert jax.config.jax_default_matmul_precision is None
    functx.mm(A, A)
    assert jax.config.jax_default_matmul_precision is None
    with jax.default_matmul_precision("tensorfloat32"):
        assert functx.get_float32_matmul_precision() == "high"
        assert precisions(functx.mm, A, A) == {"high"}


@pytest.mark.parametrize(
    "name, told",
    [("BF16_BF16_F32", "medium"), ("TF32_TF32_F32", "high"), ("F32_F32_F32", "highest")],
)
def test_algorithms_of_jax_are_told_in_pytorchs_words(name, told):
    with jax.default_matmul_precision(name):
        assert functx.get_float32_matmul_precision() == told


@pytest.mark.parametrize("compiled", [jax.jit, functx.jit])
def test_switches_are_a_part_of_keys(compiled):
    traced = []

    @compiled
    def program(x, w):
        traced.append(0)
        return F.conv2d(x, w)

    regions = [
        lambda: functx.float32_matmul_precision("high"),
        lambda: functx.float32_matmul_precision("highest"),
        lambda: functx.backends.cudnn.flags(allow_tf32=False),
    ]
    for _ in range(2):
        program(IMAGE, KERNEL)
        for region in regions:
            with region():
                program(IMAGE, KERNEL)
    assert len(traced) == 4


def test_the_gradient_is_in_the_precision_of_the_call():
    for f, xs in (CONVOLUTIONS[0], PRODUCTS[0], (PRODUCTS[3][0], PRODUCTS[3][1])):
        with functx.float32_matmul_precision("high"):
            program = jax.make_jaxpr(f)(*xs)
        run = jax.extend.core.jaxpr_as_fun(program)
        back = lambda *ys, run=run: jax.vjp(run, *ys)[1]([jnp.ones_like(y) for y in run(*ys)])
        assert precisions(back, *xs) == {"high"}


def test_rules_run_in_the_precision_of_the_call():
    tangent = lambda primals, output, tangents: tangents[0] @ primals[0]
    ruled = derivative_rules(lambda x: x, jvp=tangent)
    with functx.float32_matmul_precision("high"):
        program = jax.make_jaxpr(ruled)(A)
    run = lambda x: jax.extend.core.jaxpr_as_fun(program)(x)[0]
    assert precisions(lambda x: jax.jvp(run, (x,), (x,)), A) == {"high"}
    assert precisions(jax.grad(lambda x: run(x).sum()), A) == {"high"}


def test_threads_have_their_own_region():
    seen = []
    with functx.float32_matmul_precision("medium"):
        look = lambda: seen.append(functx.get_float32_matmul_precision())
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == ["highest"]


@pytest.mark.parametrize("who", ["set_float32_matmul_precision", "float32_matmul_precision"])
@pytest.mark.parametrize("word", ["low", None, 3])
def test_other_words_are_refused(who, word):
    with pytest.raises(ValueError, match=f"{who}: `precision` must be 'highest', 'high' or"):
        getattr(functx, who)(word)


def test_attributes_of_pytorchs_backends():
    matmul, cudnn = functx.backends.cuda.matmul, functx.backends.cudnn
    assert not matmul.allow_tf32 and matmul.fp32_precision == "ieee"
    matmul.allow_tf32 = True
    assert functx.get_float32_matmul_precision() == "high" and matmul.fp32_precision == "tf32"
    matmul.allow_tf32 = False
    assert functx.get_float32_matmul_precision() == "highest"
    matmul.fp32_precision = "tf32"
    assert matmul.allow_tf32
    with pytest.raises(ValueError, match="`fp32_precision` must be 'ieee', 'tf32' or 'none'"):
        matmul.fp32_precision = "tf23"
    assert not matmul.allow_fp16_reduced_precision_reduction
    matmul.allow_bf16_reduced_precision_reduction = False
    with pytest.raises(RuntimeError, match="XLA adds up products of halves in float32"):
        matmul.allow_fp16_reduced_precision_reduction = True
    with pytest.raises(AttributeError):
        cudnn.alow_tf32 = True
    with pytest.raises(TypeError, match="`allow_tf32` must be a bool"):
        cudnn.allow_tf32 = "no"
    with pytest.raises(RuntimeError, match="`deterministic` cannot be set for a region"):
        cudnn.flags(deterministic=True)
    cudnn.benchmark = False


# Factors and solutions of systems: their products are in full precision whatever the switch says,
# because what they lose is multiplied by the condition of the matrix. Products themselves follow.
PINNED = "functx._ops.linalg."
FOLLOWING = {"linalg.multi_dot": "it is a product of matrices, nothing else"}
PINNED_ELSEWHERE = {
    "cdist": "differences of squares of lengths cancel where points are near",
    "norm": "the nuclear norm's derivative is a polar factor",
}


@pytest.mark.full  # every operator is lowered twice for CUDA: two minutes
def test_products_of_every_operator_follow_the_switch_or_are_pinned():
    wrong = []
    functx.set_float32_matmul_precision("high")
    for info in (info for info in op_db if info.spec and "float32" in info.accepted):
        name = info.spec.name
        pinned = inspect.getmodule(info.spec.rule).__name__.startswith(PINNED)
        pinned = name not in FOLLOWING and (pinned or name in PINNED_ELSEWHERE)
        wanted = {"highest" if pinned else "high"}
        for _, sample in zip(range(2), info.draw("float32"), strict=False):
            op = info.with_key(jax.random.key(0)) if info.draws(sample) else info.op
            f, xs = sample.over_arrays(op), sample.arrays()
            programs = [(f, xs)]
            moved = [i for i, x in enumerate(xs) if jnp.issubdtype(x.dtype, jnp.inexact)]
            if info.differentiable and moved:
                programs.append((cotangents(f, xs, moved), [xs[i] for i in moved]))
            for program, given in programs:
                try:
                    found = precisions(program, *given)
                except RuntimeError:  # sizes that depend on values: nothing is multiplied there
                    continue
                if found - wanted:
                    wrong.append((info.id, found))
    assert not wrong


def cotangents(f, xs, moved):
    def of(*ys):
        given = list(xs)
        for i, y in zip(moved, ys, strict=True):
            given[i] = y
        return [x for x in jax.tree.leaves(f(*given)) if jnp.issubdtype(x.dtype, jnp.inexact)]

    return lambda *ys: (lambda out, back: back([jnp.ones_like(x) for x in out]))(*jax.vjp(of, *ys))


@pytest.fixture
def undetermined(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "")
    yield monkeypatch
    functx.use_deterministic_algorithms(False)


def test_determinism_is_refused_where_it_comes_too_late(undetermined):
    A.block_until_ready()
    undetermined.setattr(determinism, "_has_gpu", lambda: True)
    with pytest.raises(RuntimeError, match="JAX has started its GPU"):
        functx.use_deterministic_algorithms(True)
    assert not functx.are_deterministic_algorithms_enabled()
    with pytest.warns(UserWarning, match="JAX has started its GPU"):
        functx.use_deterministic_algorithms(True, warn_only=True)
    assert functx.are_deterministic_algorithms_enabled()
    assert functx.is_deterministic_algorithms_warn_only_enabled()
    undetermined.setenv("XLA_FLAGS", "--xla_gpu_deterministic_ops=true")
    functx.use_deterministic_algorithms(True)
    assert not functx.is_deterministic_algorithms_warn_only_enabled()
    for off in ("--xla_gpu_deterministic_ops --xla_gpu_deterministic_ops=false", ""):
        undetermined.setenv("XLA_FLAGS", off)
        with pytest.raises(RuntimeError, match="JAX has started its GPU"):
            functx.use_deterministic_algorithms(True)


def test_determinism_is_a_fact_on_cpus(undetermined):
    functx.use_deterministic_algorithms(True)
    assert functx.backends.cudnn.deterministic and not functx.backends.cudnn.benchmark
    functx.backends.cudnn.deterministic = False
    assert not functx.are_deterministic_algorithms_enabled()
    with pytest.raises(TypeError, match="use_deterministic_algorithms: `mode` must be a bool"):
        functx.use_deterministic_algorithms("yes")


def test_determinism_sets_xlas_flag_before_jax_starts():
    program = """
        import os, functx, jax
        functx.use_deterministic_algorithms(True)
        assert os.environ["XLA_FLAGS"].startswith("--xla_dump_to=/nowhere ")
        assert os.environ["XLA_FLAGS"].endswith(" --xla_gpu_deterministic_ops=true")
        functx.use_deterministic_algorithms(False)
        assert "deterministic" not in os.environ["XLA_FLAGS"]
        os.environ["XLA_FLAGS"] = ""
        functx.use_deterministic_algorithms(True)
        assert float(functx.sum(functx.ones(3))) == 3
        functx.use_deterministic_algorithms(False)
        assert os.environ["XLA_FLAGS"] == "--xla_gpu_deterministic_ops=true"
        print("done")
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=os.environ | {"XLA_FLAGS": "--xla_dump_to=/nowhere", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
    )
    assert run.stdout == "done\n", run.stderr

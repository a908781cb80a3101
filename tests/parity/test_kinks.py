"""First and second derivatives where conventions decide: at kinks, ties, zeros, infinities and NaN.

Each fact is one function of both libraries, written once, and where it is taken: the gradient and
the Hessian are PyTorch's, or a reason says why not.
"""

import jax.numpy as jnp
import numpy as np
import pytest


torch = pytest.importorskip("torch", reason="parity is measured against an installed PyTorch")

import functx

from .test_conventions import gradients


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch's, of its own operators

INF, NAN = np.inf, np.nan
TIED = [1.0, 0, 1, 0, 1, 0]
ROWS = np.array([1, 1, 3, 2, 1, 2])

# What is asked, of the library F and arrays, and the arrays.
FACTS = {
    "x**0": (lambda F, x: F.pow(x, 0), [0.0, 2.0]),
    "x**0.0": (lambda F, x: F.pow(x, 0.0), [0.0, 2.0]),
    "x**1.0": (lambda F, x: F.pow(x, 1.0), [0.0, 2.0]),
    "x**2": (lambda F, x: F.pow(x, 2), [0.0, -1.0]),
    "x**-1": (lambda F, x: F.pow(x, -1), [0.0, 2.0]),
    "x**0.5": (lambda F, x: F.pow(x, 0.5), [0.0, 2.0]),
    "negative**p": (lambda F, x, p: F.pow(x, p), [-1.0, -2.0], [2.0, 3.0]),
    "sqrt": (lambda F, x: F.sqrt(x), [0.0, 1.0]),
    "rsqrt": (lambda F, x: F.rsqrt(x), [0.0, 1.0]),
    "reciprocal": (lambda F, x: F.reciprocal(x), [0.0, INF]),
    "abs": (lambda F, x: F.abs(x), [0.0, -2.0, NAN]),
    "sign": (lambda F, x: F.sign(x), [0.0, -2.0]),
    "sinc": (lambda F, x: F.sinc(x), [1.0, 0.5]),
    "xlogy in x": (lambda F, x: F.xlogy(x, 0.0), [1.0, 0.0]),
    "hypot": (lambda F, x: F.hypot(x, 0 * x), [0.0, 2.0]),
    "atan2": (lambda F, y, x: F.atan2(y, x), [0.0, 1.0], [0.0, 0.0]),
    "log": (lambda F, x: F.log(x), [0.0, 1.0, INF]),
    "log1p": (lambda F, x: F.log1p(x), [0.0, -1.0]),
    "atanh": (lambda F, x: F.atanh(x), [0.0, 1.0]),
    "acos": (lambda F, x: F.acos(x), [0.0, 1.0]),
    "lgamma": (lambda F, x: F.lgamma(x), [0.0, 1.0]),
    "digamma": (lambda F, x: F.digamma(x), [0.0, 1.0]),
    "i0": (lambda F, x: F.i0(x), [0.0, 1.0]),
    "i1": (lambda F, x: F.special.i1(x), [0.0, 1.0]),
    "i0e": (lambda F, x: F.special.i0e(x), [-1.0, 1.0]),
    "entr": (lambda F, x: F.special.entr(x), [0.0, 1.0]),
    "logit": (lambda F, x: F.logit(x), [0.0, 0.5, 1.0]),
    "frac": (lambda F, x: F.frac(x), [0.0, 1.5]),
    "floor": (lambda F, x: F.floor(x), [0.0, 1.5]),
    "round": (lambda F, x: F.round(x), [0.5, 1.5]),
    "trunc": (lambda F, x: F.trunc(x), [0.0, -1.5]),
    "fmod": (lambda F, x, y: F.fmod(x, y), [5.0, -5.0], [2.0, 2.0]),
    "remainder": (lambda F, x, y: F.remainder(x, y), [5.0, -5.0], [2.0, 2.0]),
    "clamp": (lambda F, x: F.clamp(x, 0.0, 1.0), [0.0, 1.0, 2.0, NAN]),
    "clamp to arrays": (
        lambda F, x, low, high: F.clamp(x, low, high),
        [0.0, 1.0, 3.0],
        [0.0, 2.0, 0.0],
        [1.0, 1.0, 1.0],
    ),
    "maximum": (lambda F, x, y: F.maximum(x, y), [1.0, 2.0, NAN], [1.0, 0.0, 0.0]),
    "minimum": (lambda F, x, y: F.minimum(x, y), [1.0, 2.0, NAN], [1.0, 0.0, 0.0]),
    "fmax": (lambda F, x, y: F.fmax(x, y), [1.0, 2.0, NAN], [1.0, 0.0, 0.0]),
    "fmin": (lambda F, x, y: F.fmin(x, y), [1.0, 2.0, 0.0], [1.0, NAN, 0.0]),
    "where past a root": (lambda F, x: F.where(x > 0, F.sqrt(x), 0 * x), [0.0, 1.0]),
    "max": (lambda F, x: F.max(x), TIED),
    "min": (lambda F, x: F.min(x), TIED),
    "max of NaN": (lambda F, x: F.max(x), [NAN] * 3),
    "min of NaN": (lambda F, x: F.min(x), [NAN] * 3),
    "max along a dimension": (lambda F, x: F.max(x, 0)[0], TIED),
    "min along a dimension": (lambda F, x: F.min(x, 0)[0], TIED),
    "amax": (lambda F, x: F.amax(x, 0), TIED),
    "amin": (lambda F, x: F.amin(x, 0), TIED),
    "median": (lambda F, x: F.median(x), TIED),
    "nanmedian": (lambda F, x: F.nanmedian(x), TIED),
    "median of NaN": (lambda F, x: F.median(x), [NAN] * 3),
    "nanmedian of NaN": (lambda F, x: F.nanmedian(x), [NAN] * 3),
    "cummax": (lambda F, x: F.cummax(x, 0)[0], [1.0, 1.0, 0.0]),
    "cummin": (lambda F, x: F.cummin(x, 0)[0], [1.0, 1.0, 0.0]),
    "prod with one zero": (lambda F, x: F.prod(x), [1.0, 0.0, 3.0]),
    "prod with two zeros": (lambda F, x: F.prod(x), [0.0, 0.0, 3.0]),
    "cumprod": (lambda F, x: F.cumprod(x, 0), [2.0, 0.0, 3.0]),
    "std of equals": (lambda F, x: F.std(x), [2.0, 2.0]),
    "norm": (lambda F, x: F.linalg.vector_norm(x), [3.0, 4.0]),
    "norm 3 of zeros": (lambda F, x: F.linalg.vector_norm(x, 3), [0.0, 0.0]),
    "norm 1": (lambda F, x: F.linalg.vector_norm(x, 1), [0.0, 1.0]),
    "norm 0.5": (lambda F, x: F.linalg.vector_norm(x, 0.5), [1.0, 4.0]),
    "norm inf": (lambda F, x: F.linalg.vector_norm(x, INF), [1.0, -1.0, 0.5]),
    "norm -inf": (lambda F, x: F.linalg.vector_norm(x, -INF), [1.0, -1.0, 2.0]),
    "logaddexp": (lambda F, x, y: F.logaddexp(x, y), [-1.0, 0.0], [0.0, 0.0]),
    "logcumsumexp": (lambda F, x: F.logcumsumexp(x, 0), [0.0, 1.0]),
    "softmax of -inf": (lambda F, x: F.softmax(x, 0)[0], [-INF, 0.0]),
    "softmax of -inf alone": (lambda F, x: F.softmax(x, 0)[0], [-INF, -INF]),
    "cdist of equals": (lambda F, x, y: F.cdist(x, y), [[1.0, 2.0]], [[1.0, 2.0]]),
    "relu": (lambda F, x: F.nn.functional.relu(x), [0.0, 1.0, NAN]),
    "relu6": (lambda F, x: F.nn.functional.relu6(x), [0.0, 6.0]),
    "hardtanh": (lambda F, x: F.nn.functional.hardtanh(x), [-1.0, 1.0]),
    "hardsigmoid": (lambda F, x: F.nn.functional.hardsigmoid(x), [-3.0, 3.0]),
    "hardswish": (lambda F, x: F.nn.functional.hardswish(x), [-3.0, 3.0, 0.0]),
    "leaky_relu": (lambda F, x: F.nn.functional.leaky_relu(x), [0.0, -1.0]),
    "elu": (lambda F, x: F.nn.functional.elu(x), [0.0, -1.0]),
    "celu": (lambda F, x: F.nn.functional.celu(x), [0.0, -1.0]),
    "selu": (lambda F, x: F.nn.functional.selu(x), [0.0, -1.0]),
    "softplus": (lambda F, x: F.nn.functional.softplus(x), [0.0, 19.0, 21.0]),
    "softshrink": (lambda F, x: F.nn.functional.softshrink(x), [0.5, -0.5, 0.0]),
    "hardshrink": (lambda F, x: F.nn.functional.hardshrink(x), [0.5, -0.5, 1.0]),
    "threshold": (lambda F, x: F.nn.functional.threshold(x, 0.0, 1.0), [0.0, 1.0]),
    "logsigmoid": (lambda F, x: F.nn.functional.logsigmoid(x), [0.0, 100.0, -100.0]),
    "silu": (lambda F, x: F.nn.functional.silu(x), [0.0, 100.0, -100.0]),
    "gelu": (lambda F, x: F.nn.functional.gelu(x), [0.0, 100.0, -100.0]),
    "l1_loss": (lambda F, x, y: F.nn.functional.l1_loss(x, y), [0.0, 1.0], [0.0, 0.0]),
    "huber_loss": (lambda F, x, y: F.nn.functional.huber_loss(x, y), [0.0, 1.0, 2.0], [0.0] * 3),
    "smooth_l1_loss": (
        lambda F, x, y: F.nn.functional.smooth_l1_loss(x, y),
        [0.0, 1.0, 2.0],
        [0.0] * 3,
    ),
    "margin_ranking_loss": (
        lambda F, x, y: F.nn.functional.margin_ranking_loss(x, y, 1 + 0 * y),
        [0.0, 1.0],
        [0.0, 0.0],
    ),
    "normalize of zeros": (lambda F, x: F.nn.functional.normalize(x, dim=0)[0], [0.0, 0.0]),
    "cosine_similarity of zeros": (
        lambda F, x, y: F.nn.functional.cosine_similarity(x, y, dim=0),
        [0.0, 0.0],
        [1.0, 1.0],
    ),
    "pairwise_distance of equals": (
        lambda F, x, y: F.nn.functional.pairwise_distance(x, y),
        [[1.0, 2.0]],
        [[1.0, 2.0]],
    ),
    "max_pool1d": (lambda F, x: F.nn.functional.max_pool1d(x, 2), [[[1.0, 1.0, 0.0, 2.0]]]),
    "reads of one row": (lambda F, x: x[ROWS], np.ones((4, 2))),
    "no elements": (lambda F, x, y: x + y, np.ones((2, 0)), np.ones((2, 1))),
    "diagonal": (lambda F, x: F.diagonal(x) * 3, np.ones((3, 3))),
    "products of all but one": (lambda F, x: F.prod(F.prod(x, -1), -1), np.ones((2, 2, 2))),
}
OF_COMPLEX = {
    "abs": (lambda F, z: F.abs(z), [0.0, 3 - 4j]),
    "angle": (lambda F, z: F.angle(z), [0.0, 1j]),
    "sgn": (lambda F, z: F.real(F.sgn(z)), [0.0, 3 - 4j]),
    "z**0": (lambda F, z: F.real(F.pow(z, 0)), [0.0, 1j]),
    "z**0.5": (lambda F, z: F.real(F.pow(z, 0.5)), [0.0, 1j]),
    "number**e": (lambda F, e: F.real(F.pow(-1, e)), [0.3 + 0.2j]),
    "real": (lambda F, z: F.real(z), [0.0, 1j]),
    "norm of zeros": (lambda F, z: F.linalg.vector_norm(z), [0.0, 0.0]),
    "norm 1": (lambda F, z: F.linalg.vector_norm(z, 1), [0.0, 3 - 4j]),
    "prod with one zero": (lambda F, z: F.real(F.prod(z)), [1j, 0.0, 3.0]),
    "prod with two zeros": (lambda F, z: F.real(F.prod(z)), [1j, 0.0, 0.0]),
}
# Of those that no entry of the database states: where functx has it otherwise, and why.
FINITE = "PyTorch's formula multiplies 0 by infinity, or divides 0 by 0"
CONSTANT = (
    "where nothing can be chosen the result is a constant, NaN, so that `where` drops it whole"
)
OTHERWISE = {
    ("of real arrays: logit", "Hessian"): FINITE,
    ("of real arrays: softmax of -inf alone", "gradient"): CONSTANT,
    ("of real arrays: softmax of -inf alone", "Hessian"): CONSTANT,
    ("of real arrays: normalize of zeros", "Hessian"): FINITE,
    ("of real arrays: cosine_similarity of zeros", "Hessian"): FINITE,
    ("of complex arrays: sgn", "Hessian"): FINITE,
    ("of complex arrays: norm of zeros", "Hessian"): FINITE,
}


@pytest.mark.parametrize("what", FACTS)
def test_real(what):
    f, *points = FACTS[what]
    hold(f"of real arrays: {what}", f, [np.asarray(x, np.float64) for x in points])


@pytest.mark.parametrize("what", OF_COMPLEX)
def test_complex(what):
    f, *points = OF_COMPLEX[what]
    hold(f"of complex arrays: {what}", f, [np.asarray(x, np.complex128) for x in points])


def hold(what, f, points):
    asked = zip(("gradient", "Hessian"), pytorchs(f, points), ours(f, points), strict=True)
    for which, want, got in asked:
        same = want is None or np.allclose(got, want, 1e-9, 1e-12, equal_nan=True)
        reason = OTHERWISE.get((what, which))
        assert same is (reason is None), f"{which}: {got.tolist()}, PyTorch {want.tolist()}"


def ours(f, points):
    """The gradient of the sum, and the gradients of the sums of its real and imaginary parts."""

    def slopes(*xs):
        grads = functx.grad(lambda *xs: functx.sum(f(functx, *xs)), tuple(range(len(xs))))(*xs)
        return jnp.concatenate([g.ravel() for g in grads])

    xs = list(map(jnp.asarray, points))
    yield np.asarray(slopes(*xs))
    rows = []
    for i in range(sum(x.size for x in xs)):
        entry = lambda *xs, i=i: functx.real(slopes(*xs)[i])
        row = functx.grad(entry, tuple(range(len(xs))))(*xs)
        rows.append(np.concatenate([np.asarray(h).ravel() for h in row]))
    yield np.array(rows)


def pytorchs(f, points):
    xs = [torch.tensor(x, requires_grad=True) for x in points]
    total = f(torch, *xs).sum()
    slopes = torch.cat([g.ravel() for g in gradients(total, xs, create_graph=True)])
    yield slopes.detach().resolve_conj().numpy()
    rows = []
    try:
        for slope in slopes:
            row = gradients(slope.real, xs, retain_graph=True)
            rows.append(torch.cat([h.ravel() for h in row]).resolve_conj().numpy())
    except RuntimeError as error:
        assert "not implemented" in str(error), error
        yield None
    else:
        yield np.array(rows)

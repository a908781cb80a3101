from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import AT_ROOTS

from .operands import quiet, real_only, unary


def erf_samples(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    if category(make.dtype) == 2:
        yield edge(make.put([-20, 20, np.inf, -np.inf]))


def gamma_samples(make: Make) -> Iterator[Sample]:
    yield from unary(low=0.5)(make)
    if category(make.dtype) == 2:
        yield call(make.put([-0.5, -1.625, -9.25, 30.5]))
        yield edge(make.put([0.0, np.inf, np.nan]))


@quiet
def np_lgamma(x):
    return np.where(np.isinf(x), np.inf, scipy.special.gammaln(x))


@quiet
def np_digamma(x):
    """SciPy's, but for its digits near poles: there -1 over the distance, and the rest."""
    whole = np.rint(x)
    off = x - whole
    near = (whole < 0) & (np.abs(off) < 1e-9) & (off != 0)
    return np.where(near, scipy.special.digamma(1 - whole) - 1 / off, scipy.special.digamma(x))


def erf_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("far out", call(make.put([1e3, np.inf])), value=[1, 1], gradient=[0, 0])
    departure = "PyTorch has NaN, infinity times 0"
    at = call(make.put(-np.inf))
    yield Convention("the curve at infinity", at, hessian=0, departure=departure)


def reflected(x):
    """What the function is below 0: JAX's derivatives of it hold above."""
    return jnp.log(jnp.pi / jnp.abs(jnp.sin(jnp.pi * x))) - jax.scipy.special.gammaln(1 - x)


def lgamma_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, np.inf])
    yield Convention("0 and infinity", call(at), value=[np.inf] * 2, gradient=[-np.inf, np.inf])
    ends = make.put([1.0, 2, -0.0, -1, -2, -np.inf, np.nan, 1e38], "float32")
    value = [0, 0, *[np.inf] * 4, np.nan, np.inf]
    yield Convention("zeros and poles", call(ends), value=value)
    yield Convention("below 0", call(make.put(-9.25)), hessian=19.636734280660725, ulps=1e4)
    for at in (-20.5, -9.3, -0.3, 0.3, 4.0):
        yield Convention(
            f"{at}, to third order",
            call(make.put(at)),
            like=reflected if at < 0 else jax.scipy.special.gammaln,
            order=3,
            ulps=1e6,
        )

    equal = call(make.put([2.5, 2.5]))
    yield Convention("of equal elements", equal, gradient=[scipy.special.digamma(2.5)] * 2)
    near = [0.5, 1 - 2**-10, 1, 1 + 2**-12, 1.75, 2 - 2**-12, 2, 2 + 2**-10, 2.25, 3.125]
    value = [0.5723649429247001, 0.0005644719118551234, 0, -0.00014087277616326634]
    value += [-0.08440112102048555, -0.00010319961029799209, 0, 0.00041318279306425424]
    value += [0.1248717148923966, 0.811531653906724]
    for dtype in ("float32", "float64"):
        yield Convention(f"about its roots in {dtype}", call(make.put(near, dtype)), value=value)
        below = make.put([-2.45703125, -3.14453125, -9.703125], dtype)
        value_below = [-9.8690689990340986e-6, -0.0073723700968241695, -13.046597746533308]
        yield Convention(f"roots below 0 in {dtype}", call(below), value=value_below, ulps=2)


def digamma_conventions(make: Make) -> Iterator[Convention]:
    equal = call(make.put([2.5, 2.5]))
    yield Convention("of equal elements", equal, gradient=[scipy.special.polygamma(1, 2.5)] * 2)
    at = make.put([0.0, -0.0, -1.0])
    yield Convention("poles", call(at), value=[-np.inf, np.inf, np.nan])
    yield Convention("below 0", call(make.put(-1.5)), hessian=-0.236204051641727, ulps=1e6)
    for pole in (0.0, -1.0):
        yield Convention(f"second derivative at {pole}", call(make.put(pole)), hessian=-np.inf)
    yield Convention("slope at infinity", call(make.put(np.inf)), gradient=0)
    ends = make.put([np.inf, -np.inf, np.nan, 1e-37, -1e-37], "float32")
    yield Convention("ends", call(ends), value=[np.inf, np.nan, np.nan, -1e37, 1e37])
    near = [1.4616321325302124, 1.4609375, -0.50390625, -1.57421875, -10.6875]
    value = [-1.2036052549106669e-8, -0.0006724023902428804, 0.0015801581692077256]
    value += [-0.0071647048931426735, 0.31598442669554435]
    for dtype in ("float32", "float64"):
        yield Convention(
            f"about its roots in {dtype}",
            call(make.put(near, dtype)),
            value=value,
            ulps=2,
            departure="PyTorch subtracts rounded terms" if dtype == "float32" else "",
        )
    root = call(make.put(1.4616321449683622))
    yield Convention("at its root", root, value=-9.2412655217294275e-17)


def pole_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "beside a pole PyTorch's tangent has no digit right",
        call(make.put([np.nextafter(-1, 0)], "float64")),
        r"of array 0: -?(\d{13,}\.|\d\.\d+e\+1)",
    )


def digamma_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "at a pole the slope is infinite, where PyTorch's sine is not 0",
        call(make.put([-1.0], "float64")),
        r"of array 0: -?inf at",
    )
    yield Departure(
        "gradient",
        "beside poles slopes have their digits, of which PyTorch's sine loses some",
        call(make.put([-0.9999999999999999], "float64")),
        r"of array 0: -?[\d.]+e\+[123]\d at",
    )


OPS = [
    OpInfo(
        functx.erf,
        erf_samples,
        reference=scipy.special.erf,
        refusals=real_only,
        conventions=erf_conventions,
        tails=(Tail(lambda mp, x: mp.erf(x)),),
    ),
    OpInfo(
        functx.lgamma,
        gamma_samples,
        reference=np_lgamma,
        departures=(pole_departures,),
        refusals=real_only,
        tolerances=(AT_ROOTS,),
        conventions=lgamma_conventions,
        tails=(Tail(lambda mp, x: mp.loggamma(x), low=0),),
    ),
    OpInfo(
        functx.digamma,
        gamma_samples,
        reference=np_digamma,
        departures=(digamma_departures,),
        refusals=real_only,
        tolerances=(AT_ROOTS,),
        conventions=digamma_conventions,
        tails=(Tail(lambda mp, x: mp.digamma(x), low=0),),
    ),
]

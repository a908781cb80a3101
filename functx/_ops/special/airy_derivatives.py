r"""Derivatives of the Airy function Ai, for float64 arrays.

Below -4.5 they go by modulus and phase (Abramowitz and Stegun 10.4.69 and 10.4.70), from there to 2
by polynomials, and from 2 on by $e^{-\zeta}$ and a rational function; $\zeta = \tfrac23 |x|^{3/2}$.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._ops.polynomials import horner
from functx._ops.roundoff import exact_product, exact_sum

from .exponential import times_exponential
from .phases import polar


# Zeros of Ai and of Ai' between -4.5 and -2, and of Ai' from there on, in two parts.
_ZEROS = (
    ((-2.338107410459767, -3.912260409818305e-17), (-4.08794944413097, -3.387261694242901e-16)),
    ((-3.2481975821798366, 2.435739819073974e-17),),
)
_LAST_ZEROS = ((), ((-1.018792971647471, -2.0609116444448518e-17),))
# Polynomials, the lowest powers first, that interpolate at Chebyshev's points, in 45 digits; errors
# are at most 4e-17. From -4.5 to -2 Ai and Ai' without their zeros, by $0.8 x + 2.6$.
_LEFT0 = (
    *(0.5483606343776469, -0.06231623876901589, -0.2634764009921449),
    *(0.07954934443625555, 0.041463607968512936, -0.022779406215073336),
    *(-0.0009029494377785723, 0.0027742426249714137, -0.0004546009752817131),
    *(-0.00014459241198691396, 5.9130435810815175e-05, -1.0493961903120355e-06),
    *(-3.2158322480976115e-06, 5.796595083898784e-07, 5.940833795917013e-08),
    *(-3.404906999688607e-08, 2.7319734436270448e-09, 8.545681671046893e-10),
    *(-2.1147036240813733e-10, -1.5063482126789565e-12, 5.645802923126957e-12),
)
_LEFT1 = (
    *(1.3614202880693034, -0.25856175211284693, -1.153200629139262),
    *(0.44155660995964857, 0.2592730353311575, -0.16858858528242796),
    *(-0.006720675528035453, 0.025839755889925018, -0.004751985603669808),
    *(-0.0016222961945977449, 0.0007291605526543306, -1.4920394771476897e-05),
    *(-4.589561602665345e-05, 8.893133002978564e-06, 9.605280689063993e-07),
    *(-5.883655907302598e-07, 5.015650985884691e-08, 1.628948548693242e-08),
    *(-4.285605682408473e-09, 4.6437220158918806e-11, 1.2475840165704736e-10),
    -1.6176561709861132e-11,
)
# From -2 to 0 the same, by $x + 1$.
_MIDDLE0 = (
    *(0.5355608832923521, -0.01016056711664521, -0.2677804416461761),
    *(0.09095357506816622, 0.02146832287746283, -0.01793670083571695),
    *(0.0023161750729988194, 0.000938214850311648, -0.0003616584982095417),
    *(1.9138336440244983e-05, 1.4443036605307195e-05, -3.461789458341347e-06),
    *(3.5571823921714e-08, 1.1477464527332079e-07, -1.9218211715489897e-08),
    *(-3.7732404313807907e-10, 5.59972359785645e-10, -6.912535199161322e-11),
    *(-3.866574884982348e-12, 1.7723435406542967e-12),
)
_MIDDLE1 = (
    *(-0.5406578218305611, 0.2712151454181973, 0.08756357521152364),
    *(-0.08994233234569114, 0.013772604565260627, 0.006621936924827934),
    *(-0.002896453720777606, 0.00016951730065318794, 0.00014514614324610651),
    *(-3.8087177161539985e-05, 3.9871024538895413e-07, 1.4971245232684323e-06),
    *(-2.68918824289842e-07, -5.8285762809675926e-09, 8.955792107661152e-09),
    *(-1.1738159578411825e-09, -5.656837255178656e-11, 3.366812761095306e-11),
    -3.0341293715304553e-12,
)
# From 0 to 2 times $e^x$, by $x - 1$.
_RIGHT0 = (
    *(0.36776291679162165, -0.06484468093120396, -0.06484468093120391),
    *(0.018064032177800973, 0.003628292677965178, -0.0017909169753736963),
    *(5.162080819076026e-06, 8.786280113548821e-05, -1.0014960078187963e-05),
    *(-2.1538511099206404e-06, 5.454833784653786e-07, 8.133693784681019e-09),
    *(-1.4961874321889373e-08, 1.1948677873850301e-09, 2.1582431268043184e-10),
    *(-4.246807971635969e-11, -5.711389593845787e-13, 7.215213506656314e-13),
)
_RIGHT1 = (
    *(-0.43260759772282564, -0.06484468093120396, 0.11903677746460696),
    *(-0.0035508614659337297, -0.012582877554836816, 0.0018218894601877537),
    *(0.0006098775271571151, -0.00016798248107363474, -9.369700030128789e-06),
    *(7.608682415784648e-06, -4.5601247173825563e-07, -1.8767114374449503e-07),
    *(3.0494805434288076e-08, 1.8208608211870048e-09, -8.526146566439697e-10),
    *(3.686917005808738e-11, 1.2775441205994538e-11, -1.6056667050759353e-12),
)
# $\zeta$ times what $e^\zeta x^{1/4}$ Ai and $-e^\zeta x^{-1/4}$ Ai' are more than
# $1 / 2 \sqrt\pi$, by $1 / \zeta$, from 2 on: numerators and denominators; errors 8e-18 of Ai.
_P0 = (
    *(-0.019589916095408014, -0.2843788653182631, -1.4771180845316916),
    *(-3.429293658781061, -3.628084130284023, -1.5812718781335786),
    *(-0.20982949473929452, -0.0019475750924226277),
)
_Q0 = (
    *(1.0, 15.051316572759324, 82.9031341455445),
    *(211.97974514086565, 264.0185904983171, 153.77867841123535),
    *(36.43289303590164, 2.4267001289550514),
)
_P1 = (
    *(0.027425882533571273, 0.39479040531775944, 2.0329315890020454),
    *(4.680813240100061, 4.920358250857344, 2.1429255137673136),
    *(0.2904522175085643, 0.0038248294121079615),
)
_Q1 = (
    *(1.0, 14.846200243977277, 80.38921342982549),
    *(201.11846899685574, 243.36968822499696, 136.18088022410035),
    *(30.379417092427357, 1.8244728771780137),
)
# Below -4.5, by $81 / \zeta^2 - 1$: $|x|^{1/4}$ times Ai's modulus, $|x|^{-1/4}$ times that of Ai';
# $\zeta^3$ times what their phases are more than $\zeta - \pi / 4$ and the shift over $\zeta$:
# 6e-18 and 1e-15.
_M0 = (
    *(0.5639522029242858, -0.00023315063020828568, 4.013151854339672e-06),
    *(-1.9681816798634054e-07, 1.7311546292955564e-08, -2.2306911440613087e-09),
    *(3.767556633011729e-10, -7.783288643105119e-11, 1.8809156615185768e-11),
    *(-5.271150389894822e-12, 1.618292846781084e-12, -3.846556194710186e-13),
    *(1.2244808908880563e-13, -1.456039695117091e-13, 6.256894581050624e-14),
)
_M1 = (
    *(0.5645227179709802, 0.00032795279825095195, -4.932415612481757e-06),
    *(2.269510568384741e-07, -1.9301251452604038e-08, 2.438871631439838e-09),
    *(-4.0680849479879957e-10, 8.33244601731089e-11, -2.001060656794087e-11),
    *(5.578844338065807e-12, -1.7060713161633383e-12, 4.0591623499757084e-13),
    *(-1.2901693682920723e-13, 1.5195577355497737e-13, -6.518070291334644e-14),
)
_S0 = (
    *(0.034267944923261434, -0.0011609296014968105, 8.509729113862433e-05),
    *(-9.966128482151173e-06, 1.6041329470369618e-06, -3.249872972951505e-07),
    *(7.835653031103201e-08, -2.164665031243818e-08, 6.672510862193319e-09),
    *(-2.2618497300511316e-09, 8.250042742091331e-10, -2.9227091286702246e-10),
    *(1.1558825569126824e-10, -9.191825830699554e-11, 4.575331448149417e-11),
    *(1.6901671298058975e-11, -1.07096672632379e-11, -1.361558823486767e-11),
    7.551271629314617e-12,
)
_S1 = (
    *(-0.04552415313484163, 0.0014011286192674207, -9.721034042607909e-05),
    *(1.1045377157767442e-05, -1.7463189972830442e-06, 3.497439859595117e-07),
    *(-8.365623719389163e-08, 2.2976083289986213e-08, -7.050603525206831e-09),
    *(2.3812792291325547e-09, -8.660055901590941e-10, 3.0645486507338635e-10),
    *(-1.2099296607304553e-10, 9.552211899882986e-11, -4.746177778351348e-11),
    *(-1.7378852859027915e-11, 1.1018869167396992e-11, 1.4083674040072334e-11),
    -7.803893052687526e-12,
)
_LEFT, _MIDDLE, _RIGHT = (_LEFT0, _LEFT1), (_MIDDLE0, _MIDDLE1), (_RIGHT0, _RIGHT1)
_FAR = ((_P0, _Q0), (_P1, _Q1))
_MODULUS, _PHASE = (_M0, _M1), (_S0, _S1)
_SHIFTS = ((-5 / 72, 3.0839528461809902e-18), (7 / 72, -1.5419764230904951e-18))
_TWO_THIRDS = (2 / 3, 3.700743415417188e-17)
# Below it the error of the phase is more than that of float32, and the result is 0.
_LEAST = -(2.0**52)


def airy(k: int, x: Array) -> Array:
    """The `k`-th derivative of Ai: $p Ai + q Ai'$ with polynomials, by $Ai'' = x Ai$."""
    factors = _factors(k)
    at = jnp.clip(x, _LEAST, 200)
    # $\zeta$ in two parts, for numbers beyond the polynomials.
    size = jnp.where(at < 0, jnp.maximum(-at, 4.5), jnp.maximum(at, 2))
    zeta, error = _zeta(size)
    total = jnp.zeros_like(at)
    for m in range(2):
        if any(factors[m]):
            value = jnp.where(at < 0, _negative(m, at, zeta, error), _positive(m, at, zeta))
            total = total + horner([float(c) for c in factors[m]], at) * value
    decay = jnp.where(at < 2, at, zeta)
    rest = jnp.where(at < 2, 1, 1 - error)
    total = jnp.where(at < 0, total, times_exponential(total * rest, -decay))
    return jnp.where(x < _LEAST, 0, total)


def _factors(k: int) -> tuple[list[int], list[int]]:
    """The factors of Ai and of Ai' in the `k`-th derivative, with the lowest powers first."""
    p, q = np.poly1d([1]), np.poly1d([0])
    x = np.poly1d([1, 0])
    for _ in range(k):
        p, q = p.deriv() + x * q, q.deriv() + p
    return list(p.coeffs[::-1]), list(q.coeffs[::-1])


def _zeta(x: Array) -> tuple[Array, Array]:
    root = jnp.sqrt(x)
    whole, part = exact_product(root, root)
    rest = 0.5 * ((x - whole) - part) / root
    high, low = exact_product(x, root)
    low = low + x * rest
    whole, part = exact_product(_TWO_THIRDS[0] + jnp.zeros_like(high), high)
    return exact_sum(whole, part + (_TWO_THIRDS[1] * high + _TWO_THIRDS[0] * low))


def _negative(m: int, x: Array, zeta: Array, error: Array) -> Array:
    """Ai or Ai', as `m` is 0 or 1, where $x < 0$."""
    left = jnp.clip(x, -4.5, -2)
    out = _with_zeros(horner(_LEFT[m], 0.8 * left + 2.6), left, _ZEROS[m])
    middle = jnp.clip(x, -2, 0)
    between = _with_zeros(horner(_MIDDLE[m], middle + 1), middle, _LAST_ZEROS[m])
    place = 81 / (zeta * zeta) - 1
    cosine, sine = polar(zeta, 1, _SHIFTS[m], horner(_PHASE[m], place), error)
    root = jnp.sqrt(jnp.sqrt(jnp.maximum(-x, 4.5)))
    modulus = horner(_MODULUS[m], place)
    far = modulus * root * sine if m else modulus / root * cosine
    return jnp.where(x < -4.5, far, jnp.where(x < -2, out, between))


def _with_zeros(out: Array, x: Array, zeros: tuple[tuple[float, float], ...]) -> Array:
    for high, low in zeros:
        out = out * (x - high) - out * low
    return out


def _positive(m: int, x: Array, zeta: Array) -> Array:
    r"""$e^\zeta$ times Ai or Ai', as `m` is 0 or 1, where $x \ge 2$; below 2, $e^x$ times it."""
    near = horner(_RIGHT[m], jnp.clip(x, 0, 2) - 1)
    inverse = 1 / zeta
    numerator, denominator = _FAR[m]
    rest = inverse * (horner(numerator, inverse) / horner(denominator, inverse))
    root = jnp.sqrt(jnp.sqrt(jnp.maximum(x, 2)))
    scaled = 0.5 / math.sqrt(math.pi) + rest
    return jnp.where(x < 2, near, -scaled * root if m else scaled / root)

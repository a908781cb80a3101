"""What an accelerator could not run is found where there is none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import call, CHECKS, OpInfo, run_cell
from functx.testing.checks.lowering import PLATFORMS


ELSEWHERE = [platform for platform in PLATFORMS if platform != "cpu"]


def samples(make):
    yield call(make(3, 3))


def on_the_host(x):
    return jax.pure_callback(np.sin, x, x, vmap_method="expand_dims")


def printed(x):
    jax.debug.print("{}", x)
    return x


def a_kernel_of_cpus(x):
    return jax.ffi.ffi_call("lapack_sgeev_ffi", x)(x)


def schur(x):
    return lax.linalg.schur(x)[0]


derived_on_the_host = derivative_rules(
    jnp.sin, jvp=lambda primals, output, tangents: on_the_host(primals[0]) * tangents[0]
)


def slope(x):
    return derivative_rules(
        jnp.cos, jvp=lambda primals, output, tangents: -on_the_host(primals[0]) * tangents[0]
    )(x)


curved_on_the_host = derivative_rules(
    jnp.sin, jvp=lambda primals, output, tangents: slope(primals[0]) * tangents[0]
)


@pytest.mark.parametrize("platform", ELSEWHERE)
@pytest.mark.parametrize(
    "f, complaint",
    [
        (on_the_host, r"calls back to the host \(pure_callback\)"),
        (printed, r"calls back to the host \(debug_\w+\)"),
        (derived_on_the_host, r"calls back to the host \(pure_callback\)"),
        (a_kernel_of_cpus, "calls what CPUs have: lapack_sgeev_ffi"),
        (schur, "does not lower: .*'schur' not found for platform"),
    ],
)
def test_what_needs_a_cpu_fails(f, complaint, platform):
    stopped = lambda x: f(x) if f is derived_on_the_host else f(lax.stop_gradient(x))
    info = OpInfo(stopped, samples, variant=f.__name__)
    with pytest.raises(AssertionError, match=f"for {platform} {complaint}"):
        run_cell(info, "float32", f"lowers_{platform}")


def test_what_needs_a_cpu_in_second_derivatives_alone_fails_composed():
    info = OpInfo(curved_on_the_host, samples, variant="curved")
    for platform in ELSEWHERE:
        run_cell(info, "float32", f"lowers_{platform}")
        with pytest.raises(AssertionError, match="calls back to the host"):
            run_cell(info, "float32", f"composed_lowers_{platform}")


def test_a_callback_for_cpus_alone_passes():
    either = lambda x: lax.platform_dependent(x, cpu=on_the_host, default=jnp.sin)
    info = OpInfo(lambda x: either(lax.stop_gradient(x)), samples)
    for platform in ELSEWHERE:
        run_cell(info, "float32", f"lowers_{platform}")


def test_every_platform_but_the_cpu_has_its_checks():
    kinds = {f"{kind}lowers_{platform}" for platform in ELSEWHERE for kind in ("", "composed_")}
    assert kinds == {name for name in CHECKS if "lowers" in name}

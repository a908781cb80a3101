"""Each option of `gradcheck` finds a fault that is not seen without it."""

import itertools

import jax
import numpy as np
import pytest
from jax.custom_batching import custom_vmap

import functx
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import gradcheck, GradcheckError


X = np.array([0.7, -0.4, 1.2])
Y = np.array([1.1, 0.6, -0.9])
FORWARD_ONLY = {"check_forward_ad": True, "check_backward_ad": False}
both_modes = pytest.mark.parametrize("fast_mode", [False, True])


def with_pullback(forward, backward, **options):
    """`jax.custom_vjp` of `forward`, whose rule needs no residuals."""
    function = jax.custom_vjp(forward)
    if options.get("symbolic_zeros"):
        run = lambda *xs: (forward(*[x.value for x in xs]), None)
    else:
        run = lambda *xs: (forward(*xs), None)
    function.defvjp(run, lambda _, ct: backward(ct), **options)
    return function


def seen_only_with(option, function, inputs, match, fast_mode=False, **others):
    """The function passes with `others` alone; with `option` besides, it does not."""
    options = {"fast_mode": fast_mode, **others}
    assert gradcheck(function, inputs, **{**options, **dict.fromkeys(option, False)})
    with pytest.raises(GradcheckError, match=match):
        gradcheck(function, inputs, **{**options, **option})


@both_modes
def test_a_wrong_rule_is_seen_by_its_own_mode(fast_mode):
    double = lambda x: 2 * x
    right, wrong = (lambda xs, _, ts: 2 * ts[0]), (lambda xs, _, ts: 3 * ts[0])
    pull, wrong_pull = (lambda xs, _, ct: (2 * ct,)), (lambda xs, _, ct: (3 * ct,))
    only_reverse = derivative_rules(double, jvp=right, vjp=wrong_pull)
    only_forward = derivative_rules(double, jvp=wrong, vjp=pull)
    reverse = {"check_backward_ad": True}
    match = "gradcheck: Jacobian mismatch"
    seen_only_with(reverse, only_reverse, X, match, fast_mode, check_forward_ad=True)
    match = "computed with forward mode mismatch for output 0 with respect to input 0"
    seen_only_with({"check_forward_ad": True}, only_forward, X, match, fast_mode)


@pytest.mark.parametrize(
    "fast, forward, reverse, broken",
    [
        (*bits, broken)
        for bits in itertools.product([False, True], repeat=3)
        for broken in ("", "FORWARD", "REVERSE", "FORWARD REVERSE")
    ],
)
def test_a_mode_that_is_not_checked_is_not_run(fast, forward, reverse, broken):
    def rule(mode, result):
        if mode in broken:
            raise RuntimeError(f"no {mode} mode")
        return result

    double = derivative_rules(
        lambda x: 2 * x,
        jvp=lambda xs, _, ts: rule("FORWARD", 2 * ts[0]),
        vjp=lambda xs, _, ct: rule("REVERSE", (2 * ct,)),
    )
    run = lambda: gradcheck(
        double,
        X,
        fast_mode=fast,
        check_forward_ad=forward,
        check_backward_ad=reverse,
        check_batched_grad=reverse,
    )
    if not forward and not reverse:
        with pytest.raises(AssertionError, match="Expected at least one of"):
            run()
    elif reverse and "REVERSE" in broken:
        with pytest.raises(RuntimeError, match="no REVERSE mode"):
            run()
    elif forward and "FORWARD" in broken:
        with pytest.raises(RuntimeError, match="no FORWARD mode"):
            run()
    else:
        assert run()


def wrongly_batched(x):
    """Twice `x`, three times under `vmap`."""
    double = custom_vmap(lambda x: 2 * x)
    double.def_vmap(lambda size, batched, x: (3 * x, True))
    return double(x)


def never_batched(x):
    double = custom_vmap(lambda x: 2 * x)

    @double.def_vmap
    def rule(size, batched, x):
        raise NotImplementedError("no rule for batches")

    return double(x)


@both_modes
@pytest.mark.parametrize(
    "double, told", [(wrongly_batched, "got:\n"), (never_batched, "got: no rule for batches")]
)
def test_a_wrong_batching_rule_of_the_pullback_is_seen(double, told, fast_mode):
    function = with_pullback(lambda x: (x, 2 * x), lambda cts: (cts[0] + double(cts[1]),))
    option = {"check_batched_grad": True}
    match = rf"(?s)gradcheck or gradgradcheck failed while testing batched gradient.*{told}"
    seen_only_with(option, function, X, match, fast_mode)


@both_modes
@pytest.mark.parametrize(
    "double, told", [(wrongly_batched, "got:\n"), (never_batched, "got: no rule for batches")]
)
def test_a_wrong_batching_rule_of_the_pushforward_is_seen(double, told, fast_mode):
    function = jax.custom_jvp(lambda x, y: 2 * y)
    function.defjvp(lambda xs, ts: (2 * xs[1], double(ts[1])))
    option = {"check_batched_forward_grad": True}
    match = f"(?s)failed while testing batched gradient computation with forward-mode AD.*{told}"
    seen_only_with(option, function, (X, Y), match, fast_mode, **FORWARD_ONLY)


def test_random_numbers_inside_a_batched_pushforward_are_refused_by_vmap():
    def jvp(xs, output, tangents):
        functx.rand(3)
        return 2 * tangents[0]

    double = derivative_rules(lambda x: 2 * x, jvp=jvp)
    option = {"check_batched_forward_grad": True}
    with functx.random.scope(jax.random.key(0)):
        seen_only_with(option, double, X, "(?s)failed while.*randomness", **FORWARD_ONLY)


def jittering(x, by):
    """`x`, whose gradient is off by some multiple of `by`, another one each time."""
    random = np.random.default_rng(0)
    backward = lambda ct: (ct * (1 + by * random.random(ct.shape)),)
    return with_pullback(lambda x: x, backward)(x)


@both_modes
def test_a_pullback_that_is_not_deterministic_is_seen(fast_mode):
    options = {"fast_mode": fast_mode, "check_undefined_grad": False}
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        gradcheck(lambda x: jittering(x, 1e-6), X, **options)
    assert gradcheck(lambda x: jittering(x, 0.0), X, **options)
    assert gradcheck(lambda x: jittering(x, 1e-6), X, nondet_tol=1e-5, **options)
    every = {"check_batched_grad": True, "check_undefined_grad": True}
    assert gradcheck(lambda x: (jittering(x, 1e-4), x), X, nondet_tol=1e-3, **options | every)


@both_modes
@pytest.mark.parametrize(
    "x, backward",
    [
        (X, lambda ct: ((2 * ct).astype("float32"),)),
        (np.abs(X).astype("complex128"), lambda ct: ((2 * ct).astype("complex64"),)),
        (X, lambda ct: ((2 * ct).astype("complex128"),)),
    ],
    ids=["f32", "c64", "complex"],
)
def test_a_gradient_of_the_wrong_dtype_is_seen(x, backward, fast_mode):
    function = with_pullback(lambda x: 2 * x, backward)
    match = r"Gradient has dtype mismatch: of input 0 \(`inputs\[0\]`\)"
    seen_only_with({"check_grad_dtypes": True}, function, x, match, fast_mode)


UNDEFINED = {"check_undefined_grad": True}
Zero = jax.custom_derivatives.SymbolicZero


def ignoring(cts):
    """Right if all cotangents are given, and otherwise as if none were."""
    given = [ct for ct in cts if not isinstance(ct, Zero)]
    return (sum((k + 1) * ct for k, ct in enumerate(given)),)


@both_modes
@pytest.mark.parametrize(
    "count, backward, told",
    [
        (2, lambda cts: (cts[0] + 2 * cts[1],), "unsupported operand"),
        (2, ignoring, "the gradient of input 0"),
        (3, lambda cts: ([cts[0] + 2 * cts[1] + 3 * cts[2]]), "unsupported operand"),
    ],
    ids=["raises", "wrong", "three"],
)
def test_undefined_cotangents_are_not_zeros_to_every_rule(count, backward, told, fast_mode):
    forward = lambda x: tuple((k + 1) * x for k in range(count))
    function = with_pullback(forward, lambda cts: tuple(backward(cts)), symbolic_zeros=True)
    match = f"(?s)Expected backward function to handle undefined output grads.*{told}"
    seen_only_with(UNDEFINED, function, X, match, fast_mode)


@pytest.mark.parametrize("missing", [1, 2])
def test_of_three_cotangents_one_and_two_are_left_undefined(missing):
    """This rule knows what to do, but for so many missing."""

    def backward(cts):
        if sum(isinstance(ct, Zero) for ct in cts) == missing:
            raise TypeError("too few")
        given = [(k, ct) for k, ct in enumerate(cts) if not isinstance(ct, Zero)]
        return (sum((k + 1) * ct for k, ct in given),)

    forward = lambda x: (x, 2 * x, 3 * x)
    function = with_pullback(forward, backward, symbolic_zeros=True)
    kept = r"\[1, 2\]" if missing == 1 else r"\[0\]"
    match = rf"where only outputs {kept} of \[0, 1, 2\] have cotangents, got: too few"
    seen_only_with(UNDEFINED, function, X, match)


@both_modes
@pytest.mark.parametrize("raises", [False, True])
def test_undefined_tangents_are_not_zeros_to_every_rule(raises, fast_mode):
    function = jax.custom_jvp(lambda x, y: x + 2 * y)

    def rule(xs, ts):
        still = any(isinstance(t, Zero) for t in ts)
        if still and raises:
            raise TypeError("no tangent")
        given = [t for t in ts if not isinstance(t, Zero)]
        return xs[0] + 2 * xs[1], given[0] if still else ts[0] + 2 * ts[1]

    function.defjvp(rule, symbolic_zeros=True)
    match = "undefined tangent.*no tangent" if raises else "(?s)Mismatch in tangent values"
    seen_only_with(UNDEFINED, function, (X, Y), match, fast_mode, **FORWARD_ONLY)


@both_modes
def test_a_gradient_that_is_no_multiple_of_the_cotangent_is_seen(fast_mode):
    """Within the tolerance of the Jacobian, so that this is the check that finds it."""
    function = with_pullback(lambda x: x, lambda ct: (ct + 1e-7,))
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(function, X, fast_mode=fast_mode)


def test_infinite_gradients_are_no_numbers_to_subtract():
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(functx.sqrt, np.zeros(1))

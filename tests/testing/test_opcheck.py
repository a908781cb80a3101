"""`opcheck` on functions that are right: what it looks at, what it leaves out, what it refuses."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing import CHECKS, opcheck, OpcheckLine
from functx.testing.opchecking import making
from functx.testing.opchecking.shrinking import shrunk


X = jnp.linspace(-1.5, 2.0, 6, dtype="float32").reshape(2, 3)
DIFFERENCES = ["gradient", "gradcheck"]


class Sine(functx.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return jnp.sin(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return jnp.cos(x) * grad_output


@jax.custom_vjp
def cube(x):
    return x**3


cube.defvjp(lambda x: (x**3, x), lambda x, ct: (3 * x**2 * ct,))


def only_here(x):
    if not isinstance(x, jax.core.Tracer) and not bool((x.astype("float32") == X).all()):
        raise ValueError("not here")
    return jnp.sin(x)


def verdicts(report):
    return {line.check: line.verdict for line in report.lines}


def test_every_check_of_derivatives_and_batches_is_made():
    report = opcheck(Sine.apply, X[0, :2])
    assert report.passed and not report.failures and report.smallest is None
    assert set(verdicts(report).values()) == {"passed"}
    needing_more = {"reference", "dtypes", "conventions", "refusals", "garbage", "sizes", "strict"}
    needing_more |= {"x64_off", "varying", "shard_map", "sharded", "keys", "lanes", "moments"}
    needing_more |= {"extremal", "distribution", "halves", "jet", "limits", "storage"}
    needing_more |= {"graph", "partition", "autocast", "taylor", "laplacian", "sparsity"}
    needing_more |= {"tails", "spelling", "symbolic", "symbolic_values", "weak", "weak_derivatives"}
    needing_more |= {name for name in CHECKS if "lowers_" in name}
    own = {"call", "repeat", "forward", "reverse", "gradcheck", "gradgradcheck"}
    assert set(verdicts(report)) == (set(CHECKS) - needing_more) | own
    assert str(report).startswith("opcheck of Sine.apply(f32[2]): 38 checks, 0 failed, 0 left out")
    report.raise_if_failed()


def test_arguments_are_trees_numbers_and_keys():
    def model(params, x, power, *, key, name="none"):
        assert isinstance(power, int) and name == "given"
        noise = jax.random.normal(key, x.shape, x.dtype)
        return {"y": x @ params["w"] + noise @ params["w"] ** power, "name": name}

    params = {"w": np.ones((3, 2), "float32")}
    options = {"key": jax.random.key(0), "name": "given"}
    names = ["call", "repeat", "reverse", "vmap", "vmap_vjp", *DIFFERENCES]
    report = opcheck(model, params, X, 2, kwargs=options, checks=names)
    assert verdicts(report) == dict.fromkeys(names, "passed"), report
    assert "f32[2,3], 2, key=key<fry>[], name='given'" in report.call


def test_functions_get_arrays_of_jax_and_operators_those_of_numpy_too():
    def kept(x):
        seen.add(isinstance(x, jax.Array))
        return functx.sin(x)

    for spec, kinds in ((None, {True}), (functx.sin.spec, {True, False})):
        kept.spec, seen = spec, set()
        assert opcheck(kept, X, checks=["layouts", "vmap", "vmap_eager"]).passed
        assert seen == kinds


def test_whole_numbers_of_numpy_are_numbers():
    def summed(x, dim, *, keepdim):
        assert isinstance(dim, np.int64) and isinstance(keepdim, np.bool_)
        return x.reshape(dim + 2, -1).sum(dim, keepdims=keepdim)

    options = {"keepdim": np.bool_(True)}
    report = opcheck(summed, X, np.int64(1), kwargs=options, checks=["jit", "vmap", "vjp"])
    assert set(verdicts(report).values()) == {"passed"}, report


def test_integers_are_batched_and_not_differentiated():
    table = jnp.linspace(0, 1, 5, dtype="float64") ** 2
    report = opcheck(lambda i: table[i], jnp.asarray([0, 3]), checks=["vmap", "vjp", "gradcheck"])
    assert verdicts(report) == {"vmap": "passed", "vjp": "left out", "gradcheck": "left out"}


def test_differences_of_single_precision_are_made_in_double():
    for x64 in (True, False):
        with functx.x64(x64):
            report = opcheck(jnp.sin, jnp.ones(2, "float32"), checks=DIFFERENCES)
        assert [line.said for line in report.lines] == ["differences in double precision"] * 2
    assert [line.said for line in opcheck(jnp.sin, jnp.ones(2), checks=DIFFERENCES).lines] == [
        "",
        "",
    ]


@pytest.mark.parametrize(
    "f, why",
    [
        (lambda x: jnp.sin(x.astype("float32")), "the result is f32[2,3]"),
        (lambda x: jnp.sin(x.astype("float32")).astype(x.dtype), "casts to float32 inside"),
        (lambda x: x * jnp.ones(3, "float32"), "in double precision, which differences need, it"),
        (lambda x: jnp.abs(x - X[0, 1].astype(x.dtype)), "a kink or a jump here"),
        (lambda x: only_here(x), "beside these arguments it raises ValueError: not here"),
        (lambda x: jnp.log(x), "a result is not finite here"),
        (lambda x: jnp.sqrt(x - X.min().astype(x.dtype)), "beside this one is not finite"),
        (lambda x: jnp.round(x - X[0, 1].astype(x.dtype) + 0.5), "a kink or a jump here"),
    ],
)
def test_differences_that_say_nothing_are_left_out(f, why):
    report = opcheck(f, X, checks=DIFFERENCES)
    assert report.passed and len(report.left_out) == 2
    assert all(why in line.said for line in report.left_out), report


def test_a_mode_that_a_rule_lacks_is_left_out_on_request():
    names = ["forward", "vjp", "vjp_jvp", "vmap_vjp", "gradcheck", "gradgradcheck"]
    report = opcheck(cube, X, checks=names, modes=("reverse",))
    assert report.passed
    left_out = {line.check for line in report.left_out}
    assert left_out == {"forward", "vjp", "vjp_jvp"}
    assert not opcheck(cube, X, checks=["forward"]).passed

    def loops(x):
        return jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]

    report = opcheck(loops, X, checks=["reverse", "vmap_jvp", "gradcheck"], modes="forward")
    assert verdicts(report) == dict(reverse="left out", vmap_jvp="passed", gradcheck="passed")


def test_checks_on_request():
    report = opcheck(functx.exp, X, checks=["strict", "shard_map"])
    assert verdicts(report) == {"strict": "passed", "shard_map": "passed"}


def test_a_check_that_does_not_apply_is_left_out_with_the_reason():
    stated = ["reference", "dtypes", "conventions", "refusals", "moments", "distribution", "tails"]
    declared = ["garbage", "sizes", "spelling", "storage", "weak", "keys", "lanes"]
    names = [*stated, *declared, "extremal", "halves"]
    report = opcheck(jnp.sin, jnp.ones(3, "int32"), checks=names)
    assert verdicts(report) == dict.fromkeys(names, "left out"), report
    for line in report.lines:
        assert line.said.startswith("does not apply: it ") and not line.remedy
    assert not opcheck(jnp.sin, X, checks=["extremal"]).left_out
    with functx.x64(False):
        [line] = opcheck(jnp.sin, X, checks=["extremal"]).left_out
    assert "functx.enable_x64() turns on" in line.said


def test_a_check_that_lacks_devices_is_left_out(monkeypatch):
    monkeypatch.setattr(making, "enough_devices", lambda: False)
    [line] = opcheck(jnp.sin, X, checks=["sharded"]).left_out
    assert line.said.startswith("does not apply: it needs 8 devices, and there are ")


def test_the_longest_name_of_a_check_stands_apart_from_the_verdict():
    assert "composed_lowers_cuda passed" in str(OpcheckLine("composed_lowers_cuda", "passed"))


def test_other_lanes_are_in_the_domain_where_one_can_be_found():
    positive_definite = jnp.asarray([[2.0, 1.0], [1.0, 3.0]])
    report = opcheck(jnp.linalg.cholesky, positive_definite, checks=["vmap", "vmap_vjp"])
    assert report.passed, report


def test_a_report_is_a_value():
    report = opcheck(jnp.sin, X, checks=["call"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.lines = ()
    assert repr(report) == "<opcheck of sin(f32[2,3]): passed>"


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: opcheck(3, X), TypeError, "`f` must be callable, got 3"),
        (lambda: opcheck(jnp.sin), ValueError, "expected an array among the arguments, got"),
        (lambda: opcheck(jnp.sin, 2.0), ValueError, "jnp.asarray\\(x\\) makes an array"),
        (lambda: opcheck(jnp.sin, X, checks=["vmop"]), ValueError, "must be of call, .* 'vmop'"),
        (lambda: opcheck(jnp.sin, X, checks=["vmop"]), ValueError, "did you mean 'vmap'"),
        (lambda: opcheck(jnp.sin, X, checks=[]), ValueError, r"`checks` must name one at least"),
        (lambda: opcheck(jnp.sin, X, checks=3), TypeError, "`checks` must be names, got 3"),
        (lambda: opcheck(jnp.sin, X, modes="sideways"), ValueError, "`modes` must be of forward"),
        (lambda: opcheck(jnp.sin, X, modes=()), ValueError, "`modes` must name one at least"),
        (lambda: opcheck(jnp.sin, X, ulps=-1), ValueError, "`ulps` must be finite and not neg"),
        (lambda: opcheck(jnp.sin, X, ulps=np.nan), ValueError, "not negative, got nan"),
        (lambda: opcheck(jnp.sin, X, ulps=np.inf), ValueError, "must be finite .* got inf"),
        (lambda: opcheck(jnp.sin, X, ulps=True), TypeError, "`ulps` must be a real number"),
        (lambda: opcheck(jnp.sin, X, ulps="3"), TypeError, "or None, got '3'"),
        (lambda: opcheck(jnp.sin, X, attempts=-1), ValueError, "`attempts` must not be negative"),
        (lambda: opcheck(jnp.sin, X, attempts=True), TypeError, "`attempts` must be an integer"),
        (lambda: opcheck(jnp.sin, X, attempts=1.5), TypeError, "must be an integer, got 1.5"),
        (lambda: opcheck(jnp.sin, X, check="jit"), TypeError, "hint: did you mean 'checks'"),
        (lambda: opcheck(jnp.sum, X, axis=0), TypeError, "`axis` does not .* go into kwargs="),
        (lambda: opcheck(jnp.sin, X, kwargs=3), TypeError, "`kwargs` must be a dict .* got 3"),
        (lambda: opcheck(jnp.sin, X, kwargs={3: 2}), TypeError, "from names to arguments"),
        (lambda: jax.jit(lambda x: opcheck(jnp.sin, x))(X), TypeError, "outside of jit"),
    ],
)
def test_what_cannot_be_checked_is_refused(call, error, message):
    with pytest.raises(error, match=f"(?s)^opcheck: .*{message}"):
        call()


def test_shrinking_shortens_what_must_agree_together_and_simplifies_values():
    tried = []

    def holds(arrays):
        tried.append(arrays)
        x, y = arrays
        return x.shape[1] == y.shape[0] and x.shape[0] > 1 and bool((x > 1.5).any())

    x, y = np.full((4, 5), 2.3), np.full((5, 3), 7)
    small, other = shrunk([x, y], holds, 40)
    assert small.tolist() == [[1.0], [2.0]]
    assert other.tolist() == [[0]]
    assert len(tried) <= 40
    unchanged, _ = shrunk([x, y], holds, 0)
    assert unchanged.shape == (4, 5)

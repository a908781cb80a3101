"""The checks catch what they are for: each wrong function here fails the check named."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from faults import differs_by_layout, differs_under_jit, loops_over_lanes

import functx
import functx.testing
from functx._core.rules.custom_derivatives import derivative_rules
from functx.testing import (
    call,
    CHECKS,
    Convention,
    FixedSizes,
    OpInfo,
    Refusal,
    run_cell,
)


def samples(make):
    yield call(make.nonzero(2, 3))


def info(f, **known):
    known = {"dtypes": ("float32", "float64", "bfloat16")} | known
    return OpInfo(f, samples, **known)


def sine(x):
    return jnp.sin(x)


wrong_forward_rule = derivative_rules(
    jnp.sin,
    jvp=lambda primals, output, tangents: 2 * jnp.cos(primals[0]) * tangents[0],
    vjp=lambda primals, output, cotangent: (jnp.cos(primals[0]) * cotangent,),
)
wrong_reverse_rule = derivative_rules(
    jnp.sin,
    jvp=lambda primals, output, tangents: jnp.cos(primals[0]) * tangents[0],
    vjp=lambda primals, output, cotangent: (2 * jnp.cos(primals[0]) * cotangent,),
)
wrong_sign_in_reverse = derivative_rules(
    jnp.sin,
    jvp=lambda primals, output, tangents: jnp.cos(primals[0]) * tangents[0],
    vjp=lambda primals, output, cotangent: (-jnp.cos(primals[0]) * cotangent,),
)
infinite_in_forward = derivative_rules(
    jnp.sin,
    jvp=lambda primals, output, tangents: jnp.inf * tangents[0],
    vjp=lambda primals, output, cotangent: (jnp.cos(primals[0]) * cotangent,),
)
wrong_in_both = derivative_rules(
    jnp.sin, jvp=lambda primals, output, tangents: 2 * jnp.cos(primals[0]) * tangents[0]
)
# Off by 6 %, alike in both modes, where no differences are taken.
wrong_in_halves = derivative_rules(
    jnp.sin,
    jvp=lambda primals, output, tangents: (
        jnp.cos(primals[0]) * tangents[0] * (1.0625 if primals[0].dtype.itemsize == 2 else 1)
    ),
)
# Right at first order: its own derivative forgets that the cosine moves.
wrong_at_second_order = derivative_rules(
    jnp.sin,
    jvp=lambda primals, output, tangents: jax.lax.stop_gradient(jnp.cos(primals[0])) * tangents[0],
)


# A loop's body is recorded before anything differentiates it; unrolled, the step is differentiated.
def loses_its_curvature_when_recorded(x):
    recorded = "Jaxpr" in type(x).__name__
    return (wrong_at_second_order if recorded else jnp.sin)(x)


def sees_its_batch(x):
    return x if type(x).__name__ in ("BatchTracer", "LayerValue") else x * 2


def sees_its_curve(x):
    return jnp.sin(x) * (2 if "Jet" in type(x).__name__ else 1)


def weakly_typed(x):
    return jax.lax.convert_element_type_p.bind(x, new_dtype=x.dtype, weak_type=True, sharding=None)


def reads_strides_as_packed(x):
    steps = x.strides if isinstance(x, np.ndarray) else ()
    return jnp.sin(x) + float(any(abs(step) not in (4, 8, 12) for step in steps))


def takes_arrays_alone(x):
    assert isinstance(x, (np.ndarray, jax.Array))
    return jnp.sin(x)


def test_every_layout_of_a_number_is_an_array():
    entry = OpInfo(takes_arrays_alone, lambda make: [call(make())], dtypes=("float32",))
    run_cell(entry, "float32", "layouts")


def freezes_a_size(x):
    return x / int(x.shape[-1])


def asks_whether_a_size_is_even(x):
    return 2 * x if x.shape[-1] % 2 == 0 else x


@pytest.mark.parametrize(
    "name, wrong, dtype",
    [
        ("gradient", wrong_forward_rule, "float64"),
        ("gradient", wrong_reverse_rule, "float64"),
        ("gradient", wrong_in_both, "float64"),
        ("second_gradient", wrong_at_second_order, "float64"),
        ("vjp", wrong_forward_rule, "float32"),
        ("vjp", wrong_reverse_rule, "float32"),
        ("grad", wrong_reverse_rule, "float32"),
        ("gradient", infinite_in_forward, "float64"),
        ("vjp", infinite_in_forward, "float32"),
        ("vjp", wrong_forward_rule, "bfloat16"),
        ("halves", wrong_in_halves, "bfloat16"),
        ("grad", wrong_sign_in_reverse, "bfloat16"),
        ("hessian_in_scan", loses_its_curvature_when_recorded, "float32"),
        ("jet", sees_its_curve, "float64"),
        ("vmap", sees_its_batch, "float32"),
        ("vmap_eager", sees_its_batch, "float32"),
        ("vmap_rule", loops_over_lanes, "float32"),
        ("dtypes", weakly_typed, "float32"),
        ("jit", differs_under_jit, "float32"),
        ("layouts", differs_by_layout, "float32"),
        ("layouts", reads_strides_as_packed, "float32"),
        ("symbolic", freezes_a_size, "float32"),
        ("symbolic_values", asks_whether_a_size_is_even, "float32"),
    ],
)
def test_wrong_function_fails(name, wrong, dtype):
    with pytest.raises(AssertionError):
        run_cell(info(wrong), dtype, name)


def test_a_size_that_may_be_a_symbol_after_all_fails_its_entry():
    fixed = FixedSizes("x", "nothing", dims=(-1,))
    run_cell(info(freezes_a_size, fixed_sizes=(fixed,)), "float32", "symbolic")
    with pytest.raises(AssertionError, match=r"exports with symbols for the sizes of x\[-1\]"):
        run_cell(info(sine, fixed_sizes=(fixed,)), "float32", "symbolic")


def warns_in_32_bits(x):
    return x + 0 * jnp.ones((), "float64").astype(x.dtype)


def test_what_warns_with_64_bit_off_fails():
    with pytest.raises(UserWarning, match="float64"):
        run_cell(info(warns_in_32_bits), "float32", "x64_off")


@pytest.mark.parametrize("check", ["vmap", "vmap_eager", "vmap_rule", "layouts"])
def test_a_cell_without_arrays_fails(check):
    entry = OpInfo(lambda: jnp.ones(2), lambda make: iter([call()]), dtypes=("float32",))
    with pytest.raises(AssertionError, match="no sample has anything to check"):
        run_cell(entry, "float32", check)


def test_wrong_value_fails_the_reference():
    with pytest.raises(AssertionError, match="expected"):
        run_cell(info(sine, reference=np.cos), "float32", "reference")


def test_accepted_bad_input_fails_the_refusals():
    refusals = lambda make: iter([Refusal(call(make(2)), "never")])
    with pytest.raises(AssertionError, match="accepted"):
        run_cell(info(sine, refusals=refusals), "float32", "refusals")


def test_a_list_in_the_place_of_an_array_is_refused_everywhere():
    def takes_lists(input):
        return functx.sin(jnp.asarray(input))

    run_cell(info(functx.sin), "float32", "refusals")
    takes_lists.spec = functx.sin.spec
    with pytest.raises(AssertionError, match="accepted, expected TypeError"):
        run_cell(info(takes_lists), "float32", "refusals")


def test_garbage_that_is_accepted_fails():
    def takes_anything(input):
        return functx.sin(input) if isinstance(input, jax.Array) else jnp.zeros(())

    run_cell(info(functx.sin), "float32", "garbage")
    takes_anything.spec = functx.sin.spec
    with pytest.raises(AssertionError, match=r"input=dict: accepted"):
        run_cell(info(takes_anything), "float32", "garbage")


@pytest.mark.parametrize(
    "error, complaint",
    [
        (AttributeError("'dict' object has no attribute 'ndim'"), "input=dict: AttributeError"),
        (TypeError("not a valid JAX type"), "names not both sin and `input`"),
        (TypeError("sin: `input` is <object object at 0x7f>"), "not in plain words"),
    ],
)
def test_garbage_that_is_refused_in_other_words_fails(error, complaint):
    def refuses(input):
        raise error

    refuses.spec = functx.sin.spec
    with pytest.raises(AssertionError, match=complaint):
        run_cell(info(refuses), "float32", "garbage")


def test_a_huge_size_that_is_not_refused_fails():
    def gives(size):
        return jnp.zeros(2**20)

    sizes = lambda make: iter([call((2, 3))])
    run_cell(OpInfo(functx.zeros, sizes), "float32", "sizes")
    gives.spec = functx.zeros.spec
    with pytest.raises(AssertionError, match="gave 8388608 bytes"):
        run_cell(OpInfo(gives, sizes), "float32", "sizes")


def test_wrong_error_message_fails_the_refusals():
    bad = lambda make: iter([Refusal(call(make(2), make(3)), "apples", TypeError)])
    with pytest.raises(AssertionError, match="apples"):
        run_cell(info(sine, refusals=bad), "float32", "refusals")


def transposed(x):
    return jnp.swapaxes(x, -1, -2)


def spread(factor):
    """Cubes of a symmetric matrix of which one triangle is read, the gradient spread over both."""
    symmetric = derivative_rules(
        lambda A: jnp.tril(A) + transposed(jnp.tril(A, -1)),
        jvp=lambda primals, output, tangents: factor * (tangents[0] + transposed(tangents[0])) / 2,
    )
    return lambda A: symmetric(A) ** 3


def test_differences_are_taken_along_the_directions_of_the_entry():
    matrices = lambda make: iter([call(make.nonzero(3, 3))])
    for name in ("gradient", "second_gradient"):
        for directions, factor, right in [
            (None, 1, False),
            (lambda x, at: x + transposed(x), 1, True),
            (lambda x, at: x + transposed(x), 2, False),
        ]:
            entry = OpInfo(spread(factor), matrices, directions=directions)
            if right:
                run_cell(entry, "float64", name)
                continue
            with pytest.raises(AssertionError, match="by differences"):
                run_cell(entry, "float64", name)


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_right_function_passes(name):
    mine = info(sine, reference=np.sin)
    dtype = "float64" if "gradient" in name else "float32"
    if CHECKS[name].applies(mine, dtype):
        run_cell(mine, dtype, name)


PASSING = {
    "value": [0, 1],
    "gradient": [0, -1],
    "hessian": [[0, 0], [0, 0]],
    "holds": lambda y: y >= 0,
}
FAILING = {
    "value": [-0.0, 1],
    "gradient": [1, -1],
    "hessian": [[2, 0], [0, 0]],
    "holds": lambda y: y > 0,
}


def at_kink(**stated):
    conventions = lambda make: iter([Convention("0", call(make.put([0, -1])), **stated)])
    return info(gentle, conventions=conventions)


gentle = derivative_rules(
    jnp.abs, jvp=lambda primals, output, tangents: jnp.sign(primals[0]) * tangents[0]
)


@pytest.mark.parametrize("what", PASSING)
def test_convention(what):
    run_cell(at_kink(**{what: PASSING[what]}), "float32", "conventions")
    with pytest.raises(AssertionError, match=f"0: .*(?:{what}|hold)"):
        run_cell(at_kink(**{what: FAILING[what]}), "float32", "conventions")


def test_conventions_of_one_program_are_judged_each():
    at = lambda make, x, slope: Convention(f"at {x}", call(make.put(x)), gradient=slope)
    stated = lambda make: iter([at(make, -2.0, -1), at(make, 2.0, -1), at(make, 3.0, 1)])
    with pytest.raises(
        AssertionError,
        match="^abs, at 2.0: gradient in forward mode 1.0, expected -1; .*mode 1.0, expected -1$",
    ):
        run_cell(info(jnp.abs, conventions=stated), "float32", "conventions")


@pytest.mark.parametrize("wrong", [wrong_forward_rule, wrong_reverse_rule, wrong_at_second_order])
def test_wrong_rule_fails_the_convention_that_names_a_formula(wrong):
    conventions = lambda make: iter([Convention("0", call(make.put([0.5])), like=jnp.sin)])
    run_cell(info(jnp.sin, conventions=conventions), "float32", "conventions")
    with pytest.raises(AssertionError, match="derivative of order"):
        run_cell(info(wrong, conventions=conventions), "float32", "conventions")


def test_infinite_slope_is_seen_in_both_modes():
    conventions = lambda make: iter(
        [Convention("0", call(make.put([0.0, 4.0])), gradient=[np.inf, 0.25])]
    )
    run_cell(info(jnp.sqrt, conventions=conventions), "float32", "conventions")
    finite = lambda x: jnp.sqrt(jnp.maximum(x, 1e-30))
    with pytest.raises(AssertionError, match=r"forward mode.*reverse mode"):
        run_cell(info(finite, conventions=conventions), "float32", "conventions")


def test_derivatives_that_blow_up_are_not_smooth():
    conventions = lambda make: iter([Convention("0", call(make.put([0.0])), smooth=True)])
    run_cell(info(jnp.sin, conventions=conventions), "float32", "conventions")
    with pytest.raises(AssertionError, match="not finite"):
        run_cell(info(jnp.sqrt, conventions=conventions), "float32", "conventions")


def test_derivative_that_should_be_refused_fails():
    conventions = lambda make: iter([Convention("0", call(make.put([0.0])), refused="no slope")])
    with pytest.raises(AssertionError, match="differentiated in forward mode"):
        run_cell(info(jnp.sin, conventions=conventions), "float32", "conventions")


def test_cell_without_anything_to_check_fails():
    constant = lambda x: jnp.zeros(3, "int32")
    with pytest.raises(AssertionError, match="no sample has anything to check"):
        run_cell(info(constant), "float32", "vjp")


def test_lanes_are_the_same_call_with_other_values():
    [sample] = info(sine).draw("float32")
    first, second, third = (lane.arrays()[0] for lane in sample.lanes)
    assert first.shape == second.shape == third.shape
    assert not (first == second).any() and not (second == third).any()


def test_random_operators_are_refused_by_vmap_only_where_they_draw():
    def calls(make):
        yield call(make(2, 3))
        yield call(make(2, 3), training=False)

    info = OpInfo(functx.nn.functional.dropout, calls)
    assert [info.draws(sample) for sample in info.draw("float32")] == [True, False]
    run_cell(info, "float32", "lanes", profile="exhaustive")


def test_gap_is_found_by_check_dtype_and_platform():
    gap = functx.testing.Gap("vmap", "a fact", frozenset({"float16"}), frozenset({"gpu"}))
    mine = info(sine, gaps=(gap,))
    assert mine.gap("vmap", "float16", "gpu") is gap
    assert mine.gap("vmap", "float16", "cpu") is None
    assert mine.gap("vmap", "float32", "gpu") is None

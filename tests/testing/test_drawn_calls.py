"""Calls drawn from the database: which there are, how they shrink, what is refused."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import find, given, Phase, settings

import functx
from functx.testing import call, op_db, OpInfo
from functx.testing.drawing.draft import Draft
from functx.testing.drawing.written import written
from functx.testing.strategies import calls


SOME = settings(
    deadline=None, derandomize=True, database=None, phases=[Phase.generate, Phase.shrink]
)
WRITTEN_IN = {"functx": functx, "jax": jax, "jnp": jnp, "np": np}


def first_shape(drawn):
    return drawn.sample.arrays()[0].shape


def drawn_from(strategy, examples=40):
    """Calls of a strategy, always the same."""
    found = []

    @settings(SOME, max_examples=examples, phases=[Phase.generate])
    @given(strategy)
    def draw(call):
        found.append(call)

    draw()
    return found


@pytest.fixture(scope="module")
def additions():
    return drawn_from(calls(functx.add))


def test_an_operator_its_name_an_alias_and_its_entry_draw_the_same():
    (info,) = [info for info in op_db if info.op is functx.acos]
    ways = functx.acos, "acos", "arccos", info
    first = {repr(find(calls(op), lambda call: True, settings=SOME)) for op in ways}
    assert len(first) == 1


def test_a_name_of_several_entries_draws_from_each_and_an_id_from_one():
    ids = [info.id for info in op_db if info.name == "view"]
    assert len(ids) > 1
    assert {drawn.info.id for drawn in drawn_from(calls("view"))} == set(ids)
    assert {drawn.info.id for drawn in drawn_from(calls(ids[1]), 5)} == {ids[1]}


def test_shapes_broadcast_and_sides_and_dtypes_are_of_every_kind(additions):
    arrays = [drawn.sample.arrays() for drawn in additions]
    assert any(len({x.shape for x in several}) > 1 for several in arrays)
    assert {0, 1, 2, 3} <= {n for several in arrays for x in several for n in x.shape}
    assert {0, 1, 2} <= {x.ndim for several in arrays for x in several}
    assert len({x.dtype for several in arrays for x in several}) > 5


def test_arrays_come_in_every_layout(additions):
    found = [x for drawn in additions for x in drawn.args if np.size(x) > 1]
    views = [x for x in found if isinstance(x, np.ndarray)]
    assert any(isinstance(x, jax.Array) for x in found)
    assert any(x.flags.c_contiguous for x in views)
    assert any(min(x.strides) < 0 for x in views)
    assert any(not x.flags.c_contiguous and min(x.strides) > 0 for x in views)


def test_dims_are_counted_from_either_end():
    drawn = drawn_from(calls("logsumexp", dtypes=["float32"]))
    dims = [c.arguments["dim"] for c in drawn]
    assert {0, 1, -1, -2} <= {dim for dim in dims if isinstance(dim, int)}
    assert any(isinstance(dim, tuple) for dim in dims)


def test_values_are_special_on_request_alone(additions):
    whole = lambda several: [x for drawn in several for x in drawn.sample.arrays()]
    finite = lambda x: bool(np.isfinite(np.asarray(x).astype(complex)).all())
    assert all(map(finite, whole(additions)))
    special = drawn_from(calls("add", dtypes=["float32"], special=True))
    assert not all(map(finite, whole(special)))


def test_one_dtype_may_be_named_alone():
    drawn = drawn_from(calls("sin", dtypes="bfloat16"))
    assert {str(x.dtype) for c in drawn for x in c.sample.arrays()} == {"bfloat16"}


def test_sides_are_no_longer_than_asked_for():
    drawn = drawn_from(calls("sin", dtypes=["float32"], max_side=7))
    assert max(n for c in drawn for n in first_shape(c)) >= 6


def test_lanes_are_the_same_call_with_other_values(additions):
    for drawn in additions:
        shapes = [[x.shape for x in lane.arrays()] for lane in drawn.sample.lanes]
        assert shapes == [[x.shape for x in drawn.sample.arrays()]] * 3


def test_random_calls_have_a_key_and_repeat():
    drawn = find(calls("bernoulli"), lambda c: c.sample.arrays()[0].size, settings=SOME)
    assert "key=jax.random.key(" in repr(drawn)
    np.testing.assert_array_equal(drawn(), eval(repr(drawn), dict(WRITTEN_IN)))


@pytest.mark.parametrize(
    ("op", "holds", "shape"),
    [
        ("add", lambda c: True, ()),
        ("sub", lambda c: c.sample.arrays()[0].size > 1, (1, 2)),
        ("matmul", lambda c: True, (1, 1)),
    ],
)
def test_a_call_shrinks_to_the_smallest(op, holds, shape):
    smallest = find(calls(op), holds, settings=SOME)
    assert len(first_shape(smallest)) == len(shape)
    assert sorted(first_shape(smallest)) == sorted(shape)
    assert smallest.sample.dtype == "float32"
    assert all(isinstance(x, jax.Array) for x in smallest.sample.arrays())


def test_what_fails_is_reported_as_the_line_that_makes_it():
    @settings(SOME)
    @given(calls("neg", dtypes=["float32"]))
    def never_empty(call):
        assert call.sample.arrays()[0].size

    with pytest.raises(AssertionError) as caught:
        never_empty()
    assert "call=functx.neg(jnp.asarray(" in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    "value",
    [
        np.float32(0.1) * np.arange(6, dtype="float32").reshape(2, 3),
        np.arange(6).reshape(2, 3).T,
        np.flip(np.arange(3)),
        np.arange(12).reshape(2, 6)[:, ::2],
        np.zeros((0, 2, 3), "int32"),
        np.asarray([np.nan, -np.inf, -0.0, 5e-324]),
        np.asarray([complex(-0.0, np.inf), complex(1, -0.0), 1 - 2j]),
        jnp.asarray([1e-40, np.nan, 3e38], "bfloat16"),
        jnp.asarray([True, False]),
        jax.random.key(5),
        jax.random.split(jax.random.key(5))[1],
        ([1, (2.5,)], float("-inf"), -0.0, complex(0, -0.0), None, slice(2), Ellipsis, "a"),
        np.dtype("bfloat16").name,
        jnp.float32,
        functx.nn.functional.relu,
        jax.devices()[0],
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_written_makes_the_same_again(value):
    again = eval(written(value), dict(WRITTEN_IN))
    if value is jnp.float32:
        value = "float32"
    if isinstance(value, (np.ndarray, jax.Array)):
        assert type(again) is type(value) and again.dtype == value.dtype
        if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
            again, value = map(jax.random.key_data, (again, value))
        again, value = np.asarray(again), np.asarray(value)
        assert again.shape == value.shape and again.tobytes() == value.tobytes()
        return
    assert repr(again) == repr(value)


def test_a_function_of_ones_own_is_drawn_by_its_samples():
    def twice(x):
        return x * 2

    info = OpInfo(twice, lambda make: iter([call(make(2, low=0, high=1))]))
    drawn = drawn_from(calls(info), 10)
    assert all(repr(c).partition("(")[0].endswith("twice") for c in drawn)
    assert all(0 <= x <= 1 for c in drawn for x in np.ravel(c.sample.arrays()[0]))


@pytest.mark.parametrize(
    ("draw", "error", "said"),
    [
        (lambda: calls("softmx"), ValueError, "`op` names no operator: 'softmx'\n.*'softmax'"),
        (lambda: calls(jnp.sin), TypeError, "`op` must be an operator of the database.*\n.*OpInfo"),
        (lambda: calls(3), TypeError, "`op` must be an operator, its name or an OpInfo, got 3"),
        (lambda: calls("gcd", dtypes=["bool"]), ValueError, "of those that gcd takes, got .'bool'"),
        (lambda: calls("sin", dtypes=["f4", "int8"]), ValueError, "`dtypes` must be of .* 'f4'"),
        (lambda: calls("sin", dtypes="flaot32"), ValueError, "\n.*did you mean 'float32'"),
        (lambda: calls("sin", max_side=0), ValueError, "`max_side` must be an integer .* got 0"),
    ],
)
def test_what_names_no_calls_is_refused(draw, error, said):
    with pytest.raises(error, match=said):
        draw()


def raising(error):
    """The entry of `sin`, of a function that raises where an array is empty."""

    def op(input):
        if input.size == 0:
            raise error
        return functx.sin(input)

    op.spec = functx.sin.spec
    [info] = [info for info in op_db if info.op is functx.sin]
    return dataclasses.replace(info, op=op, samples=lambda make: iter([call(make(2, 3))]))


def test_a_call_that_an_operator_refuses_is_not_drawn():
    draft = Draft(raising(ValueError("sin: no elements")), "float32", 0, sizes={3: 0})
    assert not draft.may_be_taken() and not draft.is_taken()


def test_a_fault_of_an_operator_is_no_refusal():
    draft = Draft(raising(ZeroDivisionError("of its own")), "float32", 0, sizes={3: 0})
    for asked in (draft.may_be_taken, draft.is_taken):
        with pytest.raises(ZeroDivisionError, match="of its own"):
            asked()


def test_an_entry_that_cannot_make_its_own_sample_is_a_fault():
    info = dataclasses.replace(raising(None), samples=lambda make: iter([call(1 / 0)]))
    with pytest.raises(ZeroDivisionError):
        Draft(info, "float32", 0).may_be_taken()


def test_sizes_that_an_entry_cannot_make_are_not_drawn():
    samples = lambda make: iter([call(make(2, 3) + np.ones((2, 3), "float32"))])
    info = dataclasses.replace(raising(None), samples=samples)
    assert Draft(info, "float32", 0).may_be_taken()
    assert not Draft(info, "float32", 0, sizes={3: 4}).may_be_taken()

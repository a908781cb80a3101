"""The points that `conventions` looks at, its report, and what it refuses."""

import jax.numpy as jnp
import numpy as np
import pytest

import functx
from functx.testing import conventions, ConventionsError


F = functx.nn.functional


def total(x):
    return functx.abs(x).sum()


X = jnp.asarray([1.0, -2.0, 0.5], "float32")
Z = jnp.asarray([1 + 1.234567j, -2 - 1j, 1j], "complex64")


def test_report_names_points_values_and_calls():
    report = conventions(total, X)
    assert report and repr(report) == "<conventions of total(f32[3]): parted>"
    assert [line.point for line in report.lines] == ["zeros"]
    assert report.operators == ("functx.abs",)
    name = f"test_conventions_report.py:{total.__code__.co_firstlineno + 1}"
    assert str(report).splitlines() == [
        f"conventions of total(f32[3]): gradients part at 1 of {len(report.points)} points",
        "                                off by             PyTorch                 JAX",
        "zeros",
        "  args[0][0]                         1                   0                   1",
        f"    functx.abs at {name}",
    ]
    with pytest.raises(ConventionsError, match="gradients part at 1 of"):
        report.raise_if_parted()


def test_report_of_gradients_that_agree():
    report = conventions(lambda x: functx.sin(x).sum(), X)
    assert not report and report.operators == ()
    assert str(report).endswith(f"gradients agree at all of {len(report.points)} points")
    report.raise_if_parted()


def test_report_fits_the_terminal():
    def a_function_with_a_name_that_is_long(first, *, a_keyword_argument_with_a_long_name):
        y = functx.abs(first) + functx.max(a_keyword_argument_with_a_long_name["key"], 0).values
        return functx.std(y) + functx.clamp(y, 0.0, 1.0).sum() + F.softshrink(y).sum()

    long = {"a_keyword_argument_with_a_long_name": {"key": jnp.full((2, 3), 1e-7, "float32")}}
    shown = str(conventions(a_function_with_a_name_that_is_long, X, kwargs=long))
    assert max(map(len, shown.splitlines())) <= 80, shown


def test_complex_numbers_fit_too():
    shown = str(conventions(lambda z: functx.abs(z).sum() * 1.2345e-12, Z))
    assert max(map(len, shown.splitlines())) <= 80, shown


def test_points_are_made_of_each_argument():
    points = conventions(lambda x, y: (x * y).sum(), X, X).points
    assert points[0] == "as given"
    assert {"zeros", "zeros in args[0]", "zeros in args[1]", "ones", "tied pairs"} <= set(points)


def test_points_are_made_of_numbers_in_the_code():
    report = conventions(lambda x: functx.clamp(x, 0.125, 0.75).sum(), X)
    assert {line.point for line in report.lines} == {"all 0.125", "all 0.75"}


def test_points_of_complex_arrays():
    points = conventions(lambda z: functx.abs(z).sum(), Z).points
    assert {"real axis", "negative real axis", "imaginary axis", "zeros"} <= set(points)
    assert "real axis" not in conventions(total, X).points


def test_points_of_square_matrices():
    A = jnp.asarray([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.5, 1.0, 4.0]])
    points = conventions(functx.linalg.det, A).points
    assert {"identity", "repeated eigenvalues", "singular matrix", "symmetric"} <= set(points)


def test_own_points():
    report = conventions(total, X, points={"mine": (jnp.asarray([0.0, 1.0, 2.0], "float32"),)})
    assert [line.point for line in report.lines] == ["mine", "zeros"]
    report = conventions(total, X, points=[(np.zeros(3, "float32"),)], made_points=False)
    assert report.points == ("as given", "points[0]")
    assert [line.point for line in report.lines] == ["points[0]"]


def test_points_without_values_are_left_out():
    report = conventions(lambda x: functx.sqrt(x).sum(), abs(X))
    left_out = dict(report.left_out)
    assert left_out["all -1"] == "a value being NaN" and "all -1" not in report.points
    assert "left out, a value being NaN: " in str(report)


def test_points_that_an_operator_refuses_are_left_out():
    report = conventions(lambda x: F.binary_cross_entropy(x, jnp.ones(3, "float32")), X / 4 + 0.5)
    assert "must lie in [0, 1]" in dict(report.left_out)["all 6"]


def test_operators_that_jax_lacks_are_told():
    report = conventions(lambda x: F.softshrink(x).sum() + functx.sin(x).sum(), X)
    assert report.without_counterpart == ("nn.functional.softshrink",)
    assert "without a counterpart: nn.functional.softshrink" in str(report)


def test_operators_called_with_options_that_jax_lacks_are_told():
    report = conventions(lambda x: functx.linalg.vector_norm(x, dtype=jnp.float32), X)
    assert report.without_counterpart == ("linalg.vector_norm",)


def test_primitives_that_no_operator_stands_for_are_told():
    report = conventions(lambda x: jnp.zeros(2, "float32").at[jnp.asarray([0, 0, 1])].max(x), X)
    assert report.without_counterpart == ("jax scatter-max",)


def test_tolerance_is_the_callers():
    f = lambda x: functx.abs(x).sum() * 1e-3 + x.sum()
    assert conventions(f, jnp.zeros(1), made_points=False, rtol=1e-4)
    assert not conventions(f, jnp.zeros(1), made_points=False, rtol=1e-2)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"points": 3}, TypeError, "`points` must be a dict from names to points, or a list"),
        ({"points": [X]}, TypeError, r"a point must be the tuple .* got f32\[3\] for points\[0\]"),
        (
            {"points": {"a": (X[:2],)}},
            ValueError,
            r"the point a must have f32\[3\] for `args\[0\]`",
        ),
        ({"points": [(X, X)]}, ValueError, r"the point points\[0\] must have the structure"),
        ({"points": [(Z,)]}, ValueError, r".* must have f32\[3\] for `args\[0\]`, got c64\[3\]"),
        ({"mode": "both"}, ValueError, "`mode` must be 'reverse' or 'forward', got 'both'"),
        ({"rtol": "small"}, TypeError, "`rtol` must be a real number or None, got 'small'"),
        ({"rtol": -1}, ValueError, "`rtol` must be finite and not negative, got -1"),
        ({"made_points": 1}, TypeError, "`made_points` must be a bool, got 1"),
        ({"kwargs": 3}, TypeError, "`kwargs` must be a dict from names to arguments"),
        ({"unknown": 3}, TypeError, "`unknown` does not exist here"),
    ],
)
def test_refusals(options, error, message):
    with pytest.raises(error, match=f"conventions: {message}"):
        conventions(total, X, **options)


@pytest.mark.parametrize(
    "f, args, error, message",
    [
        (3, (X,), TypeError, "`f` must be callable, got 3"),
        (total, (3,), ValueError, "expected an array among the arguments"),
        (total, (jnp.arange(3),), ValueError, "expected an array with a derivative"),
        (lambda x: x > 0, (X,), ValueError, "expected an output with a derivative"),
    ],
)
def test_refused_functions(f, args, error, message):
    with pytest.raises(error, match=f"conventions: {message}"):
        conventions(f, *args)

"""Which samples a check looks at: those that show what none before them does."""

import functx
from functx.testing import call, cells, CHECKS, edge, OpInfo, run_cells
from functx.testing.checks.coverage import first_of_sets, telling


def shown(op, samples, select=telling):
    info = OpInfo(op, samples)
    drawn = list(info.draw("float32"))
    return [drawn.index(sample) for sample in select(info, drawn)]


def test_a_sample_that_shows_nothing_new_is_left_out():
    def samples(make):
        yield call(make(2, 3))
        yield call(make(3, 2))
        yield call(make(2, 3), None)

    assert shown(functx.sum, samples) == [0]


def test_each_option_is_shown_once_and_each_word_by_itself():
    def samples(make):
        yield call(make(2, 3), make(2, 3))
        yield call(make(2, 3), make(2, 3), reduction="sum")
        yield call(make(4, 3), make(4, 3), reduction="sum")
        yield call(make(2, 3), make(2, 3), reduction="none")
        yield call(make(2, 3), make(2, 3), weight=make(2, 3))

    assert shown(functx.nn.functional.mse_loss, samples) == [0, 1, 3, 4]


def test_negative_dims_ranks_and_empty_arrays_are_new():
    def samples(make):
        yield call(make(2, 3), 0)
        yield call(make(2, 3), -1)
        yield call(make(2, 3, 2), 0)
        yield call(make(3), 0)
        yield call(make(), 0)
        yield call(make(0, 3), 0)
        yield call(make(2, 3), -2)

    assert shown(functx.sum, samples) == [0, 1, 2, 4, 5]


def test_broadcasting_numbers_and_edges_are_new():
    def samples(make):
        yield call(make(2, 3), make(2, 3))
        yield call(make(2, 3), make(3))
        yield call(make(2, 3), make(1, 3))
        yield call(make(2, 3), 2.0)
        yield edge(make.edges(), make.edges())

    assert shown(functx.mul, samples) == [0, 1, 3, 4]


def test_compositions_look_at_one_sample_for_each_set_of_arrays():
    def samples(make):
        yield call(make(0, 3), make(3))
        yield call(make(2, 3), make(3))
        yield call(make(2, 3), 2.0)
        yield call(make(4), make(4))

    assert shown(functx.mul, samples, first_of_sets) == [1, 2]


def test_derivatives_are_not_looked_at_at_edges():
    def samples(make):
        yield call(make(3, low=1))
        yield edge(make.put([0.0]))  # where the derivative is infinite

    info = OpInfo(functx.sqrt, samples)
    outcomes = run_cells(info, "float64", ["gradient", "second_gradient"])
    assert [(o.samples, o.error) for o in outcomes.values()] == [(1, None), (1, None)]


def one_array(make):
    yield call(make(2, 3))


def test_profiles_grow():
    info = OpInfo(functx.sin, one_array)
    quick, full = (set(c[1:] for c in cells([info], profile=p)) for p in ("quick", "full"))
    assert quick < full
    assert ("float64", "second_gradient") in quick
    assert ("float32", "vjp_vjp_vmap") not in quick and ("float32", "vjp_vjp_vmap") in full


def test_named_checks_and_dtypes_run_wherever_they_apply():
    info = OpInfo(functx.sin, one_array)
    named = [c[1:] for c in cells([info], ["float16"], ["vjp_vjp_vmap"])]
    assert named == [("float16", "vjp_vjp_vmap")]


def test_exhaustive_looks_at_all_samples():
    def samples(make):
        yield call(make(2, 3))
        yield call(make(3, 2))

    info = OpInfo(functx.sin, samples)
    drawn = list(info.draw("float32"))
    assert len(CHECKS["vmap"].select(info, drawn)) == 1
    assert len(CHECKS["vmap"].select(info, drawn, "exhaustive")) == 2
